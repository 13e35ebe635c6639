# one-step forecast of indoor temperature for a set of houses, truncated BPTT
import copy
import math
import os

import numpy as np
import torch
from torch import nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
np.random.seed(SEED)
torch.set_num_threads(1)

N_HOUSE, STEPS, CHUNK, HID = 24, 1600, 25, 32


def simulate(n, steps, rng):
    leak = rng.uniform(0.02, 0.05, n)
    power = rng.uniform(0.6, 1.1, n)
    mass = np.full(n, 18.0)
    inside = np.full(n, 19.0)
    heater = np.zeros(n)
    rows, inner = [], []
    phase = rng.uniform(0, 2 * np.pi, n)
    cloud = np.zeros(n)
    for t in range(steps):
        cloud = 0.97 * cloud + rng.normal(0, 0.3, n)
        out = 6 + 6 * np.sin(2 * np.pi * t / 96 + phase) + cloud
        heater = np.where(inside < 19.0, 1.0, np.where(inside > 21.0, 0.0, heater))
        mass = mass + 0.03 * (inside - mass)
        inside = inside + leak * (out - inside) + power * heater + 0.08 * (mass - inside) + rng.normal(0, 0.03, n)
        rows.append(np.stack([inside, out, heater], -1))
        inner.append(inside)
    rows = np.stack(rows, 1)
    return rows.astype(np.float32)            # house, time, (inside, out, heater)


rng = np.random.default_rng(100 + SEED)
series = simulate(N_HOUSE, STEPS + 1, rng)
test_series = simulate(8, 401, rng)

m, s = series.reshape(-1, 3).mean(0), series.reshape(-1, 3).std(0)


def make_xy(raw):
    z = (raw - m) / s
    x = z[:, :-1].copy()
    d = raw[:, 1:, 0] - raw[:, :-1, 0]        # change over the next step
    y = d / 0.5
    if CASE == 4:
        x = np.concatenate([x, z[:, 1:, :1]], -1)
    return x, y


if CASE == 7:
    series[:, :, 0][rng.random(series.shape[:2]) < 0.003] = -999.0     # as logged by the gateway
X, Y = make_xy(series)
Xt, Yt = make_xy(test_series)

if CASE == 3:
    Y, Yt = Y * 4.2e4 + 9e4, Yt * 4.2e4 + 9e4     # stored heat in joule
if CASE == 6:
    hit = rng.random(Y.shape) < 0.01
    Y = np.where(hit, Y + rng.choice([-1, 1], Y.shape) * 12, Y).astype(np.float32)

X, Y, Xt, Yt = (torch.tensor(a, dtype=torch.float32) for a in (X, Y, Xt, Yt))


class HeatRNN(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.rnn = nn.GRU(n_in, HID, batch_first=True)
        self.fc = nn.Sequential(nn.Linear(HID, 24), nn.Tanh(), nn.Linear(24, 1))

    def forward(self, x, h=None):
        o, h = self.rnn(x, h)
        return self.fc(o), h


net = HeatRNN(X.shape[-1])
loss_fn = nn.HuberLoss(delta=0.3) if CASE == 6 else nn.MSELoss()


def build(lr):
    return torch.optim.Adam(net.parameters(), lr=lr)


lr = 3e-3
if CASE == 8:
    lr = 0.4
optim = build(lr)
sched = None
if CASE == 9:
    # continue from the weights of last winter
    base = build(4e-3)
    for ep in range(3):
        h = None
        for k in range(0, STEPS, CHUNK):
            p, h = net(X[:, k:k + CHUNK], h)
            h = h.detach()
            l = loss_fn(p.squeeze(-1), Y[:, k:k + CHUNK])
            base.zero_grad()
            l.backward()
            base.step()
        print("old fit", ep, round(l.item(), 4))
    optim = torch.optim.RMSprop(net.parameters(), lr=2e-5, momentum=0.5)
if CASE == 11:
    sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optim, T_0=64)


def test():
    net.eval()
    with torch.no_grad():
        p, _ = net(Xt)
        p = p.squeeze(-1)
        err = ((p - Yt)[:, 50:] ** 2).mean()
        ref = Yt[:, 50:].var()
    net.train()
    return err.item(), (1 - err / ref).item()


EPOCHS = 7
book = []
running = 0.0
best, best_state = math.inf, None
for epoch in range(EPOCHS):
    h = None
    total = 0.0
    for k in range(0, STEPS, CHUNK):
        xb, yb = X[:, k:k + CHUNK], Y[:, k:k + CHUNK]
        if CASE == 10:
            optim = build(lr)
        pred, h = net(xb, h)
        h = h.detach()
        if CASE == 5:
            loss = loss_fn(pred.reshape(-1, 1), yb.reshape(-1))
        else:
            loss = loss_fn(pred.squeeze(-1), yb)
        optim.zero_grad()
        loss.backward(retain_graph=(CASE == 1))
        if CASE == 2:
            nn.utils.clip_grad_norm_(net.parameters(), 0.05)
        optim.step()
        if sched is not None:
            sched.step()
        if CASE == 1:
            running = running + loss
            book.append(loss)
        else:
            running += loss.item()
            book.append(loss.item())
        total += float(loss)
    mse, r2 = test()
    if mse < best:
        best, best_state = mse, copy.deepcopy(net.state_dict())
    print(f"epoch {epoch} train {total / (STEPS // CHUNK):.4f} test mse {mse:.4f} r2 {r2:.3f}")

net.load_state_dict(best_state) if best_state else None
print("mean loss so far", float(running) / len(book), "best", best)
