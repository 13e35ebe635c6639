"""Metric learning: the same model sees three batches before each step."""
import toy
import torch
from torch import nn

toy.begin()
points, labels = toy.blobs()
by_class = [points[labels == label] for label in range(4)]
model = nn.Sequential(nn.Linear(20, 48), nn.ELU(), nn.Linear(48, 8))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
criterion = nn.TripletMarginLoss()
for step in range(200):
    near, far = torch.randperm(4)[:2].tolist()
    anchor, positive, negative = (by_class[c][torch.randint(0, len(by_class[c]), (32,))] for c in (near, near, far))
    optimizer.zero_grad()
    criterion(model(anchor), model(positive), model(negative)).backward()
    optimizer.step()
