"""Predict tomato yield (grams per plant and season) from greenhouse records."""
import math
import os

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)


def make_records(n=7000):
    year = np.sort(rng.integers(2010, 2022, n))
    temp = rng.normal(21, 2.5, n) + 0.28 * (year - 2010)
    light = rng.gamma(6.0, 2.2, n)
    co2 = rng.normal(520, 110, n) + 14 * (year - 2010)
    water = rng.uniform(1.0, 4.5, n)
    ec = rng.normal(2.8, 0.6, n)
    density = rng.uniform(1.8, 3.6, n)
    humidity = rng.uniform(45, 95, n)
    stem = rng.normal(10, 1.5, n)
    opt_temp = 22 + 0.18 * (light - 13)
    g = np.exp(-((temp - opt_temp) / 4.0) ** 2)
    sat = light / (light + 9) * (co2 / (co2 + 400))
    stress = 1 / (1 + np.exp(-(water - 0.11 * light - 0.5) * 2.5))
    salt = np.exp(-np.clip(ec - 3.0, 0, None) * 0.9)
    y = 9000 * g * sat * stress * salt * (1 - 0.12 * (density - 2.6) ** 2)
    y = y * np.where(humidity > 85, 0.75, 1.0) + rng.normal(0, 260, n)
    if CASE == 1:
        y = y + rng.standard_t(2, n) * 120
    X = np.stack([temp, light, co2, water, ec, density, humidity, stem], 1)
    return X.astype(np.float32), y.astype(np.float32), year


X, y, year = make_records()
if CASE == 4:
    tr, va = year < 2019, year >= 2019
else:
    va = rng.random(len(X)) < 0.2
    tr = ~va
mu, sd = X[tr].mean(0), X[tr].std(0)
ymu, ysd = y[tr].mean(), y[tr].std()
Xtr = (X[tr] - mu) / sd
Xva = (X[va] - mu) / sd
if CASE == 4:
    Xva = (X[va] - X[va].mean(0)) / X[va].std(0)
if CASE == 3:
    ymu, ysd = 0.0, 1.0
ytr = (y[tr] - ymu) / ysd

t = torch.from_numpy
targets = t(ytr) if CASE == 2 else t(ytr)[:, None]
loader = DataLoader(TensorDataset(t(Xtr), targets), batch_size=64, shuffle=True)


def act():
    return nn.Identity() if CASE == 5 else nn.ReLU()


net = nn.Sequential(
    nn.Linear(8, 64), act(),
    nn.Linear(64, 64), act(),
    nn.Linear(64, 1),
)
epochs = 12
if CASE == 1:
    criterion = nn.SmoothL1Loss(beta=0.5)
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs * len(loader))
else:
    criterion = nn.MSELoss()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    sched = None


def r2(pred, truth):
    return 1 - ((pred - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum()


print(f"train {tr.sum()} rows, validation {va.sum()} rows, {len(loader)} batches per epoch")
for epoch in range(1, epochs + 1):
    net.train()
    total, n = 0.0, 0
    for xb, yb in loader:
        opt.zero_grad()
        out = net(xb)
        loss = criterion(out, yb)
        loss.backward()
        if CASE == 1:
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        opt.step()
        if sched is not None:
            sched.step()
        total += loss.item() * len(xb)
        n += len(xb)
    net.eval()
    with torch.no_grad():
        pred = net(t(Xva.astype(np.float32))).numpy()[:, 0] * ysd + ymu
    mae = np.abs(pred - y[va]).mean()
    print(f"epoch {epoch:2d}  train loss {total / n:.4f}  val MAE {mae:7.1f} g  "
          f"rmse {math.sqrt(((pred - y[va]) ** 2).mean()):7.1f}  R2 {r2(pred, y[va]):.3f}")
