"""warnings.warn(stacklevel=2) in forward() names the line that called the module; stacklevel=3 its caller."""
import warnings
import torch
import seen


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def forward(self, x):
        warnings.warn("deprecated", stacklevel=2)
        warnings.warn("old", stacklevel=3)
        return self.linear(x)


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
places = set()
for step in range(30):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        optimizer.zero_grad()
        net(torch.randn(8, 4)).pow(2).mean().backward()
        optimizer.step()
    places |= {(str(each.message), each.filename.split("/")[-1], each.lineno) for each in caught}
print(sorted(places), seen.digest(net))
