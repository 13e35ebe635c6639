import copy
import math
import os
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))


@dataclass
class Config:
    classes: int = 6
    size: int = 16
    n_train: int = 576
    n_val: int = 360
    width: int = 12
    batch_size: int = 32
    epochs: int = 12
    lr: float = 0.1
    momentum: float = 0.9
    weight_decay: float = 5e-4
    ema_decay: float = 0.97
    shift: int = 3
    noise: float = 0.05
    norm: str = "batch"
    optimizer: str = "sgd"


cfg = Config()
if CASE == 2:
    cfg = Config(optimizer="adamw", lr=3e-3, weight_decay=0.02, batch_size=8, epochs=6)
elif CASE == 5:
    cfg = Config(noise=0.3, epochs=12)
elif CASE == 8:
    cfg = Config(n_train=32, n_val=32, epochs=150, shift=0, noise=0.0, lr=0.05)
elif CASE == 10:
    cfg = Config(optimizer="adamw", lr=2e-3, weight_decay=0.5, batch_size=64, epochs=12)
elif CASE == 6:
    cfg = Config(n_train=72, epochs=80, batch_size=24, noise=0.12, lr=0.05)

rng = np.random.default_rng(SEED + 1)
torch.manual_seed(SEED)
np.random.seed(SEED)


def draw(label):
    s = cfg.size
    yy, xx = np.mgrid[0:s, 0:s].astype(np.float32)
    ang = math.pi * label / cfg.classes + rng.normal(0, 0.06)
    freq = rng.uniform(0.9, 1.5)
    wave = np.sin(freq * (xx * math.cos(ang) + yy * math.sin(ang)) + rng.uniform(0, 6.28))
    tint = rng.uniform(20, 55, size=3)
    base = rng.uniform(110, 190, size=3)
    img = base[:, None, None] + tint[:, None, None] * wave + rng.normal(0, 22, size=(3, s, s))
    return img.clip(0, 255).astype(np.uint8)


class Gratings(Dataset):
    def __init__(self, n, train):
        self.labels = np.sort(np.arange(n) % cfg.classes)
        self.images = [draw(k) for k in self.labels]
        self.train = train
        self.scale = 255.0

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        img = self.images[i].astype(np.float32)
        if self.train:
            if cfg.shift:
                dy, dx = np.random.randint(-cfg.shift, cfg.shift + 1, size=2)
                img = np.roll(img, (dy, dx), axis=(1, 2))
            img = img * np.random.uniform(0.9, 1.1)
            img = img + 255 * cfg.noise * np.random.randn(*img.shape).astype(np.float32)
        img = torch.as_tensor(np.ascontiguousarray(img), dtype=torch.float32)
        if CASE == 4 and not self.train:
            return img, int(self.labels[i])
        return img / self.scale, int(self.labels[i])


def norm(c):
    return nn.GroupNorm(4, c) if cfg.norm == "group" else nn.BatchNorm2d(c)


class Block(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.n1 = norm(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.n2 = norm(cout)
        self.short = nn.Sequential()
        if stride != 1 or cin != cout:
            self.short = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), norm(cout))

    def forward(self, x):
        y = F.relu(self.n1(self.conv1(x)))
        return F.relu(self.n2(self.conv2(y)) + self.short(x))


class SmallResNet(nn.Module):
    def __init__(self):
        super().__init__()
        w = cfg.width
        self.stem = nn.Sequential(nn.Conv2d(3, w, 3, 2, 1, bias=False), norm(w), nn.ReLU())
        stages = [Block(w, w, 1), Block(w, 2 * w, 2), Block(2 * w, 4 * w, 2)]
        self.stages = stages if CASE == 7 else nn.ModuleList(stages)
        self.fc = nn.Linear(4 * w, cfg.classes)

    def forward(self, x):
        x = self.stem(x)
        for st in self.stages:
            x = st(x)
        return self.fc(x.mean((2, 3)))


class Averager:
    def __init__(self, model, decay):
        self.module = copy.deepcopy(model).eval()
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for a, b in zip(self.module.parameters(), model.parameters()):
            a.lerp_(b, 1 - self.decay)
        if CASE != 1:
            for a, b in zip(self.module.buffers(), model.buffers()):
                a.copy_(b)


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    hit = n = 0
    for x, y in loader:
        hit += (model(x).argmax(1) == y).sum().item()
        n += len(y)
    return hit / n


train_set = Gratings(cfg.n_train, True)
val_set = train_set if CASE == 8 else Gratings(cfg.n_val, False)
train_loader = DataLoader(train_set, batch_size=cfg.batch_size, shuffle=CASE != 3, drop_last=True)
val_loader = DataLoader(val_set, batch_size=120)

model = SmallResNet()
ema = Averager(model, 0.999 if CASE == 9 else cfg.ema_decay)
if cfg.optimizer == "sgd":
    opt = torch.optim.SGD(model.parameters(), lr=cfg.lr, momentum=cfg.momentum, weight_decay=cfg.weight_decay)
else:
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)
total = cfg.epochs * len(train_loader)
if CASE == 11:
    sched = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.8)
else:
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=total)

for epoch in range(cfg.epochs):
    if CASE == 6:
        torch.manual_seed(SEED)
        np.random.seed(SEED)
    model.train()
    run, seen = 0.0, 0
    for x, y in train_loader:
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        ema.update(model)
        run += loss.item() * len(y)
        seen += len(y)
    if cfg.epochs < 30 or epoch % 10 == 9:
        if CASE == 9:
            model.load_state_dict(ema.module.state_dict())
            print(f"epoch {epoch} loss {run / seen:.4f} val acc (ema) {accuracy(model, val_loader):.3f}")
        else:
            print(f"epoch {epoch} loss {run / seen:.4f} val acc {accuracy(model, val_loader):.3f} "
                  f"ema {accuracy(ema.module, val_loader):.3f}")
print(f"final ema accuracy {accuracy(ema.module, val_loader):.3f}")
