"""Residual blocks with batch norm, weight decay and a step schedule; train and eval alternate."""
import toy
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU()

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        return self.relu(x + self.bn2(self.conv2(out)))


toy.begin()
inputs, labels = toy.images()
train, held_out = toy.batches(inputs[:192], labels[:192]), toy.batches(inputs[192:], labels[192:], shuffle=False)
model = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), Block(8), Block(8),
    nn.AdaptiveAvgPool2d(3), nn.Flatten(), nn.Linear(72, 4),
)  # fmt: skip
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 6, 0.3)
criterion = nn.CrossEntropyLoss()
for epoch in range(18):
    model.train()
    for x, y in train:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
    schedule.step()
    model.eval()
    with torch.no_grad():
        for x, y in held_out:
            criterion(model(x), y)
