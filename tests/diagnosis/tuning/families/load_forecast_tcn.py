"""Hourly load of twelve meters: dilated 1-D convolutions, each window normalised by its own mean and deviation."""
import math
import os
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
np.random.seed(SEED)
torch.manual_seed(SEED)
torch.set_num_threads(1)

LOOKBACK = 48
HORIZON = 1 if CASE in (1, 2, 7) else 6
DENSE = CASE in (2, 7)
LR = 2e-3
EPOCHS = 7
BATCH = 96


def make_series(n_hours=900, n_meters=12, seed=0):
    r = np.random.RandomState(seed)
    t = np.arange(n_hours)
    out = []
    for m in range(n_meters):
        level = math.exp(r.uniform(3, 6))
        temp = 10 + 6 * np.sin(2 * np.pi * (t - 9) / 24) + np.cumsum(r.randn(n_hours)) * 0.15
        day = np.sin(2 * np.pi * (t - r.uniform(5, 9)) / 24) + 0.5 * np.sin(4 * np.pi * t / 24 + r.uniform(0, 6))
        ar = np.zeros(n_hours)
        for k in range(2, n_hours):
            ar[k] = 1.2 * ar[k - 1] - 0.4 * ar[k - 2] + 0.12 * r.randn()
        load = level * (1 + 0.25 * day + 0.2 * ar - 0.02 * (temp - 10))
        if CASE == 8:
            hit = r.rand(n_hours) < 0.01
            load = load + hit * level * r.standard_t(1.5, n_hours)
        if CASE == 4 and m == 3:
            load[300:420] = 0.0                # meter was off
        hour = 2 * np.pi * t / 24
        out.append(np.stack([load, temp, np.sin(hour), np.cos(hour)], 1))
    return np.stack(out).astype(np.float32)


class WindowDataset(Dataset):
    def __init__(self, data, lo, hi, stride, stats=None):
        self.data, self.stats = data, stats
        self.index = [(m, s) for m in range(len(data)) for s in range(lo, hi - LOOKBACK - HORIZON, stride)]

    def __len__(self):
        return len(self.index)

    def __getitem__(self, i):
        m, s = self.index[i]
        x = self.data[m, s:s + LOOKBACK].copy()
        y = self.data[m, s + LOOKBACK:s + LOOKBACK + HORIZON, 0].copy()
        if DENSE:
            y = self.data[m, s + 1:s + LOOKBACK + 1, 0].copy()
        if self.stats is None:
            mu, sd = x[:, :2].mean(0), x[:, :2].std(0)
            if CASE != 4:
                sd = np.maximum(sd, 1e-3)
        else:
            mu, sd = self.stats
        x[:, :2] = (x[:, :2] - mu) / sd
        if CASE != 3:
            y = (y - mu[0]) / sd[0]
        if HORIZON == 1 and not DENSE:
            y = y[0]
        return x, y


class CausalConv(nn.Module):
    def __init__(self, i, o, k, d):
        super().__init__()
        self.pad = (k - 1) * d
        self.conv = nn.Conv1d(i, o, k, dilation=d)
        self.res = nn.Conv1d(i, o, 1) if i != o else nn.Identity()

    def forward(self, x):
        if CASE == 2:
            p = F.pad(x, (self.pad // 2, self.pad - self.pad // 2))
        else:
            p = F.pad(x, (self.pad, 0))
        return F.relu(self.conv(p)) + self.res(x)


class TCN(nn.Module):
    def __init__(self, c_in=4, width=20, horizon=HORIZON):
        super().__init__()
        self.blocks = nn.Sequential(*[CausalConv(c_in if k == 0 else width, width, 3, 2 ** k) for k in range(4)])
        self.head = nn.Linear(width, horizon)

    def forward(self, x):
        b, l, c = x.shape
        if CASE == 12:
            h = x.reshape(b, c, l)
        else:
            h = x.transpose(1, 2)
        h = self.blocks(h)
        if DENSE:
            return self.head(h.transpose(1, 2)).squeeze(-1)
        return self.head(h[:, :, -1])


def criterion(pred, y):
    if CASE == 8:
        return F.huber_loss(pred, y)
    return F.mse_loss(pred, y)


class Trainer:
    def __init__(self, model, train_loader, test_loader):
        self.model, self.train_loader, self.test_loader = model, train_loader, test_loader
        self.opt = self.make_opt()
        n = len(train_loader)
        if CASE == 9:
            self.sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(self.opt, T_0=2 * n)
        elif CASE == 5:
            self.sched = torch.optim.lr_scheduler.StepLR(self.opt, step_size=3, gamma=0.5)
        else:
            self.sched = torch.optim.lr_scheduler.StepLR(self.opt, step_size=3 * n, gamma=0.5)
        self.it = 0

    def make_opt(self):
        if CASE == 10:
            return torch.optim.SGD(self.model.parameters(), lr=0.03, momentum=0.9, nesterov=True)
        return torch.optim.Adam(self.model.parameters(), lr=LR)

    def train_step(self, x, y):
        self.model.train()
        if CASE == 6:
            self.opt = self.make_opt()
        pred = self.model(x)
        loss = criterion(pred, y)
        self.opt.zero_grad()
        loss.backward()
        if CASE in (8, 10):
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.opt.step()
        if CASE != 6:
            self.sched.step()
        self.it += 1
        return loss.item()

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        se, ae, var, n = 0.0, 0.0, 0.0, 0
        for x, y in self.test_loader:
            p = self.model(x)
            if DENSE:
                p, y = p[:, -1:], y[:, -1:]
            p = p.reshape(len(x), -1)
            y = y.reshape(len(x), -1)
            se += ((p - y) ** 2).sum().item()
            ae += (p - y).abs().sum().item()
            var += ((x[:, -1:, 0] - y) ** 2).sum().item()
            n += y.numel()
        return se / n, ae / n, var / n

    def fit(self, epochs):
        for e in range(epochs):
            losses = [self.train_step(x, y) for x, y in self.train_loader]
            mse, mae, naive = self.evaluate()
            print(f"[{e}] it {self.it} train {np.mean(losses):.4f} last {losses[-1]:.4f} | test mse {mse:.4f} mae {mae:.4f} (last value: {naive:.4f})")
            sys.stdout.flush()


series = make_series(seed=SEED + 1)
train_ds = WindowDataset(series, 0, 650, 2)
stats = None
if CASE == 11:
    flat = series[:, :650, :2].reshape(-1, 2)
    stats = (flat.mean(0), flat.std(0))
test_ds = WindowDataset(series, 650, 900, 5, stats)
Trainer(TCN(), DataLoader(train_ds, BATCH, shuffle=True, drop_last=True), DataLoader(test_ds, 200)).fit(EPOCHS)
