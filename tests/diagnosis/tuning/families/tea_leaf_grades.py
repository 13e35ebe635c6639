"""Grade tea leaves (six grades) from 24x24 colour crops. Small conv net, trainer class."""
import copy
import math
import os
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))


@dataclass
class Config:
    n_train: int = 1380
    n_val: int = 480
    classes: int = 6
    batch_size: int = 32
    epochs: int = 6
    lr: float = 3e-3
    weight_decay: float = 1e-4
    bn_momentum: float = 0.1
    shuffle: bool = True
    sched_step: int = 2
    sched_gamma: float = 0.4
    step_scheduler_on: str = "epoch"
    label_smoothing: float = 0.0
    cutout: int = 0
    ema: float = 0.0


def get_config():
    c = Config()
    if CASE == 1:
        c.bn_momentum = 0.001
    if CASE == 3:
        c.shuffle = False
    if CASE == 4:
        c.step_scheduler_on = "batch"
    if CASE == 5:
        c.weight_decay = 0.3
    if CASE == 6:
        c.label_smoothing, c.cutout, c.ema, c.epochs = 0.15, 9, 0.97, 7
    return c


def leaf_images(n, classes, rng):
    per = n // classes
    yy, xx = np.mgrid[0:24, 0:24].astype(np.float32) - 11.5
    ims, labs = [], []
    for k in range(classes):
        for _ in range(per):
            th = rng.uniform(0, math.pi)
            u = xx * math.cos(th) + yy * math.sin(th)
            v = -xx * math.sin(th) + yy * math.cos(th)
            a, b = rng.uniform(8.5, 11), rng.uniform(4, 6.5) - 0.35 * (k % 3)
            leaf = ((u / a) ** 2 + (v / b) ** 2 < 1).astype(np.float32)
            freq = 0.62 + 0.3 * (k % 3) + rng.normal(0, 0.05)
            veins = 0.5 + 0.5 * np.cos(freq * (u + (1.0 if k >= 3 else 0.1) * np.abs(v)) + rng.uniform(0, 6))
            base = np.array([60, 122 - 8 * (k // 2), 45 + 9 * (k % 2)], np.float32) + rng.normal(0, 10, 3)
            img = 185 + rng.normal(0, 9, (24, 24, 3))
            body = base[None, None] * (0.6 + 0.55 * veins[..., None])
            img = img * (1 - leaf[..., None]) + body * leaf[..., None]
            if rng.rand() < 0.15 + 0.1 * k:
                cy, cx = rng.uniform(-5, 5, 2)
                img[((yy - cy) ** 2 + (xx - cx) ** 2) < 5] *= 0.55
            img += rng.normal(0, 9, img.shape)
            ims.append(np.clip(img, 0, 255).astype(np.uint8).transpose(2, 0, 1))
            labs.append(k)
    labs = np.array(labs)
    flip = rng.rand(len(labs)) < 0.03
    labs[flip] = rng.randint(0, classes, flip.sum())
    return torch.from_numpy(np.stack(ims)), torch.from_numpy(labs)


class Leaves(Dataset):
    mean = torch.tensor([120., 142., 112.]).view(3, 1, 1)
    std = torch.tensor([48., 40., 50.]).view(3, 1, 1)

    def __init__(self, x, y, train, cutout=0):
        self.x, self.y, self.train, self.cutout = x, y, train, cutout

    def __len__(self):
        return len(self.y)

    def normalize(self, im):
        return (im - self.mean) / self.std

    def __getitem__(self, i):
        im = self.x[i].float()
        if not self.train:
            return (im / 255.0 if CASE == 2 else self.normalize(im)), self.y[i]
        if torch.rand(()) < 0.5:
            im = im.flip(2)
        if torch.rand(()) < 0.5:
            im = im.flip(1)
        dx, dy = torch.randint(-2, 3, (2,)).tolist()
        im = torch.roll(im, (dy, dx), (1, 2)) * (0.85 + 0.3 * torch.rand(()))
        im = self.normalize(im)
        if self.cutout:
            a, b = torch.randint(0, 24 - self.cutout, (2,)).tolist()
            im[:, a:a + self.cutout, b:b + self.cutout] = 0
        return im, self.y[i]


def block(i, o, mom):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o, momentum=mom), nn.ReLU())


class LeafNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        m = cfg.bn_momentum
        self.features = nn.Sequential(block(3, 12, m), nn.MaxPool2d(2), block(12, 24, m), block(24, 24, m),
                                      nn.MaxPool2d(2), block(24, 48, m))
        self.fc = nn.Linear(48, cfg.classes)

    def forward(self, x):
        return self.fc(self.features(x).mean((2, 3)))


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        rng = np.random.RandomState(100 + SEED)
        self.train_set = Leaves(*leaf_images(cfg.n_train, cfg.classes, rng), train=True, cutout=cfg.cutout)
        self.val_set = Leaves(*leaf_images(cfg.n_val, cfg.classes, rng), train=False)
        self.train_loader = DataLoader(self.train_set, cfg.batch_size, shuffle=cfg.shuffle, drop_last=True)
        self.val_loader = DataLoader(self.val_set, 120)
        self.model = LeafNet(cfg)
        self.averaged = copy.deepcopy(self.model) if cfg.ema else None
        self.opt = torch.optim.Adam(self.model.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)
        self.sched = torch.optim.lr_scheduler.StepLR(self.opt, cfg.sched_step, cfg.sched_gamma)
        self.global_step = 0

    @torch.no_grad()
    def update_average(self):
        d = self.cfg.ema
        for a, b in zip(self.averaged.state_dict().values(), self.model.state_dict().values()):
            if a.dtype.is_floating_point:
                a.mul_(d).add_(b, alpha=1 - d)
            else:
                a.copy_(b)

    def train_epoch(self):
        self.model.train()
        tot = hit = n = 0
        for x, y in self.train_loader:
            logits = self.model(x)
            loss = F.cross_entropy(logits, y, label_smoothing=self.cfg.label_smoothing)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.global_step += 1
            if self.cfg.step_scheduler_on == "batch":
                self.sched.step()
            if self.averaged is not None:
                self.update_average()
            tot += loss.item() * len(y)
            hit += (logits.argmax(1) == y).sum().item()
            n += len(y)
            if self.global_step % 40 == 0:
                print(f"  step {self.global_step} loss {loss.item():.3f}")
        return tot / n, hit / n

    @torch.no_grad()
    def validate(self):
        net = self.averaged if self.averaged is not None else self.model
        net.eval()
        tot = hit = n = 0
        for x, y in self.val_loader:
            logits = net(x)
            tot += F.cross_entropy(logits, y, reduction="sum").item()
            hit += (logits.argmax(1) == y).sum().item()
            n += len(y)
        return tot / n, hit / n

    def run(self):
        for ep in range(1, self.cfg.epochs + 1):
            tl, ta = self.train_epoch()
            if self.cfg.step_scheduler_on == "epoch":
                self.sched.step()
            vl, va = self.validate()
            print(f"epoch {ep}: train {tl:.3f}/{ta:.3f}  val {vl:.3f}/{va:.3f}")
        print(f"val accuracy {va:.3f}")


if __name__ == "__main__":
    torch.manual_seed(SEED)
    Trainer(get_config()).run()
