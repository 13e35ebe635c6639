"""Four micro-batches for each step of the optimizer."""
import toy
import torch
from torch import nn

toy.begin()
loader = toy.batches(*toy.blobs(), size=8)
model = nn.Sequential(nn.Linear(20, 48), nn.GELU(), nn.Linear(48, 4))
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()
optimizer.zero_grad()
for epoch in range(8):
    for number, (x, y) in enumerate(loader):
        (criterion(model(x), y) / 4).backward()
        if number % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()
