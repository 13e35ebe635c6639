"""A small network learns the sine. This program knows nothing of Trainwarden."""

import torch
from torch import nn

torch.manual_seed(1)
net = nn.Sequential(nn.Linear(1, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
criterion = nn.MSELoss()

for step in range(2000):
    x = torch.rand(256, 1) * 6 - 3
    optimizer.zero_grad()
    loss = criterion(net(x), x.sin())
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.6f}")
