"""LBFGS, which calls its closure many times a step."""
import toy
import torch
from torch import nn

toy.begin()
x, y = toy.blobs(samples=128)
model = nn.Sequential(nn.Linear(20, 16), nn.Tanh(), nn.Linear(16, 4))
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=5)
criterion = nn.CrossEntropyLoss()


def closure():
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    return loss


for step in range(30):
    optimizer.step(closure)
