"""Looks whether torch is there before it imports it, as libraries do that work without it too."""

import importlib.util

found = importlib.util.find_spec("torch") is not None

import torch  # noqa: E402
from torch import nn  # noqa: E402

from outcome import report, sees  # noqa: E402

torch.manual_seed(4)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(torch.randn(3, 4)), torch.randn(3, 1))
    loss.backward()
    optimizer.step()
    sees("weight", model.weight)
print("found", found)
report(model)
