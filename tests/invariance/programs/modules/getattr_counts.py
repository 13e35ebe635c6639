"""A module whose __getattr__ counts and makes parts lazily, with properties that draw random numbers."""
import torch
import seen

asked = []


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    @property
    def noise(self):
        asked.append("noise")
        return torch.rand(1)

    @property
    def config(self):
        asked.append("config")
        raise RuntimeError("there is no config yet")

    def __getattr__(self, name):
        if name not in ("linear", "_backward_hooks", "_forward_hooks", "_forward_pre_hooks"):
            asked.append(name)
        return super().__getattr__(name)

    def forward(self, x):
        return self.linear(x)


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
asked.clear()
for step in range(20):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
print(asked, seen.digest(net), seen.random_states())
