"""An optimizer that is one itself and lets another one step, as ZeroRedundancyOptimizer does."""

import torch
from torch import nn

from outcome import report, sees


class Outer(torch.optim.Optimizer):
    def __init__(self, parameters):
        parameters = list(parameters)
        super().__init__(parameters, {})
        self.inner = torch.optim.SGD(parameters, lr=0.1)

    def step(self, closure=None):
        return self.inner.step(closure)


torch.manual_seed(5)
model = nn.Linear(4, 1)
optimizer = Outer(model.parameters())
for step in range(6):
    loss = model(torch.randn(2, 4)).pow(2).mean()
    loss.backward()
    sees("gradient/weight", model.weight.grad)
    optimizer.step()
    optimizer.zero_grad()
    sees("loss_output_0", loss)
    sees("weight", model.weight)
    print(f"step {step} loss {loss.item():.17g}")
report(model)
