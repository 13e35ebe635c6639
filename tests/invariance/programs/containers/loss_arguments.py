"""A loss module of the program's own gets a lazy object, and gives a dict back."""
import torch
import seen


class Lazy:
    opened = 0

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        Lazy.opened += 1
        return torch.rand(1)

    def __iter__(self):
        Lazy.opened += 1
        return iter([torch.rand(1)])


class Loss(torch.nn.modules.loss._Loss):
    def forward(self, x, lazy):
        return {"loss": x.pow(2).mean()}


net, criterion = seen.small_net(), Loss()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(20):
    optimizer.zero_grad()
    criterion(net(torch.randn(8, 4)), Lazy())["loss"].backward()
    optimizer.step()
print(Lazy.opened, seen.digest(net), seen.random_states())
