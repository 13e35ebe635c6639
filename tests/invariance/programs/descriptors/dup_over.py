"""dup2() puts a file of the program's at the numbers 3 to 30, as shells do; each then holds its bytes alone."""
import os
import seen

net = seen.small_net()
seen.train(net, 20)
own = os.open("own.bin", os.O_RDWR | os.O_CREAT)
for number in range(3, 31):
    if number != own:
        os.dup2(own, number)
seen.train(net, 1000)
os.write(own, b"mine")
print(os.lseek(own, 0, os.SEEK_SET), os.read(own, 100), os.fstat(own).st_size, seen.digest(net))
