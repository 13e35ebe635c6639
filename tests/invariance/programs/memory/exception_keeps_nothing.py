"""An exception in forward() that was caught and dropped keeps neither frames nor tensors alive."""
import gc
import weakref
import torch
import seen

gc.disable()
alive = []


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def forward(self, x, fails):
        hidden = self.linear(x)
        alive.append(weakref.ref(hidden))
        if fails:
            raise ValueError("bad")
        return hidden


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(20):
    optimizer.zero_grad()
    try:
        net(torch.randn(8, 4), step % 3 == 2).pow(2).mean().backward()
        optimizer.step()
    except ValueError:
        pass
print(sum(each() is not None for each in alive), seen.digest(net))
