"""Classes with slots, as attrs makes them, of which one slot is empty."""
import torch
import seen

try:
    import attr
except ImportError:
    attr = None


class Slotted:
    __slots__ = ("x", "empty", "__weakref__")

    def __init__(self, x):
        self.x = x


if attr is not None:

    @attr.s(slots=True, eq=False)
    class Attrs:
        x = attr.ib()

else:
    Attrs = Slotted


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 2)

    def forward(self, one, other):
        return Slotted(self.linear(one.x) - self.linear(other.x))


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for step in range(20):
    optimizer.zero_grad()
    net(Slotted(torch.randn(8, 4)), Attrs(torch.randn(8, 4))).x.pow(2).mean().backward()
    optimizer.step()
print(seen.digest(net))
