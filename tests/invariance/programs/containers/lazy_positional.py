"""As lazy_mapping, as a positional argument, with a rate of random augmentation (the mapping is the only argument)."""
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
        return torch.randn(8, 4)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, lazy):
        return self.linear(lazy[0])


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for step in range(60):
    optimizer.zero_grad()
    loss = net(Lazy()).pow(2).mean()
    loss.backward()
    optimizer.step()
print(Lazy.loads, seen.digest(net), seen.random_states())
