"""A program that becomes a daemon the classic way (two forks, setsid, closed descriptors) and trains there."""
import os
import time
import seen

net = seen.small_net()
seen.train(net, 5)
if os.fork() == 0:
    os.setsid()
    if os.fork() > 0:
        os._exit(0)
    os.closerange(0, 64)
    os.open("/dev/null", os.O_RDWR)
    os.dup2(0, 1)
    os.dup2(0, 2)
    seen.train(net, 20)
    with open("result.txt", "w") as file:
        file.write(seen.digest(net))
    os.rename("result.txt", "done.txt")
    os._exit(0)
os.wait()
for _ in range(200):
    if os.path.exists("done.txt"):
        break
    time.sleep(0.05)
print(open("done.txt").read(), seen.digest(net))
