"""Standard error is closed, and a data file of the program's gets its number."""
import os
import seen

os.close(2)
number = os.open("data.bin", os.O_RDWR | os.O_CREAT)
net = seen.small_net()
seen.train(net, 100)
os.write(number, b"mine")
os.lseek(number, 0, os.SEEK_SET)
print(number, os.read(number, 1000), seen.digest(net))
