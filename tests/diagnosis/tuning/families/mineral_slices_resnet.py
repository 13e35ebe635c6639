import copy
import math
import os
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))


@dataclass
class Config:
    classes: int = 6
    size: int = 16
    n_train: int = 1800
    n_val: int = 600
    batch: int = 36
    epochs: int = 4
    lr: float = 0.08
    wd: float = 5e-4
    ema: float = 0.0
    mixup: float = 0.0
    smooth: float = 0.0
    warmup: int = 0
    schedule: str = "cosine"


cfg = Config()
if CASE in (0, 1):
    cfg.ema = 0.97
if CASE == 5:
    cfg.mixup, cfg.smooth, cfg.warmup, cfg.epochs = 0.4, 0.1, 40, 5
if CASE == 3:
    cfg.schedule = "step"

torch.manual_seed(SEED)


def slices(n, seed):
    """thin sections: oriented grains of a typical length, colour cast and noise vary"""
    r = np.random.default_rng(seed)
    y = np.sort(r.integers(0, cfg.classes, n))
    f = np.fft.fftfreq(cfg.size)
    fx, fy = np.meshgrid(f, f)
    rad = np.hypot(fx, fy)
    out = np.empty((n, 3, cfg.size, cfg.size), np.float32)
    for i, k in enumerate(y):
        centre = 0.10 + 0.055 * (k % 3) + r.normal(0, 0.008)
        th = r.uniform(0, np.pi)
        band = np.exp(-((rad - centre) / 0.05) ** 2)
        aniso = np.exp(-(np.sin(np.arctan2(fy, fx) - th) / 0.45) ** 2) if k >= 3 else 1.0
        tex = np.fft.ifft2(np.fft.fft2(r.normal(size=(cfg.size, cfg.size))) * band * aniso).real
        tex = tex / tex.std()
        cast = r.normal(0, 0.5, (3, 1, 1)) + np.array([0.25, -0.1, 0.15])[:, None, None] * (k - 2.5)
        out[i] = tex * r.uniform(0.5, 1.2, (3, 1, 1)) + cast + r.normal(0, 0.9, (3, cfg.size, cfg.size))
    return torch.from_numpy(out), torch.from_numpy(y)


class Block(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.c1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.b1 = nn.BatchNorm2d(cout)
        self.c2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.b2 = nn.BatchNorm2d(cout)
        self.skip = nn.Identity()
        if stride != 1 or cin != cout:
            self.skip = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))

    def forward(self, x):
        h = F.relu(self.b1(self.c1(x)))
        return F.relu(self.b2(self.c2(h)) + self.skip(x))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 12, 3, 1, 1, bias=False), nn.BatchNorm2d(12), nn.ReLU())
        self.layers = nn.Sequential(Block(12, 12, 1), Block(12, 24, 2), Block(24, 40, 2))
        self.fc = nn.Linear(40, cfg.classes)
        for m in self.modules():
            if isinstance(m, (nn.Conv2d, nn.Linear)):
                if CASE == 4:
                    nn.init.constant_(m.weight, 0.02)
                else:
                    nn.init.kaiming_normal_(m.weight)

    def forward(self, x):
        return self.fc(self.layers(self.stem(x)).mean((2, 3)))


class Trainer:
    def __init__(self):
        self.x, self.y = slices(cfg.n_train, SEED + 100)
        self.xv, self.yv = slices(cfg.n_val, SEED + 200)
        self.model = ResNet()
        self.ema = copy.deepcopy(self.model).eval() if cfg.ema else None
        self.opt = torch.optim.SGD(self.model.parameters(), cfg.lr, momentum=0.9, weight_decay=cfg.wd)
        self.per_epoch = math.ceil(cfg.n_train / cfg.batch)
        total = self.per_epoch * cfg.epochs
        if cfg.schedule == "step":
            self.sched = torch.optim.lr_scheduler.StepLR(self.opt, step_size=3, gamma=0.3)
        else:
            self.sched = torch.optim.lr_scheduler.LambdaLR(
                self.opt, lambda s: min(1.0, (s + 1) / (cfg.warmup + 1)) * 0.5 * (1 + math.cos(math.pi * s / total)))
        self.step = 0

    def update_ema(self):
        d = min(cfg.ema, (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            for a, b in zip(self.ema.parameters(), self.model.parameters()):
                a.mul_(d).add_(b, alpha=1 - d)
            if CASE != 1:
                for a, b in zip(self.ema.buffers(), self.model.buffers()):
                    a.copy_(b)

    def loss(self, x, y):
        if cfg.mixup:
            lam = float(np.random.beta(cfg.mixup, cfg.mixup))
            j = torch.randperm(len(x))
            out = self.model(lam * x + (1 - lam) * x[j])
            ce = lambda t: F.cross_entropy(out, t, label_smoothing=cfg.smooth)
            return lam * ce(y) + (1 - lam) * ce(y[j])
        return F.cross_entropy(self.model(x), y)

    def train_epoch(self, ep):
        self.model.train()
        perm = torch.randperm(cfg.n_train)
        for i in range(self.per_epoch):
            idx = perm[i * cfg.batch:(i + 1) * cfg.batch]
            loss = self.loss(self.x[idx], self.y[idx])
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.sched.step()
            self.step += 1
            if self.ema is not None:
                self.update_ema()
            if self.step % 25 == 0:
                print(f"step {self.step:4d} lr {self.opt.param_groups[0]['lr']:.2e} loss {loss.item():.4f}")

    @torch.no_grad()
    def validate(self):
        net = self.ema if self.ema is not None else self.model
        if CASE != 2:
            net.eval()
        hits, tot = 0, 0.0
        for i in range(0, cfg.n_val, 60):
            out = net(self.xv[i:i + 60])
            hits += (out.argmax(1) == self.yv[i:i + 60]).sum().item()
            tot += F.cross_entropy(out, self.yv[i:i + 60], reduction="sum").item()
        return tot / cfg.n_val, hits / cfg.n_val

    def fit(self):
        for ep in range(cfg.epochs):
            self.train_epoch(ep)
            vl, va = self.validate()
            print(f"== epoch {ep + 1}/{cfg.epochs} val_loss {vl:.4f} val_acc {va:.4f}")


np.random.seed(SEED)
Trainer().fit()
