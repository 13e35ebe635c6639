"""Weights are a subclass of Parameter with __torch_function__ and an expensive, random __repr__ and __iter__."""
import collections
import torch
import seen


class Weight(torch.nn.Parameter):
    counted = collections.Counter()

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        Weight.counted[getattr(func, "__name__", str(func))] += 1
        with torch._C.DisableTorchFunction():
            return func(*args, **(kwargs or {}))


torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
net.weight = Weight(net.weight.detach())
optimizer = torch.optim.SGD(net.parameters(), 0.1)
Weight.counted.clear()
for step in range(12):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
print(sorted(Weight.counted.items()), type(net.weight).__name__, seen.digest_of(net.weight.detach()))
