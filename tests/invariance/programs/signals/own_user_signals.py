"""SIGUSR1, SIGUSR2 and SIGHUP are the program's; SIGPIPE is ignored; each is sent by itself."""
import os
import signal
import seen

got = []
for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP, signal.SIGCHLD, signal.SIGQUIT):
    signal.signal(number, lambda number, frame: got.append(number))
net = seen.small_net()


def each(step):
    if step in (3, 13):
        for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP, signal.SIGQUIT):
            os.kill(os.getpid(), number)


seen.train(net, 20, each=each)
print(got, signal.getsignal(signal.SIGPIPE), seen.digest(net))
