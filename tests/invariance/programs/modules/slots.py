"""A module with __slots__, and one whose __setattr__ allows nothing new."""
import torch
import seen


class Strict(torch.nn.Module):
    __slots__ = ("scale",)

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)
        self.scale = 2.0
        self.closed = True

    def __setattr__(self, name, value):
        if "closed" in self.__dict__ and name not in ("training",):
            raise AttributeError("closed: " + name)
        super().__setattr__(name, value)

    def forward(self, x):
        return self.linear(x) * self.scale


torch.manual_seed(0)
net = Strict()
seen.train(net, 20)
net.eval()
print(sorted(vars(net)), net.scale, seen.digest(net))
