"""A list nested 5,000 deep is an argument."""
import torch
import seen


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def forward(self, x, nested):
        return self.linear(x), nested


nested = []
for _ in range(5000):
    nested = [nested]
torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(15):
    optimizer.zero_grad()
    net(torch.randn(8, 4), nested)[0].pow(2).mean().backward()
    optimizer.step()
print(seen.digest(net))
