import os
import sys
import time
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import TensorDataset, DataLoader

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

# River gauge, hourly: rain (mm), air temperature, level (cm). Forecast of the level.
WINDOW, AHEAD = 30, 6


def make_river(hours, seed):
    rng = np.random.RandomState(seed)
    rain = np.zeros(hours)
    t = 0
    while t < hours:
        t += int(rng.exponential(60)) + 1
        d = rng.randint(3, 14)
        rain[t:t + d] += rng.gamma(1.5, 1.6) * np.sin(np.linspace(0.2, 3.0, d))[: max(0, hours - t)]
    rain = np.maximum(rain + (rain > 0) * rng.normal(0, 0.2, hours), 0)
    h = np.arange(hours)
    temp = 9 + 7 * np.sin(2 * np.pi * h / 8766) + 4 * np.sin(2 * np.pi * (h - 9) / 24) + np.cumsum(rng.normal(0, 0.05, hours)) * 0.3
    soil, fast, slow = 0.3, 0.0, 40.0
    level = np.zeros(hours)
    lag = np.zeros(8)
    for i in range(hours):
        soil = np.clip(soil + 0.01 * rain[i] - 0.0015 * max(temp[i], 0) * 0.2, 0.05, 1.0)
        lag = np.roll(lag, 1)
        lag[0] = rain[i] * (0.3 + soil)
        fast = 0.93 * fast + 3.0 * lag[5]
        slow = 0.998 * slow + 0.15 * rain[i]
        gate = 6.0 if 7 <= i % 24 <= 10 or 17 <= i % 24 <= 20 else 0.0       # hydro power peaks
        level[i] = 250 + slow + fast + gate + rng.normal(0, 1.2)
    return np.stack([rain, temp, level, np.sin(2 * np.pi * h / 24), np.cos(2 * np.pi * h / 24)], 1)


class Scaler:
    def fit(self, a):
        self.m, self.s = a.mean(0), a.std(0) + 1e-8
        return self

    def apply(self, a):
        return (a - self.m) / self.s


def windows(feat, target, horizon, stride):
    """x: WINDOW hours that end at i, y: level at i + horizon"""
    xs, ys, last = [], [], []
    for i in range(WINDOW, len(feat) - horizon - WINDOW, stride):
        a = i - WINDOW
        if CASE == 7:
            a += horizon
        xs.append(feat[a:a + WINDOW])
        ys.append(target[i - 1 + horizon])
        last.append(target[i - 1])
    return (torch.tensor(np.array(xs), dtype=torch.float32), torch.tensor(np.array(ys), dtype=torch.float32),
            torch.tensor(np.array(last), dtype=torch.float32))


class LevelLSTM(nn.Module):
    def __init__(self, n_in, hidden=24, p=0.0):
        super().__init__()
        self.lstm = nn.LSTM(n_in, hidden, batch_first=CASE != 5)
        self.drop = nn.Dropout(p)
        self.l1 = nn.Linear(hidden, 32)
        self.l2 = nn.Linear(32, 1)

    def forward(self, x):
        out, _ = self.lstm(x)
        h = torch.relu(self.l1(self.drop(out[:, -1])))
        y = self.l2(self.drop(h))
        if CASE == 4:
            y = torch.relu(y)
        return y


class Causal(nn.Module):
    def __init__(self, a, b, d):
        super().__init__()
        self.pad = nn.ConstantPad1d((2 * d, 0), 0.0)
        self.c = nn.Conv1d(a, b, 3, dilation=d)
        self.skip = nn.Conv1d(a, b, 1) if a != b else nn.Identity()

    def forward(self, x):
        return torch.relu(self.c(self.pad(x))) + self.skip(x)


class TCN(nn.Module):
    def __init__(self, n_in, n_out=1, ch=24):
        super().__init__()
        self.net = nn.Sequential(Causal(n_in, ch, 1), Causal(ch, ch, 2), Causal(ch, ch, 4), Causal(ch, ch, 8))
        self.head = nn.Linear(ch, n_out)

    def forward(self, x):
        return self.head(self.net(x.transpose(1, 2))[:, :, -1])


