"""Regression with outliers: Huber loss, RMSprop."""
import toy
import torch
from torch import nn

toy.begin()
x = torch.randn(512, 6)
y = x @ torch.randn(6, 1) + 0.1 * torch.randn(512, 1)
y[::50] += 8
loader = toy.batches(x, y)
model = nn.Sequential(nn.Linear(6, 24), nn.SiLU(), nn.Linear(24, 1))
optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)
criterion = nn.SmoothL1Loss()
for epoch in range(20):
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
