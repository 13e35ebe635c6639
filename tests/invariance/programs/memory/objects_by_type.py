"""gc.get_objects() by type, for types of the program and of torch, before, during and after the training."""
import collections
import gc
import torch
import seen


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def forward(self, x):
        return self.linear(x)


def counted():
    gc.collect()
    kinds = collections.Counter(type(each).__name__ for each in gc.get_objects() if isinstance(
        each, (torch.nn.Module, torch.optim.Optimizer, torch.Tensor)))
    return sorted(kinds.items())


torch.manual_seed(0)
print(counted())
net = Net()
optimizer = torch.optim.Adam(net.parameters(), 0.01)
for step in range(30):
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(net(torch.randn(8, 4)), torch.ones(8, 1)).backward()
    optimizer.step()
    if step in (3, 29):
        print(counted())
del net, optimizer
print(counted())
