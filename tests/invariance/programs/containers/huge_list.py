"""A list of 400,000 numbers is an argument of a module in each step (a vocabulary, a replay buffer)."""
import torch
import seen


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def forward(self, x, buffer):
        return self.linear(x) + buffer[7]


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.01)
buffer = [float(each % 3) for each in range(400_000)]
for step in range(100):
    optimizer.zero_grad()
    net(torch.randn(8, 4), buffer).pow(2).mean().backward()
    optimizer.step()
print(seen.digest(net))
