"""Classify drawn shapes (disc, square, triangle, cross, ring) in 20x20 colour images."""
import os
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

CASE = int(os.environ.get("CASE", 1))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)
torch.set_num_threads(1)

SIZE = 20
CLASSES = ["disc", "square", "triangle", "cross", "ring"]


def draw(kind, rng):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    cx, cy = rng.uniform(7, 13, 2)
    r = rng.uniform(4.0, 6.0)
    dx, dy = xx - cx, yy - cy
    dist = np.sqrt(dx ** 2 + dy ** 2)
    if kind == 0:
        m = dist < r
    elif kind == 1:
        m = (abs(dx) < r * 0.9) & (abs(dy) < r * 0.9)
    elif kind == 2:
        m = (dy < r * 0.8) & (dy > -r + 2 * abs(dx) * 0.9)
    elif kind == 3:
        m = ((abs(dx) < 1.3) | (abs(dy) < 1.3)) & (abs(dx) < r) & (abs(dy) < r)
    else:
        m = (dist < r) & (dist > r - 2)
    colour = rng.uniform(0.3, 1.0, 3)
    img = m[:, :, None] * colour + rng.normal(0, 0.15, (SIZE, SIZE, 3))
    return img.astype(np.float32)


def make_split(n, seed, probs=None):
    rng = np.random.default_rng(seed)
    labels = rng.choice(5, n, p=probs)
    images = np.stack([draw(k, rng) for k in labels])
    return images, labels


class Block(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, 3, padding=1)
        self.act = nn.ReLU()
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        return self.pool(self.act(self.conv(x)))


class ShapeNet(nn.Module):
    def __init__(self, drop=0.0):
        super().__init__()
        blocks = [Block(3, 12), Block(12, 24)]
        self.blocks = blocks if CASE == 7 else nn.ModuleList(blocks)
        self.drop = nn.Dropout(drop)
        self.fc1 = nn.Linear(24 * 25, 48)
        self.fc2 = nn.Linear(48, 5)

    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        x = self.drop(x.flatten(1))
        x = torch.relu(self.fc1(x))
        x = self.fc2(self.drop(x))
        if CASE == 2:
            x = torch.softmax(x, dim=1)
        return x


class Trainer:
    def __init__(self, model, train_loader, test_loader, optimizer, criterion, scheduler=None):
        self.model = model
        self.train_loader = train_loader
        self.test_loader = test_loader
        self.optimizer = optimizer
        self.criterion = criterion
        self.scheduler = scheduler
        self.steps = 0

    def train_step(self, x, y):
        self.optimizer.zero_grad()
        loss = self.criterion(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        self.steps += 1
        return loss.item()

    def train_epoch(self):
        self.model.train()
        losses = []
        if CASE == 10:
            for _ in range(len(self.train_loader)):
                x, y = next(iter(self.train_loader))
                losses.append(self.train_step(x, y))
        else:
            for x, y in self.train_loader:
                losses.append(self.train_step(x, y))
        if self.scheduler:
            self.scheduler.step()
        return sum(losses) / len(losses)

    @torch.no_grad()
    def evaluate(self, loader):
        self.model.eval()
        hit = torch.zeros(5)
        tot = torch.zeros(5)
        for x, y in loader:
            pred = self.model(x).argmax(1)
            for c in range(5):
                hit[c] += ((pred == y) & (y == c)).sum()
                tot[c] += (y == c).sum()
        return (hit.sum() / tot.sum()).item(), (hit / tot.clamp(min=1)).mean().item()

    def fit(self, epochs):
        for e in range(epochs):
            loss = self.train_epoch()
            acc, bal = self.evaluate(self.test_loader)
            print(f"[{e + 1:02d}/{epochs}] loss={loss:.4f} test_acc={acc:.3f} balanced={bal:.3f} steps={self.steps}")


def main():
    probs = [0.6, 0.2, 0.1, 0.06, 0.04] if CASE == 6 else None
    xtr, ytr = make_split(1600, SEED + 1, probs)
    xte, yte = make_split(500, SEED + 2)

    if CASE == 0:
        order = np.argsort(ytr, kind="stable")
        xtr, ytr = xtr[order], ytr[order]

    if CASE == 3:
        # the archive keeps the sample axis last
        xtr = np.ascontiguousarray(xtr.transpose(1, 2, 3, 0)).reshape(-1, 3, SIZE, SIZE)
    else:
        xtr = xtr.transpose(0, 3, 1, 2)
    xte = xte.transpose(0, 3, 1, 2)

    xtr, xte = torch.tensor(xtr.copy()), torch.tensor(xte.copy())
    ytr, yte = torch.tensor(ytr), torch.tensor(yte)

    epochs, bs = 7, 32
    shuffle = CASE not in (0, 10)
    sampler = None
    if CASE == 6:
        w = 1.0 / torch.bincount(ytr).float()
        sampler = WeightedRandomSampler(w[ytr], len(ytr))
        shuffle = False
    if CASE == 8:
        # can the network memorise one batch at all?
        xtr, ytr, bs, epochs = xtr[:32], ytr[:32], 32, 120
        xte, yte = xtr, ytr
    train_loader = DataLoader(TensorDataset(xtr, ytr), batch_size=bs, shuffle=shuffle, sampler=sampler)
    test_loader = DataLoader(TensorDataset(xte, yte), batch_size=100)

    model = ShapeNet(drop=0.5 if CASE == 4 else 0.0)
    if CASE == 5:
        for m in model.modules():
            if isinstance(m, (nn.Conv2d, nn.Linear)):
                nn.init.constant_(m.weight, 0.02)
                nn.init.zeros_(m.bias)
    if CASE == 9:
        optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
    else:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 4, 0.3) if epochs < 50 else None
    Trainer(model, train_loader, test_loader, optimizer, nn.CrossEntropyLoss(), scheduler).fit(epochs)


if __name__ == "__main__":
    main()
