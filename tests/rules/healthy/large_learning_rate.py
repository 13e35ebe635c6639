"""A learning rate of 1 on a well-conditioned problem: fast, and it learns."""
import toy
import torch
from torch import nn

toy.begin()
loader = toy.batches(*toy.blobs(noise=0.5), size=64)
model = nn.Sequential(nn.Linear(20, 32), nn.LayerNorm(32), nn.Tanh(), nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
criterion = nn.CrossEntropyLoss()
for epoch in range(25):
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