class WindowMLP(nn.Module):
    """level now + learned change"""

    def __init__(self, n_in, h=64):
        super().__init__()
        self.f = nn.Sequential(nn.Flatten(), nn.Linear(n_in * WINDOW, h), nn.ReLU(), nn.Dropout(0.1), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, 1))

    def forward(self, x):
        return x[:, -1, 2:3] + self.f(x)


class GRUDecoder(nn.Module):
    """all hours up to AHEAD, one after the other"""

    def __init__(self, n_in, h=40):
        super().__init__()
        self.enc = nn.GRU(n_in, h, batch_first=True)
        self.cell = nn.GRUCell(1, h)
        self.out = nn.Linear(h, 1)

    def forward(self, x, truth=None, ratio=0.0):
        _, s = self.enc(x)
        s, prev, res = s[0], x[:, -1, 2:3], []
        for k in range(AHEAD):
            s = self.cell(prev, s)
            y = prev + self.out(s)
            res.append(y)
            prev = truth[:, k:k + 1] if truth is not None and np.random.rand() < ratio else y
        return torch.cat(res, 1)


def rmse(a, b):
    return float(((a - b) ** 2).mean().sqrt())


def predict(model, x, scale):
    if CASE != 10:
        model.eval()
    with torch.no_grad():
        p = torch.cat([model(c) for c in x.split(256)])
    return p * scale[1] + scale[0]


def single_run():
    series = make_river(9000, 42 + SEED)
    cut = 6800
    sc = Scaler().fit(series[:cut])
    feat = sc.apply(series)
    if CASE == 8:
        feat[cut:] = Scaler().fit(series[cut:]).apply(series[cut:])
    mu, sd = float(sc.m[2]), float(sc.s[2])
    raw = series[:, 2]
    tgt = raw if CASE == 2 else (raw - mu) / sd
    back = (0.0, 1.0) if CASE == 2 else (mu, sd)
    xa, ya, _ = windows(feat[:cut], tgt[:cut], AHEAD, 2)
    xb, yb, lb = windows(feat[cut:], raw[cut:], AHEAD, 3)
    net = WindowMLP(5) if CASE == 6 else LevelLSTM(5, p={10: 0.4, 0: 0.1}.get(CASE, 0.0))
    loss_fn = nn.HuberLoss() if CASE == 6 else nn.MSELoss()
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    loader = DataLoader(TensorDataset(xa, ya if CASE == 1 else ya[:, None]), 64, shuffle=True, drop_last=True)
    print("windows", len(xa), "test", len(xb), "| persistence rmse %.2f cm, std of level %.2f cm" % (rmse(lb, yb), float(yb.std())))
    step, seen = 0, []
    for epoch in range(4):
        net.train()
        for x, y in loader:
            opt.zero_grad()
            loss = loss_fn(net(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
            step += 1
            seen.append(loss.item())
            if step % 25 == 0:
                print("step %4d  loss %.4f" % (step, np.mean(seen[-25:])), flush=True)
        p = predict(net, xb, back)
        print("epoch %d  test rmse %.2f cm" % (epoch, rmse(p[:, 0], yb)), flush=True)


def quantile_run():
    series = make_river(9000, 42 + SEED)
    cut = 6800
    sc = Scaler().fit(series[:cut])
    feat = sc.apply(series)
    xa, ya, _ = windows(feat[:cut], feat[:cut, 2], AHEAD, 1)
    xb, yb, lb = windows(feat[cut:], feat[cut:, 2], AHEAD, 2)
    qs = torch.tensor([0.1, 0.5, 0.9])
    net = TCN(5, 3)
    opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=1e-3)
    total, bs = 200, 64
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, 6e-3, total_steps=total)
    for step in range(1, total + 1):
        i = torch.randint(0, len(xa), (bs,))
        d = ya[i, None] - net(xa[i])
        loss = torch.maximum(qs * d, (qs - 1) * d).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        if step % 50 == 0:
            with torch.no_grad():
                p = net(xb)
            cover = ((yb >= p[:, 0]) & (yb <= p[:, 2])).float().mean().item()
            print("step %d pinball %.4f  coverage of 80%% band %.3f  median rmse %.2f cm (persistence %.2f)" % (
                step, loss.item(), cover, rmse(p[:, 1], yb) * sc.s[2], rmse(lb, yb) * sc.s[2]), flush=True)


