"""A numpy array of objects, and a memory-mapped one, are arguments."""
import numpy
import torch
import seen


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 2)

    def forward(self, x, objects, mapped):
        return self.linear(x) * float(mapped[0]), objects


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.01)
objects = numpy.empty(3, dtype=object)
objects[:] = [torch.ones(2), {"a": 1}, None]
mapped = numpy.memmap("mapped", dtype=numpy.float32, mode="w+", shape=(1 << 20,))
mapped[:] = 1.0
for step in range(20):
    optimizer.zero_grad()
    net(torch.randn(8, 4), objects, mapped)[0].pow(2).mean().backward()
    optimizer.step()
print(objects.shape, float(mapped.sum()), seen.digest(net))
