"""An optimizer raises in its step, and the program goes on; its closure raises; StopIteration, KeyboardInterrupt."""
import torch
import seen


class Optimizer(torch.optim.SGD):
    count = 0

    def step(self, closure=None):
        Optimizer.count += 1
        if Optimizer.count % 4 == 0:
            raise (ValueError, StopIteration, KeyboardInterrupt, SystemExit)[Optimizer.count // 4 % 4](Optimizer.count)
        return super().step(closure)


net = seen.small_net()
optimizer = Optimizer(net.parameters(), 0.1)
caught = []
for step in range(40):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    try:
        optimizer.step()
    except BaseException as error:
        caught.append((type(error).__name__, error.args))
print(caught, seen.digest(net))
