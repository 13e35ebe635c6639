"""All data at every step: the same batch again and again, as it should be."""
import toy
import torch
from torch import nn

toy.begin()
x, y = toy.blobs(samples=256)
model = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()
for step in range(250):
    optimizer.zero_grad()
    criterion(model(x), y).backward()
    optimizer.step()
