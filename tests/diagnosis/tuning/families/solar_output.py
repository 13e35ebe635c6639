"""Hourly output of rooftop solar plants: the last two days in, the next hours out (transformer encoder)."""
import copy
import math
import os

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
np.random.seed(SEED)
torch.manual_seed(SEED)

WINDOW, HORIZON = 24, 1 if CASE == 8 else 4


def simulate(days, n_plants=4):
    """[plants, hours, 4]: power (kW), cloud cover (%), temperature, pressure; output is lower late in the year"""
    hours = np.arange(days * 24)
    hod = hours % 24
    out = []
    for p in range(n_plants):
        cap = np.random.uniform(60, 90)
        season = 1.0 - 0.6 * hours / hours[-1]
        clear = np.clip(np.sin((hod - 6) / 12 * np.pi), 0, None)
        c = np.zeros(len(hours))
        for i in range(1, len(hours)):
            c[i] = 0.93 * c[i - 1] + 0.35 * np.random.randn()
        cloud = 100 / (1 + np.exp(-1.5 * c))
        noise = 6.0 if CASE == 5 else 0.6
        wobble = 1.0
        if CASE == 5:
            wobble = np.random.gamma(2.5, 0.4, len(hours))
        power = cap * season * clear * (1 - 0.8 * cloud / 100) * wobble + noise * (clear > 0) * np.random.randn(len(hours))
        temp = 14 + 8 * clear + 6 * season + np.random.randn(len(hours))
        pres = 1013 + np.cumsum(np.random.randn(len(hours)) * 0.2)
        out.append(np.stack([np.clip(power, 0, None), cloud, temp, pres], -1))
    return np.stack(out).astype(np.float32)


raw = simulate(48)
if CASE == 9:
    # logger restarts
    gone = np.random.rand(*raw.shape[:2]) < 0.005
    raw[gone] = -9999.0
split = int(raw.shape[1] * (0.35 if CASE == 10 else 0.75))
train_raw, val_raw = raw[:, :split], raw[:, split:]
mu, sd = train_raw.reshape(-1, 4).mean(0), train_raw.reshape(-1, 4).std(0)


def normalise(a):
    if CASE == 7:
        m, s = a.reshape(-1, 4).mean(0), a.reshape(-1, 4).std(0)
        return (a - m) / s
    return (a - mu) / sd


def features(a):
    z = normalise(a)
    hod = np.arange(a.shape[1]) % 24
    clock = np.stack([np.sin(hod / 24 * 2 * np.pi), np.cos(hod / 24 * 2 * np.pi)], -1)
    clock = np.broadcast_to(clock, a.shape[:2] + (2,))
    smooth = np.zeros(a.shape[:2] + (1,))
    k = 9
    for p in range(a.shape[0]):
        if CASE == 6:
            smooth[p, :, 0] = np.convolve(z[p, :, 0], np.ones(k) / k, mode="same")
        else:
            smooth[p, k - 1:, 0] = np.convolve(z[p, :, 0], np.ones(k) / k, mode="valid")
    return np.concatenate([z, clock, smooth], -1).astype(np.float32)


def windows(a):
    f = features(a)
    xs, ys = [], []
    for p in range(a.shape[0]):
        for t in range(0, a.shape[1] - WINDOW - HORIZON, 1):
            xs.append(f[p, t:t + WINDOW])
            ys.append(f[p, t + WINDOW:t + WINDOW + HORIZON, 0])
    x, y = torch.tensor(np.stack(xs)), torch.tensor(np.stack(ys))
    if CASE == 8:
        y = y[:, 0]
    return x, y


Xtr, Ytr = windows(train_raw)
Xva, Yva = windows(val_raw)
if CASE == 10:
    Xtr, Ytr = Xtr[::4], Ytr[::4]


class Forecaster(nn.Module):
    def __init__(self, dim=32, heads=4, layers=2, quantiles=1):
        super().__init__()
        self.inp = nn.Linear(7, dim)
        self.pos = nn.Parameter(0.02 * torch.randn(1, WINDOW, dim))
        layer = nn.TransformerEncoderLayer(dim, heads, 64, dropout=0.0 if CASE == 10 else 0.05, batch_first=CASE != 11)
        self.enc = nn.TransformerEncoder(layer, layers)
        self.out = nn.Linear(dim, HORIZON * quantiles)
        mask = torch.full((WINDOW, WINDOW), float("-inf")).triu(1)
        self.register_buffer("mask", mask if CASE == 4 else None)

    def states(self, x):
        return self.enc(self.inp(x) + self.pos, mask=self.mask)

    def forward(self, x):
        return self.out(self.states(x)[:, -1])


