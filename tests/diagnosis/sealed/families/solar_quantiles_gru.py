"""Probabilistic forecast of the output of a few solar plants: GRU encoder, quantile head, own trainer class."""
import os

import numpy as np
import torch
from torch import nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
np.random.seed(SEED)
torch.manual_seed(SEED)
torch.set_num_threads(1)

QUANTILES = [0.1, 0.5, 0.9]
WINDOW = 24


def make_plants(n_plants=5, days=120):
    rng = np.random.RandomState(SEED + 17)
    t = np.arange(days * 24)
    hour, day = t % 24, t / 24.0
    season = 0.75 + 0.25 * np.cos(2 * np.pi * day / 240.0)
    clear = np.clip(np.sin((hour - 5) / 14.0 * np.pi), 0, None) * ((hour > 5) & (hour < 19)) * season
    weather = np.zeros(len(t))
    for i in range(1, len(t)):
        weather[i] = 0.97 * weather[i - 1] + 0.25 * rng.randn()
    power = []
    for size in np.linspace(0.3, 1.0, n_plants):
        local = np.convolve(rng.randn(len(t)), np.ones(4) / 4, mode="same")
        cloud = 1 / (1 + np.exp(-(1.2 * weather + 0.6 * local)))
        power.append(size * np.clip(clear * (0.25 + 0.75 * cloud), 0, None))
    return np.stack(power).astype(np.float32), clear.astype(np.float32), hour


class Scaler:
    def fit(self, a):
        self.lo, self.hi = float(np.nanmin(a)), float(np.nanmax(a))
        return self

    def transform(self, a):
        return (a - self.lo) / (self.hi - self.lo)

    def inverse(self, a):
        return a * (self.hi - self.lo) + self.lo


class QuantileNet(nn.Module):
    def __init__(self, n_in, horizon, hidden=40):
        super().__init__()
        self.horizon = horizon
        self.gru = nn.GRU(n_in, hidden, batch_first=True)
        self.head = nn.Sequential(nn.Linear(hidden + 2 * horizon, 64), nn.ReLU(), nn.Linear(64, horizon * len(QUANTILES)))

    def forward(self, past, ahead):
        _, h = self.gru(past)
        out = self.head(torch.cat([h[-1], ahead.flatten(1)], 1))
        return out.view(-1, self.horizon, len(QUANTILES))


def pinball(pred, target, weight=None):
    total = 0.0
    for i, q in enumerate(QUANTILES):
        err = target - pred[..., i]
        part = torch.maximum(q * err, (q - 1) * err)
        total = total + ((part * weight).sum() / weight.sum() if weight is not None else part.mean())
    return total / len(QUANTILES)


