"""A module's argument is a Mapping that draws random numbers when somebody looks at a value (clearml#790)."""
import collections.abc
import torch
import seen


class Lazy(collections.abc.Mapping):
    loads = 0

    def __len__(self):
        return 50

    def __iter__(self):
        return iter(range(50))

    def __getitem__(self, key):
        Lazy.loads += 1
        return torch.randn(4)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x, *, lazy):
        return self.linear(x + lazy[0])


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for step in range(60):
    optimizer.zero_grad()
    loss = net(torch.randn(8, 4), lazy=Lazy()).pow(2).mean()
    loss.backward()
    optimizer.step()
print(Lazy.loads, seen.digest(net), seen.random_states())
