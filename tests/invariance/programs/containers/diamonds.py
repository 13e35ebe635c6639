"""Lists that share their items: 12 to the power of 7 ways lead to one tensor."""
import torch
import seen


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def forward(self, x, nested):
        return self.linear(x)


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.01)
nested = [torch.zeros(2)]
for _ in range(7):
    nested = [nested] * 12
for step in range(5):
    optimizer.zero_grad()
    net(torch.randn(8, 4), nested).pow(2).mean().backward()
    optimizer.step()
print(seen.digest(net))
