"""Water demand, split by time: train on the first three years, evaluate on the fourth, which has more customers (drift on purpose)."""
import os
import argparse
import numpy as np
import torch
from torch import nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
ap = argparse.ArgumentParser()
ap.add_argument("--epochs", type=int, default=20)
ap.add_argument("--lr", type=float, default=2e-3)
ap.add_argument("--lags", type=int, default=14)
args = ap.parse_args([])
torch.manual_seed(SEED)
r = np.random.RandomState(SEED)

days = np.arange(4 * 365)
season = 18 * np.sin(2 * np.pi * (days - 110) / 365)
week = np.array([0, 1, 0, 2, 5, -8, -12])[days % 7]
temp = 12 + 11 * np.sin(2 * np.pi * (days - 110) / 365) + r.randn(len(days)) * 3
ar = np.zeros(len(days))
for t in range(1, len(days)):
    ar[t] = 0.7 * ar[t - 1] + r.randn() * 2.5
demand = 120 + 0.012 * days + season * 0.5 + week + 0.9 * np.maximum(temp - 18, 0) + ar
demand[3 * 365:] += 6  # a new suburb was connected

X, Y, D = [], [], []
for t in range(args.lags, len(days)):
    lag = demand[t - args.lags:t]
    base = lag.mean()
    X.append(np.r_[(lag - base) / 10, np.eye(7)[t % 7], (temp[t] - 12) / 10])
    Y.append((demand[t] - base) / 10)
    D.append((t, base))
X, Y = torch.tensor(np.array(X), dtype=torch.float32), torch.tensor(Y, dtype=torch.float32)
T, BASE = np.array(D).T
tr = torch.from_numpy(T < 3 * 365)
te = ~tr
model = nn.Sequential(nn.Linear(X.shape[1], 48), nn.Tanh(), nn.Linear(48, 1))
opt = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=1e-4)
true = demand[args.lags:]
naive = np.abs(demand[args.lags - 7:-7] - true)[te.numpy()].mean()
print(f"last-week baseline MAE on year 4: {naive:.2f}")
xt, yt = X[tr], Y[tr]
for e in range(args.epochs):
    order = torch.randperm(len(xt))
    s = 0.0
    for k in range(0, len(order), 32):
        j = order[k:k + 32]
        loss = ((model(xt[j])[:, 0] - yt[j]) ** 2).mean()
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        s += loss.item() * len(j)
    with torch.no_grad():
        pred = model(X)[:, 0].numpy() * 10 + BASE
    err = np.abs(pred - true)
    print(f"epoch {e:2d} mse {s / len(order):.4f} MAE years1-3 {err[tr.numpy()].mean():.2f} MAE year4 {err[te.numpy()].mean():.2f}")
