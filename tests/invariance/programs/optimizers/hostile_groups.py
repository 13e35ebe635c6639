"""Parameter groups with a rate that is an object which counts, and settings whose == raises."""
import torch
import seen


class Rate(float):
    read = 0

    def __float__(self):
        Rate.read += 1
        return super().__float__()

    def __neg__(self):
        return -super().__float__()


class Setting:
    def __eq__(self, other):
        raise RuntimeError("==")

    def __bool__(self):
        raise RuntimeError("truth")

    def __deepcopy__(self, memo):
        raise RuntimeError("copied")

    __hash__ = None


net = seen.small_net()
optimizer = torch.optim.SGD([{"params": list(net.parameters()), "lr": Rate(0.1), "odd": Setting()}], 0.1)
for step in range(20):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    with torch.no_grad():
        for each in net.parameters():
            each.sub_(each.grad * 0.1)
    optimizer.param_groups[0]["lr"] = Rate(0.1)
print(Rate.read, type(optimizer.param_groups[0]["lr"]).__name__, seen.digest(net))
