"""A FLOP counter as fvcore's: a TorchDispatchMode around train steps counts operators."""
import collections
import torch
from torch.utils._python_dispatch import TorchDispatchMode
import seen


class Count(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.counted = collections.Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.counted[str(func)] += 1
        return func(*args, **(kwargs or {}))


torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
optimizer = torch.optim.SGD(net.parameters(), 0.01)
with Count() as count:
    for step in range(10):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(torch.randn(8, 4)), torch.randint(2, (8,))).backward()
        optimizer.step()
print(sorted(count.counted.items()), seen.digest(net))
