"""UserDict, ChainMap and a mapping proxy go through a module."""
import collections
import types
import torch
import seen


class Watched(collections.UserDict):
    reads = 0

    def __getitem__(self, key):
        Watched.reads += 1
        return super().__getitem__(key)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 2)

    def forward(self, user, chain, proxy):
        return Watched(y=self.linear(user.data["x"]) + chain["b"] + proxy["c"])


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for step in range(30):
    optimizer.zero_grad()
    inner = Watched(b=torch.ones(2))
    proxy = types.MappingProxyType({"c": torch.ones(2)})
    output = net(Watched(x=torch.randn(8, 4)), collections.ChainMap({}, inner), proxy)
    output.data["y"].pow(2).mean().backward()
    optimizer.step()
print(Watched.reads, seen.digest(net))
