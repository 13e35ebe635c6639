# Hourly bike rentals from weather and calendar: a plain MLP on a table.
import os
import math
import torch
import numpy as np
import torch.nn as nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
np.random.seed(SEED)
torch.manual_seed(SEED)
torch.set_num_threads(1)

COLS = ["hour_sin", "hour_cos", "workday", "temp_c", "humidity", "wind_kmh", "pressure_pa", "visibility_m"]


def make_table(n):
    hour = np.random.randint(0, 24, n)
    work = (np.random.rand(n) < 0.7).astype(float)
    season = np.random.randint(0, 4, n)
    temp = 12 + 9 * np.sin(season * math.pi / 2 - 1) + 4 * np.random.randn(n)
    hum = np.clip(60 + 18 * np.random.randn(n), 10, 100)
    wind = np.abs(12 + 8 * np.random.randn(n))
    pres = 101300 + 900 * np.random.randn(n)
    vis = np.clip(16000 - 120 * hum + 2500 * np.random.randn(n), 500, None)
    commute = np.exp(-(hour - 8) ** 2 / 3) + 1.2 * np.exp(-(hour - 17.5) ** 2 / 4)
    leisure = np.exp(-(hour - 14) ** 2 / 18)
    mood = 1 / (1 + np.exp(-(temp - 10) / 4)) * np.exp(-np.maximum(hum - 70, 0) / 30) * np.exp(-np.maximum(wind - 15, 0) / 20)
    y = 30 + 620 * (work * commute + (1 - work) * leisure * 0.9) * (0.3 + mood) + 40 * (pres - 101300) / 900 * leisure
    y = np.maximum(y + 18 * np.random.randn(n), 0)
    X = np.stack([np.sin(hour * math.pi / 12), np.cos(hour * math.pi / 12), work, temp, hum, wind, pres, vis], 1)
    return X.astype(np.float32), season, y.astype(np.float32)


class RentalNet(nn.Module):
    def __init__(self, width=64, act=nn.ReLU, last=None):
        super().__init__()
        self.season = nn.Embedding(4, 4)
        layers, d = [], len(COLS) + 4
        for _ in range(3):
            layers.append(nn.Linear(d, width))
            if act is not None:
                layers.append(act())
            d = width
        layers.append(nn.Linear(d, 1))
        if last is not None:
            layers.append(last)
        self.mlp = nn.Sequential(*layers)

    def forward(self, x, s):
        return self.mlp(torch.cat([x, self.season(s)], 1))


def minibatches(n, size, shuffle=True):
    order = torch.randperm(n) if shuffle else torch.arange(n)
    for i in range(0, n, size):
        yield order[i:i + size]


X, S, y = make_table(2500)
if CASE == 3:
    hit = np.random.rand(2000) < 0.02
    y[:2000][hit] *= 6          # street festivals
if CASE == 8:
    # anemometer was broken on a few days
    X[np.random.choice(2000, 12, replace=False), 5] = np.nan
Xtr, Xva = X[:2000], X[2000:]
mu, sd = np.nanmean(Xtr, 0), np.nanstd(Xtr, 0)
if CASE != 7:
    Xtr, Xva = (Xtr - mu) / sd, (Xva - mu) / sd
ymu, ysd = y[:2000].mean(), y[:2000].std()
if CASE == 1:
    fwd, back = np.log1p, np.expm1
elif CASE == 6:
    fwd = back = lambda v: v
else:
    fwd, back = (lambda v: (v - ymu) / ysd), (lambda v: v * ysd + ymu)

Xtr, Xva = torch.tensor(Xtr), torch.tensor(Xva)
Str, Sva = torch.tensor(S[:2000]), torch.tensor(S[2000:])
ytr = torch.tensor(fwd(y[:2000]))
yva_raw = y[2000:]
if CASE != 5:
    ytr = ytr[:, None]


def report(tag, model, loss):
    model.eval()
    with torch.no_grad():
        p = back(model(Xva, Sva).squeeze(1).numpy())
    model.train()
    rmse = float(np.sqrt(np.mean((p - yva_raw) ** 2)))
    print(f"{tag:>10}  train {loss:.5f}  val rmse {rmse:8.2f}  (mean model {yva_raw.std():.1f})  pred range {p.min():.0f}..{p.max():.0f}")


model = RentalNet(act=None if CASE == 9 else (nn.Tanh if CASE == 2 else nn.ReLU), last=nn.ReLU() if CASE == 10 else None)
loss_fn = nn.SmoothL1Loss() if CASE == 3 else nn.MSELoss()

if CASE == 2:
    solver = torch.optim.LBFGS(model.parameters(), lr=1, max_iter=12, history_size=20, line_search_fn="strong_wolfe")

    def closure():
        solver.zero_grad()
        out = loss_fn(model(Xtr, Str), ytr) + 1e-5 * sum((p ** 2).sum() for p in model.parameters())
        out.backward()
        return out

    for it in range(22):
        value = solver.step(closure)
        report("lbfgs %d" % it, model, value.item())

elif CASE == 4:
    # whole table in one go, small rate, many rounds
    opt = torch.optim.Adam(model.parameters(), lr=8e-4)
    for it in range(700):
        loss = loss_fn(model(Xtr, Str), ytr)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 50 == 49:
            report("round %d" % (it + 1), model, loss.item())

else:
    epochs, size = 30, 64
    per_epoch = math.ceil(len(Xtr) / size)
    if CASE == 6:
        opt = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
    else:
        opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    sched = None
    if CASE == 1:
        opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-2)
        sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=1e-2, total_steps=epochs * per_epoch)
    if CASE == 12:
        opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=6 * per_epoch, eta_min=1e-5)
    for ep in range(epochs):
        total = 0.0
        for k in range(per_epoch) if CASE == 11 else minibatches(len(Xtr), size):
            idx = next(minibatches(len(Xtr), size, shuffle=False)) if CASE == 11 else k
            opt.zero_grad()
            loss = loss_fn(model(Xtr[idx], Str[idx]), ytr[idx])
            loss.backward()
            if CASE == 3:
                nn.utils.clip_grad_norm_(model.parameters(), 0.2)
            opt.step()
            if sched is not None:
                sched.step()
            total += loss.item()
        if ep % 3 == 2:
            report("epoch %d" % (ep + 1), model, total / per_epoch)
