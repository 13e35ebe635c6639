"""A list of 20,000 small tensors is an argument of a module, and a part of its output."""
import torch
import seen


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def forward(self, x, memory):
        return {"y": self.linear(x + memory[0]), "memory": memory}


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.01)
memory = [torch.zeros(4) for _ in range(20_000)]
for step in range(60):
    optimizer.zero_grad()
    net(torch.randn(8, 4), memory)["y"].pow(2).mean().backward()
    optimizer.step()
print(seen.digest(net))
