"""Standard input is closed before torch is imported: the next file that is opened gets the number 0."""
import os

os.close(0)
import seen

net = seen.small_net()
seen.train(net, 30)
number = os.open("own.txt", os.O_RDWR | os.O_CREAT)
seen.train(net, 300)
print(number, os.fstat(number).st_size, seen.digest(net))
