"""Bearing wear classes from vibration windows, one long epoch, evaluated every 40 steps in its middle."""
import os
import torch
import torch.nn as nn
from torch.utils.data import IterableDataset, DataLoader

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)


def window(c, g):
    t = torch.arange(128) / 128.0
    f = 6 + 3 * torch.rand(1, generator=g)
    s = torch.sin(6.2832 * (f * t + torch.rand(1, generator=g)))
    if c > 0:
        period = {1: 32, 2: 21, 3: 14}[c]
        k = torch.arange(128)
        off = torch.randint(0, period, (1,), generator=g)
        hit = ((k - off) % period).float()
        s = s + 1.6 * torch.exp(-hit / 2.5) * torch.cos(hit * 1.9)
    return s + 0.5 * torch.randn(128, generator=g)


class Stream(IterableDataset):
    def __init__(self, n, seed):
        self.n, self.seed = n, seed

    def __iter__(self):
        g = torch.Generator().manual_seed(self.seed)
        for _ in range(self.n):
            c = int(torch.randint(0, 4, (1,), generator=g))
            yield window(c, g)[None], c


val = list(DataLoader(Stream(400, SEED + 900), batch_size=200))


def build():
    layers, c = [], 1
    for o, k in ((16, 9), (24, 7), (32, 5)):
        layers += [nn.Conv1d(c, o, k, padding=k // 2), nn.BatchNorm1d(o), nn.GELU(), nn.MaxPool1d(2)]
        c = o
    return nn.Sequential(*layers, nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Dropout(0.3), nn.Linear(c, 4))


model = build()
opt = torch.optim.AdamW(model.parameters(), lr=4e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 280)
ce = nn.CrossEntropyLoss()
avg = None
best = 0.0
for it, (x, y) in enumerate(DataLoader(Stream(40 * 280, SEED + 1), batch_size=40), 1):
    loss = ce(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    avg = loss.item() if avg is None else 0.95 * avg + 0.05 * loss.item()
    if it % 40 == 0:
        model.eval()
        with torch.no_grad():
            vl, ok, n = 0.0, 0, 0
            for vx, vy in val:
                o = model(vx)
                vl += ce(o, vy).item() * len(vy); ok += (o.argmax(1) == vy).sum().item(); n += len(vy)
        best = max(best, ok / n)
        print(f"it {it:4d} smoothed train {avg:.4f} | val {vl / n:.4f} acc {ok / n:.4f} best {best:.4f}")
        model.train()
