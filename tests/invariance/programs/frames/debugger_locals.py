"""A debugger's view: a frame's f_locals is kept by a caller who looks at it later."""
import sys
import torch
import seen

views = []


def note():
    views.append(sys._getframe(1).f_locals)


def train(net, rate):
    one, two = torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
    first = torch.optim.SGD([*net.parameters(), *one.parameters()], rate)
    second = torch.optim.SGD(two.parameters(), rate)
    note()
    for step in range(12):
        x = torch.randn(8, 4)
        first.zero_grad()
        second.zero_grad()
        (net(x) + one(x) + two(x)).pow(2).mean().backward()
        first.step()
        second.step()
    return [sorted(each) for each in views]


net = seen.small_net()
print(train(net, 0.1), views[0].get("rate"), seen.digest(net))
