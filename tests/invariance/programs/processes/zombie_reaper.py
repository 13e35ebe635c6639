"""A handler of SIGCHLD that reaps whatever child has ended; the program counts its own children."""
import os
import signal
import time
import seen

reaped = []


def reap(number, frame):
    while True:
        try:
            child, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if child == 0:
            return
        reaped.append(os.waitstatus_to_exitcode(status))


signal.signal(signal.SIGCHLD, reap)
net = seen.small_net()


def each(step):
    if step % 10 == 4 and os.fork() == 0:
        os._exit(step)


seen.train(net, 40, each=each)
while len(reaped) < 4:
    time.sleep(0.01)
print(sorted(reaped), seen.digest(net))
