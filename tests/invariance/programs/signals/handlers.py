"""The handlers of all signals, before the import of torch, after it and after a training."""
import signal

before = {number.name: signal.getsignal(number) for number in signal.Signals}
import torch
import seen

between = {number.name: signal.getsignal(number) for number in signal.Signals}
net = seen.small_net()
seen.train(net, 20)
after = {number.name: signal.getsignal(number) for number in signal.Signals}
print(before == between == after, {name: str(value)[:40] for name, value in after.items()})
print(signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.set_wakeup_fd(-1), seen.digest(net))
