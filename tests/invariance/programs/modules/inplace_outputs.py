"""Outputs are changed in place after the call, inputs inside of it, and buffers by both."""
import torch
import seen


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.register_buffer("seen", torch.zeros(4))

    def forward(self, x):
        x.mul_(0.5)
        self.seen.add_(x.mean(0))
        return self.linear(x).add_(1)


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
versions = set()
for step in range(20):
    optimizer.zero_grad()
    x = torch.randn(8, 4)
    output = net(x)
    output.mul_(2).add_(1)
    loss = output.pow(2).mean()
    versions.add((x._version, output._version))
    loss.backward()
    optimizer.step()
print(versions, seen.digest(net))
