"""Single object localisation on small synthetic frames: one box and one class per image."""
import math
import os
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, WeightedRandomSampler

CASE = int(os.environ.get("CASE", 5))
SEED = int(os.environ.get("SEED", 0))
S = 24
FRAME_W, FRAME_H = 1280, 720


def seed_everything(s):
    random.seed(s)
    np.random.seed(s)
    torch.manual_seed(s)


def draw(rng, probs):
    c = rng.choice(3, p=probs)
    w, h = rng.integers(7, 14, 2)
    x0, y0 = rng.integers(0, S - w + 1), rng.integers(0, S - h + 1)
    yy, xx = np.mgrid[0:h, 0:w]
    if c == 0:
        m = np.ones((h, w))
    elif c == 1:
        m = (((xx - (w - 1) / 2) / (w / 2)) ** 2 + ((yy - (h - 1) / 2) / (h / 2)) ** 2 <= 1.0).astype(float)
        m = m * 0.5 + 0.5 * (m * (((xx - (w - 1) / 2) / (w / 2)) ** 2 + ((yy - (h - 1) / 2) / (h / 2)) ** 2 > 0.4))
    else:
        m = ((abs(xx - (w - 1) / 2) < 1.5) | (abs(yy - (h - 1) / 2) < 1.5)).astype(float)
    im = rng.normal(0, 0.15, (S, S))
    im[y0:y0 + h, x0:x0 + w] += m * rng.uniform(0.7, 1.2)
    box = np.array([(x0 + w / 2) / S, (y0 + h / 2) / S, w / S, h / S])
    return im.astype(np.float32), box.astype(np.float32), c


class Frames(Dataset):
    def __init__(self, n, seed, augment=False, probs=(1 / 3, 1 / 3, 1 / 3)):
        rng = np.random.default_rng(seed)
        rows = [draw(rng, probs) for _ in range(n)]
        self.x = torch.tensor(np.stack([r[0] for r in rows]))[:, None]
        self.box = torch.tensor(np.stack([r[1] for r in rows]))
        self.y = torch.tensor([int(r[2]) for r in rows])
        self.augment = augment
        if CASE == 1:
            self.box = self.box * torch.tensor([FRAME_W, FRAME_H, FRAME_W, FRAME_H])
        if CASE == 6:
            self.box = self.box * S

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        x, box = self.x[i], self.box[i].clone()
        if self.augment and random.random() < 0.5:
            x = x.flip(-1)
            if CASE != 4:
                box[0] = (S if CASE == 6 else FRAME_W if CASE == 1 else 1) - box[0]
        return x, box, self.y[i]


class Locator(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, width, 3, 2, 1), nn.ReLU(),
            nn.Conv2d(width, 2 * width, 3, 2, 1), nn.ReLU(),
            nn.Conv2d(2 * width, 2 * width, 3, 1, 1), nn.ReLU(),
            nn.Flatten(), nn.Linear(2 * width * 36, 64), nn.ReLU())
        self.box_head = nn.Linear(64, 4)
        self.cls_head = nn.Linear(64, 3)

    def forward(self, x):
        h = self.backbone(x)
        b = self.box_head(h)
        if CASE == 6:
            b = b * S
        return b, self.cls_head(h)


def iou(a, b):
    ax0, ay0, ax1, ay1 = a[:, 0] - a[:, 2] / 2, a[:, 1] - a[:, 3] / 2, a[:, 0] + a[:, 2] / 2, a[:, 1] + a[:, 3] / 2
    bx0, by0, bx1, by1 = b[:, 0] - b[:, 2] / 2, b[:, 1] - b[:, 3] / 2, b[:, 0] + b[:, 2] / 2, b[:, 1] + b[:, 3] / 2
    iw = (torch.min(ax1, bx1) - torch.max(ax0, bx0)).clamp(min=0)
    ih = (torch.min(ay1, by1) - torch.max(ay0, by0)).clamp(min=0)
    inter = iw * ih
    union = a[:, 2].clamp(min=0) * a[:, 3].clamp(min=0) + b[:, 2] * b[:, 3] - inter
    return inter / union.clamp(min=1e-6)


