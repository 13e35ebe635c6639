"""Recognise the outline of a postmark on a noisy, coloured scan (6 outlines)."""
import os
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
np.random.seed(SEED)
torch.set_num_threads(1)

SIZE = 20
OUTLINES = ["ring", "double_ring", "square", "triangle", "cross", "oval"]


@dataclass
class Config:
    epochs: int = 8
    batch_size: int = 40
    lr: float = 0.06
    momentum: float = 0.9
    weight_decay: float = 5e-4
    bn_momentum: float = 0.1
    label_smoothing: float = 0.0
    augment: str = "light"
    gamma: float = 0.62


cfg = Config()
if CASE == 1:
    cfg.bn_momentum = 0.001
if CASE == 5:
    cfg.augment, cfg.label_smoothing, cfg.epochs, cfg.gamma = "heavy", 0.1, 9, 0.75


def draw(kind, rng):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32)
    cx, cy = rng.uniform(8, SIZE - 8, 2)
    a = rng.uniform(-0.5, 0.5)
    x = (xx - cx) * np.cos(a) + (yy - cy) * np.sin(a)
    y = -(xx - cx) * np.sin(a) + (yy - cy) * np.cos(a)
    r = rng.uniform(4.5, 7.5)
    if kind == 0:
        d = np.abs(np.hypot(x, y) - r)
    elif kind == 1:
        q = np.hypot(x, y)
        d = np.minimum(np.abs(q - r), np.abs(q - 0.5 * r))
    elif kind == 2:
        d = np.abs(np.maximum(np.abs(x), np.abs(y)) - 0.9 * r)
    elif kind == 3:
        t = np.maximum(np.maximum(0.87 * x - 0.5 * y, -0.87 * x - 0.5 * y), y)
        d = np.abs(t - 0.55 * r)
    elif kind == 4:
        d = np.minimum(np.abs(x) + 9 * (np.abs(y) > r), np.abs(y) + 9 * (np.abs(x) > r))
    else:
        d = np.abs(np.hypot(x, y * rng.uniform(1.5, 2.0)) - r)
    ink = np.exp(-(d / 0.9) ** 2) * (rng.random((SIZE, SIZE)) > 0.15)
    paper = rng.uniform(140, 230, 3)
    colour = rng.uniform(10, 110, 3)
    img = paper * (1 - ink[..., None]) + colour * ink[..., None]
    for _ in range(rng.integers(1, 4)):                       # writing over the stamp
        p, s = rng.uniform(0, SIZE), rng.uniform(-0.6, 0.6)
        line = np.abs(yy - p - s * xx) < 0.7
        img[line] = img[line] * 0.45
    return np.clip(img + rng.normal(0, 26, img.shape), 0, 255).astype(np.uint8)


def make_scans(n, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, len(OUTLINES), n)
    return np.stack([draw(k, rng) for k in labels]), labels.astype(np.int64)


class Scans(Dataset):
    def __init__(self, images, labels, mean, std, train):
        self.images, self.labels = images, labels
        self.mean, self.std, self.train = mean, std, train

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        img = torch.from_numpy(self.images[i])
        img = img.reshape(3, SIZE, SIZE) if CASE == 6 else img.permute(2, 0, 1)
        img = img.float() / 255.0
        if self.mean is not None:
            img = (img - self.mean) / self.std
        if self.train:
            if torch.rand(1) < 0.5:
                img = img.flip(2)
            if cfg.augment == "heavy":
                dx, dy = torch.randint(-2, 3, (2,)).tolist()
                img = torch.roll(img, (dy, dx), (1, 2))
                img = img * (1 + 0.2 * torch.randn(3, 1, 1)) + 0.2 * torch.randn(3, 1, 1)
                px, py = torch.randint(0, SIZE - 4, (2,)).tolist()
                img[:, py:py + 4, px:px + 4] = 0
        return img, int(self.labels[i])


def norm(c):
    return nn.BatchNorm2d(c, momentum=cfg.bn_momentum)


class Block(nn.Module):
    def __init__(self, c_in, c_out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(c_in, c_out, 3, stride, 1, bias=False)
        self.bn1 = norm(c_out)
        self.conv2 = nn.Conv2d(c_out, c_out, 3, 1, 1, bias=False)
        self.bn2 = norm(c_out)
        self.short = nn.Identity()
        if stride != 1 or c_in != c_out:
            self.short = nn.Sequential(nn.Conv2d(c_in, c_out, 1, stride, bias=False), norm(c_out))

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(h)) + self.short(x))


class PostmarkNet(nn.Module):
    def __init__(self, widths=(8, 16, 24)):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, widths[0], 3, 1, 1, bias=False), norm(widths[0]), nn.ReLU())
        stages, c = [], widths[0]
        for k, w in enumerate(widths):
            stages.append(Block(c, w, 1 if k == 0 else 2))
            c = w
        self.stages = stages if CASE == 4 else nn.ModuleList(stages)
        self.fc = nn.Linear(c, len(OUTLINES))

    def forward(self, x):
        x = self.stem(x)
        for s in self.stages:
            x = s(x)
        return self.fc(x.mean((2, 3)))


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    loss, hits, n = 0.0, 0, 0
    for x, y in loader:
        out = model(x)
        loss += F.cross_entropy(out, y, reduction="sum").item()
        hits += (out.argmax(1) == y).sum().item()
        n += len(y)
    return loss / n, hits / n


x_tr, y_tr = make_scans(1000, 100 + SEED)
x_va, y_va = make_scans(400, 900 + SEED)
mean = torch.tensor(x_tr.mean((0, 1, 2)) / 255.0, dtype=torch.float32).view(3, 1, 1)
std = torch.tensor(x_tr.std((0, 1, 2)) / 255.0, dtype=torch.float32).view(3, 1, 1)
train_set = Scans(x_tr, y_tr, mean, std, True)
if CASE == 2:
    val_set = Scans(x_va, y_va, None, None, False)
else:
    val_set = Scans(x_va, y_va, mean, std, False)
train_loader = DataLoader(train_set, cfg.batch_size, shuffle=True)
val_loader = DataLoader(val_set, 200)

model = PostmarkNet()
optimizer = torch.optim.SGD(model.parameters(), lr=cfg.lr, momentum=cfg.momentum, weight_decay=cfg.weight_decay, nesterov=True)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, cfg.gamma)
criterion = nn.CrossEntropyLoss(label_smoothing=cfg.label_smoothing)

step = 0
for epoch in range(cfg.epochs):
    model.train()
    running, seen = 0.0, 0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        if CASE == 3:
            scheduler.step()
        running += loss.item() * len(y)
        seen += len(y)
        step += 1
        if step % 15 == 0:
            print(f"  step {step:4d}  loss {loss.item():.4f}")
    if CASE != 3:
        scheduler.step()
    vl, va = evaluate(model, val_loader)
    print(f"epoch {epoch + 1}: train {running / seen:.4f}  val loss {vl:.4f}  val acc {va:.3f}")
