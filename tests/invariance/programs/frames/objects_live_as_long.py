"""What a function made dies when it returns: a frame that was looked at keeps nothing alive."""
import gc
import weakref
import torch
import seen

gc.disable()
alive = []


class Big:
    pass


def fold(number):
    big = Big()
    alive.append(weakref.ref(big))
    net = torch.nn.Linear(4, 1)
    other = torch.nn.Linear(4, 1)
    one, two = torch.optim.SGD(net.parameters(), 0.1), torch.optim.SGD(other.parameters(), 0.1)
    for step in range(5):
        one.zero_grad()
        two.zero_grad()
        x = torch.randn(8, 4)
        (net(x) + other(x)).pow(2).mean().backward()
        one.step()
        two.step()
    return seen.digest(net, other)


torch.manual_seed(0)
for number in range(6):
    print(fold(number), [each() is not None for each in alive])
