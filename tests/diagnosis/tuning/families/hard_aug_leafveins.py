"""Training images are heavily augmented (shift, flip, erase, contrast, noise); the test images are clean, so the test loss is far below the training loss."""
import os
import math
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
S = 22


def leaf(kind, gen):
    u = lambda a, b: a + (b - a) * torch.rand(1, generator=gen).item()
    y, x = torch.meshgrid(torch.arange(S) - S / 2, torch.arange(S) - S / 2, indexing="ij")
    a = u(-0.35, 0.35)
    p, q = x * math.cos(a) + y * math.sin(a), -x * math.sin(a) + y * math.cos(a)
    body = ((p / u(6, 9)) ** 2 + (q / u(7, 10)) ** 2 < 1).float()
    w = u(1.2, 1.7)
    if kind == 0:
        v = torch.sin(q * w)                       # parallel veins
    elif kind == 1:
        v = torch.sin((q + 0.9 * p.abs()) * w)     # pinnate
    elif kind == 2:
        v = torch.sin(torch.sqrt(p ** 2 + q ** 2) * w)  # rings
    elif kind == 3:
        v = torch.sin(p * w) * torch.sin(q * w)    # net
    else:
        v = torch.sin(torch.atan2(q, p) * 8)       # palmate
    return body * (0.5 + 0.5 * v) + 0.15 * torch.randn(S, S, generator=gen)


class Leaves(Dataset):
    def __init__(self, n, seed, transform=None):
        gen = torch.Generator().manual_seed(seed)
        self.y = torch.randint(0, 5, (n,), generator=gen)
        self.x = torch.stack([leaf(int(k), gen) for k in self.y])[:, None]
        self.transform = transform

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        x = self.x[i]
        return (self.transform(x) if self.transform else x), self.y[i]


def heavy(x):
    if torch.rand(1) < 0.5:
        x = x.flip(2)
    if torch.rand(1) < 0.5:
        x = x.flip(1)
    dy, dx = torch.randint(-3, 4, (2,)).tolist()
    x = torch.roll(x, (dy, dx), (1, 2)).clone()
    for _ in range(2):
        r, c = torch.randint(0, S - 7, (2,)).tolist()
        x[:, r:r + 7, c:c + 7] = 0
    x = x * (0.6 + 0.8 * torch.rand(1)) + 0.4 * torch.randn(1)
    return x + 0.35 * torch.rand(1) * torch.randn_like(x)


train = DataLoader(Leaves(1300, SEED + 1, heavy), batch_size=40, shuffle=True)
test = DataLoader(Leaves(400, SEED + 2), batch_size=250)
net = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
    nn.Dropout(0.2), nn.Linear(32, 5))
optim = torch.optim.SGD(net.parameters(), lr=0.06, momentum=0.9, nesterov=True, weight_decay=5e-4)
lr = torch.optim.lr_scheduler.CosineAnnealingLR(optim, T_max=8 * len(train))
ce = nn.CrossEntropyLoss(label_smoothing=0.05)
for epoch in range(8):
    net.train()
    s = a = n = 0
    for x, y in train:
        out = net(x)
        loss = ce(out, y)
        optim.zero_grad(); loss.backward(); optim.step(); lr.step()
        s += loss.item() * len(y); a += (out.argmax(1) == y).sum().item(); n += len(y)
    net.eval()
    ts = ta = tn = 0
    with torch.no_grad():
        for x, y in test:
            out = net(x)
            ts += nn.functional.cross_entropy(out, y, reduction="sum").item(); ta += (out.argmax(1) == y).sum().item(); tn += len(y)
    print(f"[{epoch + 1}/8] train (augmented) loss {s / n:.3f} acc {a / n:.3f}   test (clean) loss {ts / tn:.3f} acc {ta / tn:.3f}")
