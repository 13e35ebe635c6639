"""Attributes of modules and of their classes, before and after a training: names, types and hooks."""
import torch
import seen


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)
        self.norm = torch.nn.BatchNorm1d(4)

    def forward(self, x):
        return self.linear(self.norm(x))


def shown(module):
    hooks = {name: len(value) for name, value in vars(module).items() if "hook" in name and hasattr(value, "__len__")}
    return sorted((name, type(value).__name__) for name, value in vars(module).items()), hooks


torch.manual_seed(0)
net = Net()
before = [shown(each) for each in net.modules()]
seen.train(net, 20)
print(before == [shown(each) for each in net.modules()], before)
print(sorted(vars(Net)), [type(value).__name__ for value in vars(Net).values()], Net.__mro__)
print({name: type(value).__name__ for name, value in vars(torch.nn.Module).items() if callable(value)})
