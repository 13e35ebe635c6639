import os
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.optim.lr_scheduler import OneCycleLR
from torch.utils.data import DataLoader, TensorDataset, Dataset, WeightedRandomSampler

CASE = int(os.environ.get("CASE", 5))
SEED = int(os.environ.get("SEED", 0))
NUM_CLASSES = 6


def make_split(n, rng, weights=None):
    """colour textures: class decides the orientation / frequency pair, colour is a nuisance"""
    y = rng.choice(NUM_CLASSES, n, p=weights)
    yy, xx = np.mgrid[0:16, 0:16] / 16.0
    th = (y % 3) * np.pi / 3 + rng.normal(0, 0.2, n)
    fr = np.where(y < 3, 2.0, 3.2) + rng.normal(0, 0.25, n)
    ph = rng.uniform(0, 2 * np.pi, n)
    arg = 2 * np.pi * fr[:, None, None] * (np.cos(th)[:, None, None] * xx + np.sin(th)[:, None, None] * yy)
    g = np.sin(arg + ph[:, None, None])[:, None]
    col = rng.normal(0, 1, (n, 3, 1, 1))
    x = g * col * 0.6 + rng.normal(0, 0.6, (n, 3, 16, 16)) + rng.normal(0, 0.4, (n, 3, 1, 1))
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


class SqueezeExcite(nn.Module):
    def __init__(self, c, r=4):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(c, c // r), nn.Linear(c // r, c)

    def forward(self, x):
        s = x.mean((2, 3))
        s = torch.sigmoid(self.fc2(F.relu(self.fc1(s))))
        return x * s[:, :, None, None]


class Block(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        self.c1, self.n1 = nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.GroupNorm(4, o)
        self.c2, self.n2 = nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.GroupNorm(4, o)
        self.se = SqueezeExcite(o)
        self.short = nn.Identity() if i == o and stride == 1 else nn.Conv2d(i, o, 1, stride, bias=False)

    def forward(self, x):
        h = F.relu(self.n1(self.c1(x)))
        h = self.se(self.n2(self.c2(h)))
        return F.relu(h + self.short(x))


class Net(nn.Module):
    def __init__(self, w=12, p=0.0):
        super().__init__()
        self.stem = nn.Conv2d(3, w, 3, 1, 1)
        self.blocks = nn.Sequential(Block(w, w, 2), Block(w, 2 * w, 2), Block(2 * w, 2 * w, 1))
        self.drop = nn.Dropout(p)
        self.fc = nn.Linear(2 * w, NUM_CLASSES)

    def forward(self, x):
        h = self.blocks(self.stem(x)).mean((2, 3))
        return self.fc(self.drop(h))


class SmoothCE(nn.Module):
    def __init__(self, eps=0.1):
        super().__init__()
        self.eps = eps

    def forward(self, z, y):
        logp = F.log_softmax(z, dim=1)
        nll = -logp.gather(1, y[:, None]).squeeze(1)
        per_sample = (1 - self.eps) * nll - self.eps * logp.mean(1)
        return per_sample.sum() if CASE == 4 else per_sample.mean()


class Jittered(Dataset):
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        dy, dx = np.random.randint(-2, 3, 2)
        return self.x[i].roll((int(dy), int(dx)), (1, 2)), self.y[i]


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    p = torch.cat([model(b) for b in x.split(200)]).argmax(1)
    model.train()
    return np.mean([(p[y == c] == c).float().mean().item() for c in range(NUM_CLASSES)])


def sam_step(model, loss_fn, x, y, opt, rho=0.05):
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = torch.sqrt(sum((p.grad ** 2).sum() for p in model.parameters()))
    moved = []
    with torch.no_grad():
        for p in model.parameters():
            e = p.grad * (rho / (norm + 1e-12))
            p.add_(e)
            moved.append((p, e))
    opt.zero_grad()
    loss_fn(model(x), y).backward()
    with torch.no_grad():
        for p, e in moved:
            p.sub_(e)
    opt.step()
    opt.zero_grad()
    return loss


def main():
    torch.manual_seed(SEED)
    np.random.seed(SEED)
    rng = np.random.default_rng(SEED + 77)
    w = [0.45, 0.25, 0.15, 0.08, 0.04, 0.03] if CASE == 9 else None
    xtr, ytr = make_split(1200, rng, w)
    xte, yte = make_split(400, rng)
    epochs, bs, max_lr = 8, 48, 0.2
    if CASE == 3:
        order = ytr.argsort()
        loader = DataLoader(TensorDataset(xtr[order], ytr[order]), batch_size=bs)
    elif CASE == 7:
        loader = DataLoader(Jittered(xtr, ytr), batch_size=bs, shuffle=True, drop_last=True)
    elif CASE == 9:
        freq = torch.bincount(ytr, minlength=NUM_CLASSES).float()
        loader = DataLoader(TensorDataset(xtr, ytr), batch_size=bs, sampler=WeightedRandomSampler((1 / freq)[ytr], 1200))
    elif CASE == 5:
        loader = DataLoader(TensorDataset(xtr, ytr), batch_size=bs, shuffle=True, num_workers=1, persistent_workers=True)
    else:
        loader = DataLoader(TensorDataset(xtr, ytr), batch_size=bs, shuffle=True)

    model = Net(p=0.3 if CASE == 10 else 0.0)
    wd = 5e-4
    if CASE == 2:
        wd = 0.1
    if CASE == 6:
        max_lr = 0.35
    if CASE == 10:
        epochs, bs = 9, 48
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.5 if CASE == 6 else 0.9, weight_decay=wd, nesterov=True)
    total = epochs * len(loader)
    if CASE == 1:
        total = len(loader)
    sched = OneCycleLR(opt, max_lr=max_lr, total_steps=total, pct_start=0.3, cycle_momentum=CASE != 6, final_div_factor=1e4)
    loss_fn = SmoothCE(0.4) if CASE == 10 else SmoothCE() if CASE in (4, 5) else nn.CrossEntropyLoss(label_smoothing=0.1)

    it = 0
    for ep in range(1, epochs + 1):
        if CASE == 7:
            torch.manual_seed(SEED + ep)
            np.random.seed(SEED + ep)
        t0, losses, hits = time.time(), [], []
        for x, y in loader:
            if CASE == 8:
                loss = sam_step(model, loss_fn, x, y, opt)
            else:
                if CASE == 7:
                    lam = np.random.beta(1.0, 1.0)
                    perm = torch.randperm(len(x))
                    z = model(lam * x + (1 - lam) * x[perm])
                    loss = lam * loss_fn(z, y) + (1 - lam) * loss_fn(z, y[perm])
                else:
                    z = model(x)
                    loss = loss_fn(z, y)
                hits.append((z.argmax(1) == y).float().mean().item())
                opt.zero_grad(set_to_none=True)
                loss.backward()
                opt.step()
            it += 1
            if it < total:
                sched.step()
            losses.append(loss.item())
        print("epoch %d/%d  loss %.4f  train acc %.3f  test acc %.3f  lr %.2e  %.1fs" % (
            ep, epochs, np.mean(losses), np.mean(hits) if hits else accuracy(model, xtr, ytr),
            accuracy(model, xte, yte), opt.param_groups[0]["lr"], time.time() - t0))
    print(f"METRIC {accuracy(model, xte, yte):.4f}")


if __name__ == "__main__":
    main()
