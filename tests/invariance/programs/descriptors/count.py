"""How many descriptors the process has, and which."""
import os
import seen

found = set()


def look(step=0):
    found.add(tuple(sorted(int(name) for name in os.listdir("/proc/self/fd"))))


look()
net = seen.small_net()
seen.train(net, 30, each=look)
print(sorted(found), seen.digest(net))
