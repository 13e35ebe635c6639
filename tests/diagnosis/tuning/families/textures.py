import copy
import os
import time
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)
torch.set_num_threads(1)


@dataclass
class Config:
    epochs: int = 6
    batch_size: int = 50
    accum: int = 1
    lr: float = 0.1
    momentum: float = 0.9
    weight_decay: float = 5e-4
    bn_momentum: float = 0.1
    autocast: bool = False
    ema_decay: float = 0.0
    restarts: bool = False


cfg = Config()
if CASE == 1:
    cfg.batch_size = 2
    cfg.epochs = 2
    cfg.lr = 0.01
elif CASE == 2:
    cfg.autocast = True
    cfg.epochs = 3
elif CASE == 4:
    cfg.bn_momentum = 0.001
elif CASE == 5:
    cfg.ema_decay = 0.95
elif CASE == 6:
    cfg.ema_decay = 0.99
elif CASE == 7:
    cfg.restarts = True
elif CASE == 9:
    cfg.weight_decay = 0.2
elif CASE == 10:
    cfg.batch_size = 25
    cfg.accum = 2


# ----------------------------------------------------------------------------- data
def textures(n, rng):
    """uint8 gratings: three orientations x two frequencies"""
    y = rng.integers(0, 6, n)
    g = np.arange(16)
    yy, xx = np.meshgrid(g, g, indexing="ij")
    out = np.empty((n, 16, 16), np.uint8)
    for i in range(n):
        ang = (y[i] % 3) * np.pi / 3 + rng.normal(0, 0.12)
        freq = (0.7 if y[i] < 3 else 1.2) + rng.normal(0, 0.04)
        s = np.sin(freq * (np.cos(ang) * xx + np.sin(ang) * yy) + rng.uniform(0, 2 * np.pi))
        img = 128 + rng.uniform(20, 60) * s + rng.normal(0, 50, (16, 16))
        out[i] = np.clip(img, 0, 255)
    return torch.from_numpy(out).unsqueeze(1), torch.from_numpy(y)


rng = np.random.default_rng(SEED)
train_x, train_y = textures(1000, rng)
val_x, val_y = textures(360, rng)
order = torch.argsort(val_y)
val_x, val_y = val_x[order], val_y[order]


def prepare(x):
    return (x.float() / 255 - 0.5) / 0.2


# ---------------------------------------------------------------------------- model
class Residual(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout, momentum=cfg.bn_momentum)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout, momentum=cfg.bn_momentum)
        self.short = nn.Sequential()
        if stride != 1 or cin != cout:
            self.short = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False),
                                       nn.BatchNorm2d(cout, momentum=cfg.bn_momentum))

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        h = self.bn2(self.conv2(h))
        return F.relu(h + self.short(x))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 12, 3, 1, 1, bias=False)
        self.bn = nn.BatchNorm2d(12, momentum=cfg.bn_momentum)
        self.stages = nn.Sequential(Residual(12, 12, 1), Residual(12, 24, 2), Residual(24, 32, 2))
        self.neck = nn.Linear(32, 32, bias=False)
        self.neck_bn = nn.BatchNorm1d(32, momentum=cfg.bn_momentum)
        self.fc = nn.Linear(32, 6)

    def forward(self, x):
        h = F.relu(self.bn(self.stem(x)))
        h = self.stages(h).mean((2, 3))
        h = F.relu(self.neck_bn(self.neck(h)))
        return self.fc(h)


model = ResNet()
opt = torch.optim.SGD(model.parameters(), lr=cfg.lr, momentum=cfg.momentum,
                      weight_decay=cfg.weight_decay, nesterov=True)
steps_per_epoch = len(train_x) // cfg.batch_size
if cfg.restarts:
    sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=steps_per_epoch * 3)
else:
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=steps_per_epoch // cfg.accum * cfg.epochs)
ema = copy.deepcopy(model.state_dict()) if cfg.ema_decay else None


def update_ema():
    with torch.no_grad():
        for k, v in model.state_dict().items():
            if v.dtype.is_floating_point:
                ema[k].mul_(cfg.ema_decay).add_(v, alpha=1 - cfg.ema_decay)
            else:
                ema[k].copy_(v)


def accuracy():
    if CASE != 3:
        model.eval()
    right, nll = 0, 0.0
    with torch.no_grad():
        for i in range(0, len(val_x), 40):
            xb = val_x[i:i + 40]
            xb = xb.float() if CASE == 8 else prepare(xb)
            out = model(xb)
            right += (out.argmax(1) == val_y[i:i + 40]).sum().item()
            nll += F.cross_entropy(out, val_y[i:i + 40], reduction="sum").item()
    return right / len(val_x), nll / len(val_x)


t0 = time.time()
for epoch in range(cfg.epochs):
    model.train()
    perm = torch.randperm(len(train_x))
    running = 0.0
    for b in range(steps_per_epoch):
        sel = perm[b * cfg.batch_size:(b + 1) * cfg.batch_size]
        x, y = prepare(train_x[sel]), train_y[sel]
        if cfg.autocast:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits = model(x)
            loss = F.cross_entropy(logits.float(), y)
        else:
            loss = F.cross_entropy(model(x), y)
        (loss / cfg.accum).backward()
        if (b + 1) % cfg.accum == 0:
            opt.step()
            opt.zero_grad()
            if ema is not None:
                update_ema()
            sched.step()
        running += loss.item()

    if ema is not None:
        if CASE == 5:
            keep = copy.deepcopy(model.state_dict())
            model.load_state_dict(ema)
            acc, nll = accuracy()
            model.load_state_dict(keep)
        else:
            model.load_state_dict(ema)
            acc, nll = accuracy()
    else:
        acc, nll = accuracy()
    print(f"epoch {epoch}: loss {running / steps_per_epoch:.3f} | val acc {acc:.3f} nll {nll:.3f} | {time.time() - t0:.1f}s")
