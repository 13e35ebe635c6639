"""An optimizer that is no torch.optim.Optimizer, one that is and has no super().step(), and plain updates."""
import torch
import seen


class Plain:
    def __init__(self, parameters):
        self.parameters = list(parameters)

    def zero_grad(self):
        for each in self.parameters:
            each.grad = None

    @torch.no_grad()
    def step(self):
        for each in self.parameters:
            each -= 0.05 * each.grad


class Derived(torch.optim.Optimizer):
    def __init__(self, parameters):
        super().__init__(parameters, dict(lr=0.05))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for each in group["params"]:
                each.add_(each.grad, alpha=-group["lr"])
        return "done"


net = seen.small_net()
for optimizer in (Plain(net.parameters()), Derived(net.parameters())):
    seen.train(net, 20, optimizer)
    print(optimizer.step(), seen.digest(net))
