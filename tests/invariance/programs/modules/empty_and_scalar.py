"""Batches without samples, outputs without elements, zero-dimensional ones, and modules without parameters."""
import torch
import seen

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(4, 3), torch.nn.Identity())
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for size in (4, 0, 1, 0, 2, 3, 0, 0, 5):
    optimizer.zero_grad()
    output = net(torch.randn(size, 2, 2))
    output.sum().backward()
    optimizer.step()


class Scalar(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor(2.0))
        self.empty = torch.nn.Parameter(torch.empty(0, 3))

    def forward(self, x):
        return self.weight * x + self.empty.sum()


scalar = Scalar()
optimizer = torch.optim.Adam(scalar.parameters(), 0.1)
for step in range(12):
    optimizer.zero_grad()
    scalar(torch.tensor(3.0)).backward()
    optimizer.step()
print(seen.digest(net, scalar), scalar.empty.grad.shape)
