# Plankton photographs -> species.  Small residual net, functions only.
import copy
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
np.random.seed(SEED)
torch.manual_seed(SEED)

SIZE, CLASSES = 20, 6
yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32)
HARD = CASE == 9


def draw(c):
    """one grey photograph, 0..255"""
    cy, cx = np.random.uniform(8, 12, 2)
    r, th = np.random.uniform(4, 6.5), np.random.uniform(-0.5, 0.5)
    u = (xx - cx) * np.cos(th) + (yy - cy) * np.sin(th)
    v = -(xx - cx) * np.sin(th) + (yy - cy) * np.cos(th)
    d = np.sqrt(u ** 2 + v ** 2)
    if c == 0:      # round shell
        m = np.exp(-((d - r) ** 2) / 1.5)
    elif c == 1:    # round, filled, with a nucleus
        m = (d < r) * 0.6 + (d < r / 3) * 0.4
    elif c == 2:    # rod
        m = (np.abs(u) < r) * (np.abs(v) < 1.5)
    elif c == 3:    # chain of cells
        m = (np.abs(u) < r + 1) * (np.abs(v) < 2) * (np.sin(u * 2.0) > 0)
    elif c == 4:    # shell with a tail to the left
        m = np.exp(-((d - r * 0.6) ** 2) / 1.5) + (u < 0) * (u > -r - 2) * (np.abs(v) < 1)
    else:           # shell with a tail to the right
        m = np.exp(-((d - r * 0.6) ** 2) / 1.5) + (u > 0) * (u < r + 2) * (np.abs(v) < 1)
    img = 60 + np.random.uniform(50, 120) * m + np.random.randn(SIZE, SIZE) * (75 if HARD else 22)
    return np.clip(img, 0, 255)


def photos(counts, site="ship"):
    x, y = [], []
    for c, n in enumerate(counts):
        for _ in range(n):
            img = draw(c)
            if CASE == 10 and site == "ship":
                # scale bar of the cruise
                img[SIZE - 3:, 1:3 + 3 * c] = 255
            elif CASE == 10:
                k = np.random.randint(CLASSES)
                img[SIZE - 3:, 1:3 + 3 * k] = 255
            x.append(img); y.append(c)
    x, y = np.stack(x).astype(np.float32), np.array(y)
    o = np.random.permutation(len(y))
    return torch.tensor(x[o])[:, None], torch.tensor(y[o])


def to_input(x, train=True):
    x = x / 255.0
    if CASE == 8 and not train:
        return x
    return (x - 0.32) / 0.15


class Block(nn.Module):
    def __init__(self, cin, cout, stride, norm):
        super().__init__()
        self.c1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.n1 = norm(cout)
        self.c2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.n2 = norm(cout)
        self.short = nn.Conv2d(cin, cout, 1, stride, bias=False)

    def forward(self, x):
        h = F.relu(self.n1(self.c1(x)))
        return F.relu(self.n2(self.c2(h)) + self.short(x))


def make_net(n_out=CLASSES):
    norm = nn.BatchNorm2d
    return nn.Sequential(Block(1, 12, 2, norm), Block(12, 24, 2, norm), Block(24, 32, 1, norm),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, n_out))


def augment(x):
    dy, dx = np.random.randint(-2, 3, 2)
    x = torch.roll(x, (int(dy), int(dx)), (2, 3))
    if np.random.rand() < 0.5:
        x = torch.flip(x, (2,))
    if CASE == 12:
        pick = torch.rand(len(x)) < 0.5
        x = torch.where(pick[:, None, None, None], torch.flip(x, (3,)), x)
    return x


@torch.no_grad()
def test(net, x, y):
    if CASE != 11:
        net.eval()
    p = torch.cat([net(to_input(b, train=False)).argmax(1) for b in x.split(1 if CASE == 11 else 200)])
    net.train()
    recall = torch.stack([(p[y == c] == c).float().mean() for c in y.unique()])
    return (p == y).float().mean().item(), recall.mean().item(), torch.bincount(p, minlength=CLASSES).tolist()


