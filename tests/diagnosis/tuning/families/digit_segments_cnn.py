"""Seven-segment display digits, photographed badly. Small CNN, plain loop."""
import os
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.RandomState(SEED + 17)

SEG = {0: "abcdef", 1: "bc", 2: "abged", 3: "abgcd", 4: "fgbc", 5: "afgcd", 6: "afgedc", 7: "abc", 8: "abcdefg", 9: "abcdfg"}


def draw(d):
    im = np.zeros((20, 20), np.float32)
    y, x = rng.randint(1, 5), rng.randint(1, 9)
    h, w = rng.randint(5, 7), rng.randint(6, 9)
    for s in SEG[d]:
        if rng.rand() < 0.03:
            continue
        v = 0.6 + 0.4 * rng.rand()
        if s == "a": im[y, x:x + w] = v
        if s == "g": im[y + h, x:x + w] = v
        if s == "d": im[y + 2 * h, x:x + w] = v
        if s == "f": im[y:y + h, x] = v
        if s == "b": im[y:y + h, x + w - 1] = v
        if s == "e": im[y + h:y + 2 * h, x] = v
        if s == "c": im[y + h:y + 2 * h, x + w - 1] = v
    return im + 0.26 * rng.randn(20, 20).astype(np.float32)


def build(n):
    y = rng.randint(0, 10, n)
    x = np.stack([draw(d) for d in y])[:, None]
    return torch.tensor(x), torch.tensor(y)


xtr, ytr = build(3000)
xte, yte = build(800)
mean, std = xtr.mean(), xtr.std()
train_loader = DataLoader(TensorDataset((xtr - mean) / std, ytr), batch_size=64, shuffle=True)
test_loader = DataLoader(TensorDataset((xte - mean) / std, yte), batch_size=200)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 12, 3, padding=1)
        self.conv2 = nn.Conv2d(12, 24, 3, padding=1)
        self.fc1 = nn.Linear(24 * 25, 64)
        self.fc2 = nn.Linear(64, 10)
        self.drop = nn.Dropout(0.25)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = self.drop(F.relu(self.fc1(x.flatten(1))))
        return self.fc2(x)


model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(1, 7):
    model.train()
    for i, (x, y) in enumerate(train_loader):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        if i % 20 == 0:
            print(f"Train Epoch: {epoch} [{i * 64}/{len(xtr)}] Loss: {loss.item():.4f}")
    model.eval()
    test_loss, correct = 0.0, 0
    with torch.no_grad():
        for x, y in test_loader:
            out = model(x)
            test_loss += F.cross_entropy(out, y, reduction="sum").item()
            correct += (out.argmax(1) == y).sum().item()
    print(f"Test set: average loss {test_loss / len(xte):.4f}, accuracy {correct}/{len(xte)} ({100 * correct / len(xte):.1f}%)")
