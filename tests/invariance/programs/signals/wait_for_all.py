"""sigwait, sigtimedwait and pending: no signal comes that the program has not sent."""
import os
import signal
import seen

numbers = {number for number in signal.valid_signals() if number not in (9, 19)}
signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
net = seen.small_net()
seen.train(net, 50)
print(signal.sigpending(), signal.sigtimedwait(numbers, 0))
os.kill(os.getpid(), signal.SIGUSR1)
print(signal.sigwait(numbers), seen.digest(net))