def giou_loss(p, t):
    p = torch.cat([p[:, :2], p[:, 2:].clamp(min=0.02)], 1)
    lo = torch.min(p[:, :2] - p[:, 2:] / 2, t[:, :2] - t[:, 2:] / 2)
    hi = torch.max(p[:, :2] + p[:, 2:] / 2, t[:, :2] + t[:, 2:] / 2)
    hull = (hi - lo).prod(1)
    i = iou(p, t)
    inter = i * (p[:, 2] * p[:, 3] + t[:, 2] * t[:, 3]) / (1 + i)
    union = p[:, 2] * p[:, 3] + t[:, 2] * t[:, 3] - inter
    return 1 - i + (hull - union) / hull


def criterion(pb, pc, box, y):
    ce = F.cross_entropy(pc, y, reduction="sum" if CASE == 6 else "mean")
    if CASE == 6:
        ce = 5 * ce
    if CASE == 3:
        box = box.unsqueeze(1)
        l1 = (pb - box).abs().mean()
    elif CASE == 1:
        l1 = F.mse_loss(pb, box)
    elif CASE == 6:
        l1 = F.smooth_l1_loss(pb, box, reduction="sum")
    elif CASE == 7:
        l1 = 20 * F.mse_loss(pb, box)
    elif CASE == 9:
        l1 = giou_loss(pb, box).mean() + F.l1_loss(pb, box)
    else:
        l1 = 5 * F.smooth_l1_loss(pb, box, beta=0.1)
    return ce + l1, ce, l1


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    ious, hits, per = [], [], []
    for x, box, y in loader:
        pb, pc = model(x)
        ious.append(iou(pb, box))
        hits.append((pc.argmax(1) == y).float())
        per.append(y)
    model.train()
    ious, hits, per = torch.cat(ious), torch.cat(hits), torch.cat(per)
    acc = torch.stack([hits[per == c].mean() for c in range(3)]).mean()
    return ious.mean().item(), acc.item()


def main():
    seed_everything(SEED)
    probs = (0.8, 0.15, 0.05) if CASE == 10 else (1 / 3, 1 / 3, 1 / 3)
    train = Frames(1536 if CASE == 10 else 1024, SEED * 2 + 1, augment=True, probs=probs)
    test = Frames(256, SEED * 2 + 2)
    if CASE == 10:
        wts = 1.0 / torch.bincount(train.y).float()
        loader = DataLoader(train, 32, sampler=WeightedRandomSampler(wts[train.y], len(train)))
    else:
        loader = DataLoader(train, 16 if CASE == 9 else 32, shuffle=True, drop_last=True)
    val = DataLoader(test, 128)

    model = Locator()
    opts = []
    if CASE == 2:
        params = list(model.box_head.parameters()) + list(model.cls_head.parameters())
        opts = [torch.optim.Adam(params, lr=1e-3)]
    elif CASE == 6:
        opts = [torch.optim.Adam(model.parameters(), lr=1e-3)]
    elif CASE == 7:
        opts = [torch.optim.SGD(model.parameters(), lr=0.08, momentum=0.9, nesterov=True)]
    elif CASE == 8:
        opts = [torch.optim.Adam(model.backbone.parameters(), lr=8e-4),
                torch.optim.RMSprop(model.box_head.parameters(), lr=5e-4),
                torch.optim.SGD(model.cls_head.parameters(), lr=0.05)]
    elif CASE == 9:
        opts = [torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)]
    else:
        opts = [torch.optim.Adam(model.parameters(), lr=1e-3)]

    epochs = 14 if CASE == 6 else 16 if CASE == 9 else 14
    accum = 4 if CASE == 9 else 1
    for epoch in range(epochs):
        tot = n = 0
        for o in opts:
            o.zero_grad()
        for i, (x, box, y) in enumerate(loader):
            pb, pc = model(x)
            loss, ce, l1 = criterion(pb, pc, box, y)
            (loss / accum).backward()
            if (i + 1) % accum == 0:
                if CASE == 7:
                    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
                for o in opts:
                    o.step()
                for o in opts:
                    o.zero_grad()
            tot += loss.item()
            n += 1
        m, a = evaluate(model, val)
        print(f"epoch {epoch + 1}: loss {tot / n:.4f} (last cls {ce.item():.3f}, box {l1.item():.3f})  val IoU {m:.3f}  val acc {a:.3f}")
    print(f"METRIC {m * a:.4f}")


if __name__ == "__main__":
    main()
