"""An MLP with momentum, evaluated after each epoch."""
import toy
import torch
from torch import nn

toy.begin()
inputs, labels = toy.blobs()
train, held_out = toy.batches(inputs[:384], labels[:384]), toy.batches(inputs[384:], labels[384:], shuffle=False)
model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
criterion = nn.CrossEntropyLoss()
for epoch in range(15):
    model.train()
    for x, y in train:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        for x, y in held_out:
            criterion(model(x), y)
