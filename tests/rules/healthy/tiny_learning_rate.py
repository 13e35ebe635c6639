"""A learning rate of 1e-5 that still learns, slowly."""
import toy
import torch
from torch import nn

toy.begin()
loader = toy.batches(*toy.blobs())
model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-5)
criterion = nn.CrossEntropyLoss()
for epoch in range(20):
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