def train(net, x, y, xv, yv, epochs=6, lr=0.05, bs=8 if CASE == 5 else 32, log=10):
    ds = TensorDataset(x, y)
    if CASE == 1:
        w = 1.0 / torch.bincount(y).float()
        loader = DataLoader(ds, bs, sampler=WeightedRandomSampler(w[y], 1200))
    else:
        loader = DataLoader(ds, bs, shuffle=True, drop_last=True)
    opt = torch.optim.SGD(net.parameters(), lr, momentum=0.9, weight_decay=1e-4)
    total = epochs * len(loader)
    if CASE == 3:
        sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, total // 3 + 1)
    else:
        sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, total)
    ema = copy.deepcopy(net) if CASE == 6 else None
    acc_steps = 4 if CASE == 5 else 1
    step = 0
    for ep in range(epochs):
        for bx, by in loader:
            bx = to_input(augment(bx))
            if CASE == 2:
                lam = np.random.beta(1, 1)
                o = torch.randperm(len(by))
                out = net(lam * bx + (1 - lam) * bx[o])
                loss = lam * F.cross_entropy(out, by, label_smoothing=0.1) + \
                    (1 - lam) * F.cross_entropy(out, by[o], label_smoothing=0.1)
            else:
                out = net(bx)
                loss = F.cross_entropy(out, by)
            (loss / acc_steps).backward()
            step += 1
            if step % acc_steps == 0:
                opt.step()
                opt.zero_grad()
            sched.step()
            if ema is not None:
                with torch.no_grad():
                    for a, b in zip(ema.parameters(), net.parameters()):
                        a.mul_(0.95).add_(b, alpha=0.05)
            if step % log == 1:
                print(f"{step:4d} loss {loss.item():.4f} batch acc {(out.argmax(1) == by).float().mean().item():.2f}")
        acc, bal, counts = test(ema or net, xv, yv)
        print(f"epoch {ep} val acc {acc:.3f} balanced {bal:.3f} predicted {counts}")


if CASE == 1:
    xtr, ytr = photos([600, 250, 120, 80, 60, 60])
elif CASE == 7:
    xtr, ytr = photos([1150, 14, 10, 10, 8, 8])
elif CASE == 9:
    # 240 photographs of each, a fifth held out
    xa, ya = photos([40] * CLASSES)
    xa, ya = xa.repeat(6, 1, 1, 1), ya.repeat(6)
    o = torch.randperm(len(ya))
    cut = int(0.8 * len(o))
    xtr, ytr, xv, yv = xa[o[:cut]], ya[o[:cut]], xa[o[cut:]], ya[o[cut:]]
else:
    xtr, ytr = photos([200] * CLASSES)
if CASE == 9:
    train(make_net(), xtr, ytr, xv, yv, epochs=10)
elif CASE == 4:
    xv, yv = photos([60] * CLASSES, site="field")
    net = make_net()
    train(net, xtr, ytr, xv, yv, epochs=4)
    # the same photographs by genus: the body stays as it is, statistics too, only a new head
    genus = torch.tensor([0, 0, 1, 1, 2, 2])
    ytr, yv = genus[ytr], genus[yv]
    body, head = net[:-1], nn.Linear(32, 3)
    body.requires_grad_(False).eval()
    body.train = lambda mode=True: body
    opt = torch.optim.SGD(head.parameters(), 0.1, momentum=0.9)
    print("new head")
    for i in range(100):
        idx = torch.randint(len(ytr), (64,))
        loss = F.cross_entropy(head(body(to_input(xtr[idx]))), ytr[idx])
        opt.zero_grad(); loss.backward(); opt.step()
        if i % 10 == 0:
            print(f"{i:4d} loss {loss.item():.4f}")
    print("val", test(nn.Sequential(body, head), xv, yv))
else:
    xv, yv = photos([60] * CLASSES, site="field")
    train(make_net(), xtr, ytr, xv, yv)
