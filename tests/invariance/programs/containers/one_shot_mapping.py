"""A mapping that may be read once, and raises when it is read again."""
import collections.abc
import torch
import seen


class Once(collections.abc.Mapping):
    def __init__(self, values):
        self._values = dict(values)

    def __getitem__(self, key):
        return self._values.pop(key)

    def __iter__(self):
        return iter(list(self._values))

    def __len__(self):
        return len(self._values)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 2)

    def forward(self, batch):
        return Once({"y": self.linear(batch["x"])})


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for step in range(20):
    optimizer.zero_grad()
    net(Once({"x": torch.randn(8, 4)}))["y"].pow(2).mean().backward()
    optimizer.step()
print(seen.digest(net))
