"""parameters(), named_modules(), children() and state_dict() of a module count who walks over it."""
import torch
import seen

walks = []


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def named_parameters(self, *args, **kwargs):
        walks.append("named_parameters")
        return super().named_parameters(*args, **kwargs)

    def named_modules(self, *args, **kwargs):
        walks.append("named_modules")
        return super().named_modules(*args, **kwargs)

    def state_dict(self, *args, **kwargs):
        walks.append("state_dict")
        return super().state_dict(*args, **kwargs)

    def named_buffers(self, *args, **kwargs):
        walks.append("named_buffers")
        return super().named_buffers(*args, **kwargs)

    def extra_repr(self):
        walks.append("extra_repr")
        return ""

    def forward(self, x):
        return self.linear(x)


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(20):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
print(walks, seen.digest(net))
