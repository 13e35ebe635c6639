"""Attributes of optimizers and of their classes, torch's and the program's own."""
import torch
import seen


class Optimizer(torch.optim.Optimizer):
    def __init__(self, parameters):
        super().__init__(parameters, {"lr": 0.1})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter.sub_(group["lr"] * parameter.grad)


net = seen.small_net()
for optimizer in (Optimizer(net.parameters()), torch.optim.Adam(net.parameters(), 0.01)):
    seen.train(net, 15, optimizer)
    print(sorted((name, type(value).__name__) for name, value in vars(optimizer).items()))
    print(sorted(optimizer.param_groups[0]), sorted(optimizer.state_dict()), optimizer)
    step = optimizer.step
    print(type(vars(type(optimizer))["step"]).__name__, type(step).__name__, step.__func__.__qualname__)
print({name: type(value).__name__ for name, value in sorted(vars(Optimizer).items())})
print({name: type(value).__name__ for name, value in sorted(vars(torch.optim.Optimizer).items()) if callable(value)})
