"""An optimizer inside another one that only passes on, as accelerate and Lightning have it."""

import torch
from torch import nn

from outcome import report, sees


class Wrapper(torch.optim.Optimizer):
    """Has what the optimizer has, and is none itself: torch never sees it made."""

    def __init__(self, optimizer):
        self.optimizer = optimizer

    @property
    def param_groups(self):
        return self.optimizer.param_groups

    def zero_grad(self, set_to_none=True):
        self.optimizer.zero_grad(set_to_none)

    def step(self, closure=None):
        return self.optimizer.step(closure)


torch.manual_seed(4)
model = nn.Linear(4, 1)
optimizer = Wrapper(torch.optim.SGD(model.parameters(), lr=0.1))
for step in range(8):
    loss = model(torch.randn(2, 4)).pow(2).mean()
    loss.backward()
    sees("gradient/weight", model.weight.grad)
    optimizer.step()
    optimizer.zero_grad()
    sees("loss_output_0", loss)
    sees("weight", model.weight)
report(model)