def walk_forward():
    series = make_river(9000, 42 + SEED)
    scores = []
    for fold, end in enumerate([4500, 6000, 7500]):
        torch.manual_seed(SEED + fold)
        sc = Scaler().fit(series[:end])
        feat = sc.apply(series[:end + 1500])
        xa, ya, _ = windows(feat[:end], feat[:end, 2], AHEAD, 1)
        xb, yb, lb = windows(feat[end:], feat[end:, 2], AHEAD, 1)
        net = WindowMLP(5, 48)
        opt = torch.optim.RMSprop(net.parameters(), lr=1e-3)
        for step in range(150):
            i = torch.randint(0, len(xa), (128,))
            loss = (net(xa[i])[:, 0] - ya[i]).abs().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            if step % 50 == 49:
                print("fold %d step %d mae %.4f" % (fold, step + 1, loss.item()), flush=True)
        net.eval()
        with torch.no_grad():
            r = rmse(net(xb)[:, 0], yb) * sc.s[2]
        scores.append(r)
        print("fold %d  train to hour %d  rmse %.2f cm, persistence %.2f cm" % (fold, end, r, rmse(lb, yb) * sc.s[2]))
    print("walk forward rmse %.2f +- %.2f cm" % (np.mean(scores), np.std(scores)))


def multi_step_run():
    series = make_river(9000, 42 + SEED)
    cut = 6800
    sc = Scaler().fit(series[:cut])
    feat = sc.apply(series)

    def cut_out(f):
        idx = range(WINDOW, len(f) - AHEAD, 2)
        return (torch.tensor(np.stack([f[i - WINDOW:i] for i in idx]), dtype=torch.float32),
                torch.tensor(np.stack([f[i:i + AHEAD, 2] for i in idx]), dtype=torch.float32))

    (xa, ya), (xb, yb) = cut_out(feat[:cut]), cut_out(feat[cut:])
    net = GRUDecoder(5)
    opt = torch.optim.Adam(net.parameters(), lr=4e-3)
    best, log = 1e9, []
    for step in range(1, 201):
        for gr in opt.param_groups:
            gr["lr"] = 4e-3 * min(1, step / 30) * 0.5 * (1 + np.cos(np.pi * step / 260))
        i = torch.randint(0, len(xa), (64,))
        pred = net(xa[i], ya[i], ratio=max(0.0, 0.5 - step / 300))
        loss = ((pred - ya[i]) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 100.0)
        opt.step()
        log.append(loss.item())
        if step % 40 == 0:
            with torch.no_grad():
                p = net(xb)
            per = ((p - yb) ** 2).mean(0).sqrt() * sc.s[2]
            base = ((xb[:, -1, 2:3] - yb) ** 2).mean(0).sqrt() * sc.s[2]
            print("step %d loss %.4f  rmse by hour %s  persistence %s" % (
                step, np.mean(log[-40:]), " ".join("%.1f" % v for v in per), " ".join("%.1f" % v for v in base)), flush=True)


if __name__ == "__main__":
    torch.manual_seed(SEED)
    np.random.seed(SEED)
    t = time.time()
    job = {3: quantile_run, 9: walk_forward, 11: multi_step_run}.get(CASE, single_run)
    job()
    print("took %.1f s" % (time.time() - t), file=sys.stderr)
