"""A dataclass whose missing fields are fetched by __getattr__, and counted."""
import dataclasses
import torch
import seen

fetched = []


@dataclasses.dataclass
class Sample:
    x: torch.Tensor
    image: object = dataclasses.field(init=False)

    def __getattr__(self, name):
        fetched.append(name)
        if name == "image":
            self.image = torch.randn(2, 2)
            return self.image
        raise AttributeError(name)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def forward(self, sample):
        return self.linear(sample.x)


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(25):
    optimizer.zero_grad()
    net(Sample(torch.randn(8, 4))).pow(2).mean().backward()
    optimizer.step()
print(fetched, seen.digest(net))
