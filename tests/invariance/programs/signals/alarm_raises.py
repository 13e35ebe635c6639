"""An alarm's handler raises an exception in the middle of the training (a limit of time); the program goes on."""
import signal
import seen


class TimeIsUp(Exception):
    pass


def ring(number, frame):
    raise TimeIsUp


signal.signal(signal.SIGALRM, ring)
net = seen.small_net()
caught = 0
for _ in range(8):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        seen.train(net, 100000)
    except TimeIsUp:
        caught += 1
signal.setitimer(signal.ITIMER_REAL, 0)
net = seen.small_net()
seen.train(net, 20)
print(caught, seen.digest(net))
