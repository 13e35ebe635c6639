"""Standard output is closed before the training; a file that is opened afterwards is the new one."""
import os
import sys
import seen

net = seen.small_net()
os.close(1)
seen.train(net, 20)
number = os.open("out.txt", os.O_RDWR | os.O_CREAT)
if number != 1:
    os.dup2(number, 1)
seen.train(net, 500)
os.write(1, f"{number} {seen.digest(net)}\n".encode())
os.lseek(1, 0, os.SEEK_SET)
sys.stderr.write(os.read(1, 1000).decode())