class Trainer:
    def __init__(self, model, lr=2e-3, epochs=4, bs=64):
        self.model, self.epochs, self.bs = model, epochs, bs
        self.opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=lr)
        per_epoch = math.ceil(len(Xtr) / bs)
        total = per_epoch * epochs
        if CASE == 12:
            self.sched = torch.optim.lr_scheduler.OneCycleLR(self.opt, max_lr=lr, total_steps=total)
        elif CASE == 10:
            self.sched = torch.optim.lr_scheduler.LambdaLR(self.opt, lambda s: 1.0)
        else:
            self.sched = torch.optim.lr_scheduler.LambdaLR(
                self.opt, lambda s: min((s + 1) / 30, 0.5 * (1 + math.cos(math.pi * min(s, total) / total))) + 1e-3)
        self.ema = copy.deepcopy(model).requires_grad_(False) if CASE == 1 else None
        self.best, self.best_state = float("inf"), None

    def loss(self, x, y):
        if CASE == 2:
            q = torch.tensor([0.1, 0.5, 0.9])
            e = y[..., None] - self.model(x).view(len(x), HORIZON, 3)
            return torch.maximum(q * e, (q - 1) * e).mean()
        if CASE == 4:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                pred = self.model(x)
            return F.mse_loss(pred.float(), y)
        return F.mse_loss(self.model(x), y)

    @torch.no_grad()
    def validate(self):
        net = self.ema or self.model
        net.eval()
        pred = torch.cat([net(b) for b in Xva.split(256)])
        if CASE == 2:
            pred = pred.view(len(pred), HORIZON, 3)[..., 1]
        net.train()
        pred, truth = pred.reshape(-1) * sd[0] + mu[0], Yva.reshape(-1) * sd[0] + mu[0]
        if CASE == 7:
            truth = torch.tensor(np.concatenate([val_raw[p, t + WINDOW:t + WINDOW + HORIZON, 0] for p in range(len(val_raw))
                                                 for t in range(val_raw.shape[1] - WINDOW - HORIZON)]))
        good = truth > -1000
        return (pred - truth)[good].pow(2).mean().sqrt().item()

    def fit(self):
        step = 0
        for epoch in range(self.epochs):
            for idx in torch.randperm(len(Xtr)).split(self.bs):
                loss = self.loss(Xtr[idx], Ytr[idx])
                self.opt.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 0.05 if CASE == 4 else 1.0)
                self.opt.step()
                if CASE != 12:
                    self.sched.step()
                if self.ema is not None:
                    d = min(0.98, (1 + step) / (10 + step))
                    for a, b in zip(self.ema.parameters(), self.model.parameters()):
                        a.lerp_(b, 1 - d)
                if step % 25 == 0:
                    print(f"step {step:4d} loss {loss.item():.4f}")
                step += 1
            if CASE == 12:
                self.sched.step()
            rmse = self.validate()
            if rmse < self.best:
                self.best = rmse
                net = self.ema or self.model
                self.best_state = net.state_dict() if CASE == 10 else copy.deepcopy(net.state_dict())
            print(f"epoch {epoch} val rmse {rmse:.2f} kW (best {self.best:.2f})")
        (self.ema or self.model).load_state_dict(self.best_state)
        print(f"restored best, val rmse {self.validate():.2f} kW, val power sd {val_raw[..., 0].std():.2f}")


model = Forecaster(quantiles=3 if CASE == 2 else 1)
if CASE == 3:
    # the body comes from the other plants, only a new read-out is fitted here
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    n = len(Xtr) // 2
    for i in range(150):
        idx = torch.randint(n, (64,))
        loss = F.mse_loss(model(Xtr[idx]), Ytr[idx])
        opt.zero_grad(); loss.backward(); opt.step()
        if i % 30 == 0:
            print(f"other plants {i} {loss.item():.4f}")
    Xtr, Ytr = Xtr[n:], Ytr[n:]
    model.out = nn.Linear(32, HORIZON)
    for name, p in model.named_parameters():
        p.requires_grad_(name.startswith("out"))
    Trainer(model, lr=2e-2, epochs=5).fit()
else:
    if CASE == 10:
        Trainer(model, lr=3e-3, epochs=16, bs=32).fit()
    elif CASE == 1:
        Trainer(model, lr=6e-3, bs=16, epochs=2).fit()
    else:
        Trainer(model).fit()
