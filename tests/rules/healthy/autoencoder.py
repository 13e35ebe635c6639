"""An autoencoder of images with a narrow middle."""
import toy
import torch
from torch import nn

toy.begin()
pictures, labels = toy.images()
loader = toy.batches(pictures, labels)
model = nn.Sequential(
    nn.Flatten(), nn.Linear(144, 32), nn.ReLU(), nn.Linear(32, 8), nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 144)
)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
criterion = nn.MSELoss()
for epoch in range(25):
    for x, _ in loader:
        optimizer.zero_grad()
        criterion(model(x), x.flatten(1)).backward()
        optimizer.step()