class Experiment:
    def __init__(self):
        self.horizon = 1 if CASE in (1, 8) else 8
        power, clear, hour = make_plants()
        self.clear, self.hour = clear, hour
        cut, end = 70 * 24, power.shape[1]
        raw = power * 1000.0                                    # kW
        if CASE == 7:
            off = np.random.RandomState(5).rand(*raw.shape) < 0.01
            raw[off] = -9999.0
        if CASE == 11:
            gap = np.random.RandomState(5).rand(*raw.shape) < 0.05
            raw[gap] = np.nan
        self.scaler = Scaler().fit(raw[:, :cut])
        train, test = raw[:, :cut], raw[:, cut:]
        if CASE == 2:
            self.train = self.scaler.transform(train)
            self.test = np.stack([Scaler().fit(row).transform(row) for row in test])
        else:
            self.train, self.test = self.scaler.transform(train), self.scaler.transform(test)
        self.cut, self.end = cut, end
        self.net = QuantileNet(3, self.horizon)
        if CASE == 9:
            self.opt = torch.optim.SGD(self.net.parameters(), lr=0.3, momentum=0.9, nesterov=True)
        else:
            self.opt = torch.optim.Adam(self.net.parameters(), lr=3e-3)
        if CASE == 4:
            self.plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(self.opt, mode="max", factor=0.1, patience=0)
        else:
            self.plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(self.opt, mode="min", factor=0.5, patience=3)
        self.running = 0.0
        self.rng = np.random.RandomState(SEED + 1)

    def windows(self, series, offset, plants, starts):
        past, ahead, future = [], [], []
        for p, s in zip(plants, starts):
            e, h = s + WINDOW, s + WINDOW + self.horizon
            clock = np.sin(2 * np.pi * self.hour[offset + s:offset + e] / 24)
            past.append(np.stack([series[p, s:e], self.clear[offset + s:offset + e], clock], 1))
            known = self.clear[offset + e:offset + h]
            extra = series[p, e:h] if CASE == 5 else np.cos(2 * np.pi * self.hour[offset + e:offset + h] / 24)
            ahead.append(np.stack([known, extra], 1))
            future.append(series[p, e] if CASE == 1 else series[p, e:h])
        past, ahead, future = (torch.tensor(np.array(a), dtype=torch.float32) for a in (past, ahead, future))
        weight = None
        if CASE == 6:
            future = self.scaler.inverse(future) * 1000.0       # the grid operator wants watts
        if CASE == 11:
            weight = torch.isfinite(future).float()
            past, future = torch.nan_to_num(past, 0.0), torch.nan_to_num(future, 0.0)
        return past, ahead, future, weight

    def random_batch(self, size):
        room = self.train.shape[1] - WINDOW - self.horizon
        return self.windows(self.train, 0, self.rng.randint(0, len(self.train), size), self.rng.randint(0, room, size))

    def probe(self):
        room = self.test.shape[1] - WINDOW - self.horizon
        starts = np.tile(np.arange(0, room, 29), len(self.test))
        plants = np.repeat(np.arange(len(self.test)), len(np.arange(0, room, 29)))
        return self.windows(self.test, self.cut, plants, starts)

    def evaluate(self):
        self.net.eval()
        past, ahead, future, weight = self.probe()
        with torch.no_grad():
            pred = self.net(past, ahead)
            loss = pinball(pred, future, weight).item()
            if CASE == 6:
                kw = (pred[..., 1] - future).abs().mean().item() / 1000.0
                cover = (future < pred[..., 2]).float().mean().item()
            elif weight is None:
                kw = (self.scaler.inverse(pred[..., 1]) - self.scaler.inverse(future.view(pred.shape[:-1]))).abs().mean().item()
                cover = (future.view(pred.shape[:-1]) < pred[..., 2]).float().mean().item()
            else:
                kw = (((pred[..., 1] - future).abs() * weight).sum() / weight.sum()).item() * (self.scaler.hi - self.scaler.lo)
                cover = float("nan")
        self.net.train()
        return loss, kw, cover

    def fit(self, epochs=9, per_epoch=35):
        size = 8 if CASE == 10 else 48
        watch = [t[::8] for t in self.probe()[:3]] if CASE == 3 else None
        if CASE == 12:
            cycle = torch.optim.lr_scheduler.OneCycleLR(self.opt, max_lr=1e-2, total_steps=epochs * per_epoch)
        for epoch in range(epochs):
            seen = []
            for _ in range(per_epoch):
                past, ahead, future, weight = self.random_batch(size)
                self.opt.zero_grad()
                loss = pinball(self.net(past, ahead), future, weight)
                loss.backward()
                if CASE == 9:
                    nn.utils.clip_grad_norm_(self.net.parameters(), 0.05)
                self.opt.step()
                seen.append(loss.item())
                if watch is not None:
                    self.running = self.running + pinball(self.net(watch[0], watch[1]), watch[2])
                if CASE == 12:
                    cycle.step()
            val, kw, cover = self.evaluate()
            if CASE != 12:
                self.plateau.step(val)
            lr = self.opt.param_groups[0]["lr"]
            note = f" running {float(self.running):.2f}" if watch is not None else ""
            print(f"epoch {epoch}: train {np.mean(seen):.4f} test {val:.4f} MAE {kw:.1f} kW below-q90 {cover:.2f} lr {lr:.1e}{note}")


if __name__ == "__main__":
    Experiment().fit()
