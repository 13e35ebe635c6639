"""A field of a dataclass is a property that loads lazily and counts."""
import dataclasses
import torch
import seen


@dataclasses.dataclass
class Batch:
    x: torch.Tensor
    loads = 0

    @property
    def lazy(self):
        Batch.loads += 1
        return torch.rand(4)


Batch.__dataclass_fields__["lazy"] = Batch.__dataclass_fields__["x"]


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def forward(self, batch):
        return self.linear(batch.x)


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(25):
    optimizer.zero_grad()
    net(Batch(torch.randn(8, 4))).pow(2).mean().backward()
    optimizer.step()
print(Batch.loads, seen.digest(net), seen.random_states())
