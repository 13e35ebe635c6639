"""A model nested 300 deep fits the limit of 1,000 frames (wandb#349)."""
import torch
import seen


class Wrap(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x) + 1


torch.manual_seed(0)
net = torch.nn.Linear(4, 4)
for _ in range(300 if torch.__version__ < "2" else 230):
    net = Wrap(net)
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for step in range(6):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
print(seen.digest(net))
