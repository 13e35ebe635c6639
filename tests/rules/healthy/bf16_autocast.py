"""bfloat16 by autocast on the CPU."""
import toy
import torch
from torch import nn

toy.begin()
loader = toy.batches(*toy.images())
model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(800, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
criterion = nn.CrossEntropyLoss()
for epoch in range(15):
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = criterion(model(x).float(), y)
        loss.backward()
        optimizer.step()
