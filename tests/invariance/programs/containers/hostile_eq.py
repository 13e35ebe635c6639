"""Arguments whose ==, truth and hash raise."""
import torch
import seen


class Hostile:
    def __eq__(self, other):
        raise RuntimeError("== was asked")

    def __bool__(self):
        raise RuntimeError("truth was asked")

    def __hash__(self):
        raise RuntimeError("hash was asked")

    def __len__(self):
        raise RuntimeError("len was asked")

    def __iter__(self):
        raise RuntimeError("iter was asked")

    def __repr__(self):
        raise RuntimeError("repr was asked")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def forward(self, x, *rest, **named):
        return [self.linear(x), *rest]


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(25):
    optimizer.zero_grad()
    net(torch.randn(8, 4), Hostile(), {"a": Hostile()}, flag=Hostile())[0].pow(2).mean().backward()
    optimizer.step()
print(seen.digest(net))
