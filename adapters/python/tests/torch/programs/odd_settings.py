"""Settings that are no plain numbers: a pair of epsilons and no learning rate, as Adafactor has them, and a norm of the
gradients that is taken by clipping them to infinity."""

import torch
from torch import nn

from outcome import report, sees


class Pair(torch.optim.Optimizer):
    def __init__(self, parameters):
        super().__init__(parameters, {"lr": None, "eps": (1e-30, 1e-3)})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter -= group["eps"][1] * parameter.grad


torch.manual_seed(4)
model = nn.Linear(4, 1)
optimizer = Pair(model.parameters())
for step in range(4):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(torch.randn(3, 4)), torch.randn(3, 1))
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), float("inf"))
    optimizer.step()
    sees("trainwarden/clip/norm", norm)
    sees("mse_loss_output_0", loss)
report(model)
