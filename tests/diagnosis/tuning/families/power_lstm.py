import os
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
WINDOW = 24
HIDDEN = 32


def make_series(length, rng):
    t = np.arange(length)
    daily = np.sin(2 * np.pi * t / 24) + 0.5 * np.sin(4 * np.pi * t / 24 + 1.0)
    weekly = 0.6 * np.sign(np.sin(2 * np.pi * t / 168))
    slow = np.zeros(length)
    for i in range(1, length):
        slow[i] = 0.97 * slow[i - 1] + 0.15 * rng.randn()
    temp = slow + 0.1 * rng.randn(length)
    load = 520 + 90 * (daily * (1 + 0.4 * np.tanh(slow)) + weekly + 0.7 * np.roll(slow, 3)) + (55 if CASE == 2 else 9) * rng.randn(length)
    return np.stack([load, 12 + 8 * temp], 1).astype(np.float32)


def make_windows(series, stats):
    m, s = stats
    z = (series - m) / s
    xs, ys = [], []
    for i in range(len(z) - WINDOW - 1):
        if CASE == 9:
            xs.append(z[i + 1:i + 1 + WINDOW])
        else:
            xs.append(z[i:i + WINDOW])
        ys.append(z[i + WINDOW, 0])
    return torch.tensor(np.array(xs)), torch.tensor(np.array(ys)).unsqueeze(1)


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        if CASE == 5:
            self.cells = [nn.LSTM(2, HIDDEN, batch_first=True), nn.LSTM(HIDDEN, HIDDEN, batch_first=True), nn.Linear(HIDDEN, HIDDEN)]
            self.out = nn.Linear(HIDDEN, 1)
            return
        self.rnn = nn.LSTM(2, HIDDEN, num_layers=2 if CASE == 11 else 1, batch_first=CASE != 7)
        self.head = nn.Sequential(nn.Linear(HIDDEN, 32), nn.ReLU(), nn.Linear(32, 1))
        if CASE == 10:
            self.head.add_module("act", nn.ReLU())

    def forward(self, x):
        if CASE == 5:
            h, _ = self.cells[0](x)
            h, _ = self.cells[1](h)
            return self.out(torch.relu(self.cells[2](h[:, -1])))
        h, _ = self.rnn(x)
        last = h[:, -1]
        if CASE == 11:
            last = torch.tensor(last.tolist())
        return self.head(last)


def train_epoch(model, opt, X, Y, batch):
    model.train()
    perm = torch.randperm(len(X))
    total = 0.0
    for i in range(0, len(X) - batch + 1, batch):
        b = perm[i:i + batch]
        pred = model(X[b])
        loss = ((pred - Y[b]) ** 2).mean()
        if CASE != 6:
            opt.zero_grad()
        loss.backward()
        if CASE == 3:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if CASE == 8:
            nn.utils.clip_grad_norm_(model.parameters(), 1e-3)
        opt.step()
        total += loss.item() * len(b)
    return total / len(X)


@torch.no_grad()
def score(model, X, Y):
    model.eval()
    p = torch.cat([model(X[i:i + 64]) for i in range(0, len(X) - 63, 64)])
    return ((p - Y[:len(p)]) ** 2).mean().item()


@torch.no_grad()
def day_ahead(model, series, stats, start, hours=12):
    m, s = stats
    z = torch.tensor((series - m) / s)
    hist = z[start - WINDOW:start].clone()
    err = 0.0
    for k in range(hours):
        window = hist[-WINDOW:].unsqueeze(0)
        if CASE == 7:
            window = window.repeat(64, 1, 1)
        nxt = model(window)[0]
        err += (nxt - z[start + k, 0]).abs().item()
        hist = torch.cat([hist, torch.stack([nxt[0], z[start + k, 1]]).unsqueeze(0)])
    return err / hours


def main():
    torch.manual_seed(SEED)
    rng = np.random.RandomState(SEED)
    series = make_series(2400, rng)
    stats = (series[:1900].mean(0), series[:1900].std(0))
    X, Y = make_windows(series[:1900], stats)
    VX, VY = make_windows(series[1900:], stats)
    model = Forecaster()
    batch, epochs = 32, 12
    if CASE == 3:
        opt = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.8)
    elif CASE in (6, 8):
        opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.8)
    elif CASE == 4:
        opt = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=1e-4)
        batch, epochs = 8, 4
    elif CASE == 1:
        opt = torch.optim.RMSprop(model.parameters(), lr=2e-3)
    else:
        opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    for ep in range(epochs):
        tl = train_epoch(model, opt, X, Y, batch)
        print("epoch %2d  train mse %.4f  val mse %.4f" % (ep, tl, score(model, VX, VY)))
    errs = [day_ahead(model, series, stats, s) for s in range(2000, 2380, 60)]
    print("12 hour rollout, mean abs error: %.3f" % np.mean(errs))


main()
