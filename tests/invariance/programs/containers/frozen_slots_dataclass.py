"""A frozen dataclass with slots, a field that is never set, and a default factory that counts."""
import dataclasses
import torch
import seen

made = []


@dataclasses.dataclass(frozen=True, slots=True)
class Batch:
    x: torch.Tensor
    more: list = dataclasses.field(default_factory=lambda: made.append(1) or [])
    unset: int = dataclasses.field(init=False)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 2)

    def forward(self, batch):
        return dataclasses.replace(batch, x=self.linear(batch.x)) if False else Batch(self.linear(batch.x))


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for step in range(20):
    optimizer.zero_grad()
    net(Batch(torch.randn(8, 4))).x.pow(2).mean().backward()
    optimizer.step()
print(len(made), hasattr(Batch(torch.ones(1)), "unset"), seen.digest(net))
