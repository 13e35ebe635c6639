"""An optimizer that compares by value, and so has no hash."""
import torch
import seen


class Optimizer(torch.optim.SGD):
    def __eq__(self, other):
        return isinstance(other, Optimizer) and self.defaults == other.defaults


net = seen.small_net()
optimizer = Optimizer(net.parameters(), 0.1)
try:
    hash(optimizer)
except TypeError as error:
    print(error)
for step in range(20):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
print(optimizer == optimizer, seen.digest(net))
