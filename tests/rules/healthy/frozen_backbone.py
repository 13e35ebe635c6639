"""Transfer: a backbone that was trained before is frozen, in evaluation mode; only the head learns."""
import toy
import torch
from torch import nn

toy.begin()
backbone = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten())
head = nn.Sequential(nn.Dropout(0.2), nn.Linear(8 * 36, 4))
model = nn.Sequential(backbone, head)
for parameter in backbone.parameters():
    parameter.requires_grad = False
loader = toy.batches(*toy.images())
optimizer = torch.optim.Adam(head.parameters(), lr=2e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(25):
    model.train()
    backbone.eval()
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
