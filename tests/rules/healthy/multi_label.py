"""Several labels at once, most of them rare: BCEWithLogitsLoss."""
import toy
import torch
from torch import nn

toy.begin()
x = torch.randn(512, 16)
y = (x @ torch.randn(16, 6) > 2.5).float()
loader = toy.batches(x, y)
model = nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Linear(48, 6))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.BCEWithLogitsLoss()
for epoch in range(18):
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
