"""Daily sales of 40 shops: look at 28 days, forecast what comes next.

LSTM or a small transformer, windows cut from every series.
"""
import copy
import math
import os
import random

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))


def seed_all(s):
    random.seed(s)
    np.random.seed(s)
    torch.manual_seed(s)


def make_series(n_shops=40, days=200):
    t = np.arange(days)
    out = []
    for _ in range(n_shops):
        week = np.random.uniform(0.6, 1.4, 7)
        week[np.random.randint(7)] *= 1.8
        level = np.random.uniform(0.8, 1.2) + np.random.uniform(-0.15, 0.25) * t / days
        month = 1 + 0.15 * np.sin(2 * math.pi * t / 30.4 + np.random.uniform(0, 6))
        e = np.zeros(days)
        for i in range(1, days):
            e[i] = 0.6 * e[i - 1] + 0.06 * np.random.randn()
        s = level * week[t % 7] * month * np.exp(e)
        out.append(s / s[:28].mean())
    return torch.tensor(np.array(out), dtype=torch.float32)


LOOK = 28


def windows(series, start, stop, stride=5):
    xs, ys = [], []
    for s in series:
        for i in range(start, stop - LOOK - 1, stride):
            if CASE == 5:
                xs.append(s[i + 1:i + LOOK + 1])
            else:
                xs.append(s[i:i + LOOK])
            ys.append(s[i + 1:i + LOOK + 1])
    return torch.stack(xs).unsqueeze(-1) - 1.0, torch.stack(ys) - 1.0


class SalesLSTM(nn.Module):
    def __init__(self, hidden=40, outputs=1):
        super().__init__()
        self.front = nn.Conv1d(1, 24, 8)
        self.rnn = nn.LSTM(24, hidden, batch_first=True)
        self.head = nn.Sequential(nn.Linear(hidden, 32), nn.GELU(), nn.Linear(32, outputs))

    def forward(self, x):
        e = self.front(nn.functional.pad(x.transpose(1, 2), (7, 0))).transpose(1, 2)
        h, _ = self.rnn(e)
        return self.head(h).squeeze(-1)


class SalesTransformer(nn.Module):
    def __init__(self, d=32, heads=4, layers=2, causal=True):
        super().__init__()
        self.inp = nn.Conv1d(1, d, 8)
        self.pos = nn.Parameter(torch.randn(1, LOOK, d) * 0.1)
        layer = nn.TransformerEncoderLayer(d, heads, 64, dropout=0.0, batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, layers)
        self.out = nn.Linear(d, 1)
        self.causal = causal

    def forward(self, x):
        n = x.shape[1]
        m = torch.triu(torch.full((n, n), float("-inf")), 1) if self.causal else None
        e = self.inp(nn.functional.pad(x.transpose(1, 2), (7, 0))).transpose(1, 2)
        return self.out(self.enc(e + self.pos[:, :n], m)).squeeze(-1)


def pinball(pred, y, qs=(0.1, 0.5, 0.9)):
    e = y.unsqueeze(-1) - pred
    q = torch.tensor(qs)
    return torch.maximum(q * e, (q - 1) * e).mean()


@torch.no_grad()
def test_mae(model, series, first_day):
    """rolls one week ahead, feeding its own forecasts back"""
    model.eval()
    hist = series[:, first_day - LOOK:first_day] - 1.0
    truth = series[:, first_day:first_day + 7] - 1.0
    for _ in range(7):
        p = model(hist[:, -LOOK:].unsqueeze(-1))[:, -1]
        if p.dim() == 2:
            p = p[:, 1]
        hist = torch.cat([hist, p.float().unsqueeze(1)], 1)
    model.train()
    return (hist[:, -7:] - truth).abs().mean().item()


def train(model, loader, val, series, epochs, opt, loss_fn, sched=None, sched_every="epoch"):
    ema = copy.deepcopy(model) if CASE == 3 else None
    step = 0
    history = []
    running = 0
    for epoch in range(epochs):
        for x, y in loader:
            if CASE == 8:
                opt = torch.optim.Adam(model.parameters(), lr=5e-3)
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=(CASE == 3)):
                pred = model(x)
            loss = loss_fn(pred.float(), y)
            opt.zero_grad()
            loss.backward()
            if CASE == 9:
                nn.utils.clip_grad_value_(model.parameters(), 1e-4)
            elif CASE in (1, 2):
                nn.utils.clip_grad_norm_(model.parameters(), 0.3)
            opt.step()
            if sched is not None and sched_every == "batch":
                sched.step()
            if ema is not None:
                d = min(0.98, (1 + step) / (10 + step))
                with torch.no_grad():
                    for a, b in zip(ema.parameters(), model.parameters()):
                        a.lerp_(b, 1 - d)
            step += 1
            if CASE == 4:
                fit = (model(x) - y).abs().mean()
                running = running + fit
                history.append(loss.item())
            else:
                running += loss.item()
                history.append(loss.item())
        if sched is not None and sched_every == "epoch":
            sched.step()
        with torch.no_grad():
            v = loss_fn((ema or model)(val[0]).float(), val[1]).item()
        print("epoch %2d step %4d loss %.5f val %.5f week-ahead mae %.4f lr %.2e" % (
            epoch, step, sum(history[-len(loader):]) / len(loader),
            v, test_mae(ema or model, series, 190), opt.param_groups[0]["lr"]))


def main():
    torch.set_num_threads(1)
    seed_all(SEED)
    series = make_series()
    tr = windows(series, 0, 150)
    va = windows(series, 150, 190, 3)
    loader = DataLoader(TensorDataset(*tr), batch_size=64, shuffle=True)
    loss_fn, sched, every, epochs = nn.MSELoss(), None, "epoch", 14
    if CASE in (1, 7):
        model = SalesTransformer(causal=(CASE == 1))
        epochs = 14
    elif CASE == 2:
        model, loss_fn = SalesLSTM(outputs=3), pinball
    else:
        model = SalesLSTM()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    if CASE in (1, 7):
        opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
        sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 40))
        every = "batch"
    if CASE == 11:
        opt = torch.optim.RMSprop(model.parameters(), lr=1e-2)
        sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.8)
    if CASE == 6:
        sched, every = torch.optim.lr_scheduler.StepLR(opt, step_size=5, gamma=0.5), "batch"
    if CASE == 9:
        opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    if CASE == 10:
        opt = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=0.5)
    train(model, loader, va, series, epochs, opt, loss_fn, sched, every)


if __name__ == "__main__":
    main()
