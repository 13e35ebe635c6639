"""A program that waits for any child of its own finds none."""
import os
import seen

net = seen.small_net()
found = []


def look(step):
    try:
        found.append(os.waitpid(-1, os.WNOHANG))
    except ChildProcessError:
        found.append("none")
    with open(f"/proc/self/task/{os.getpid()}/children") as children:
        found.append(children.read())


seen.train(net, 30, each=look)
print(set(found), seen.digest(net))
