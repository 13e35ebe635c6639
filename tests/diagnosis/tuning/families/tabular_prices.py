import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)

TASK = "cls" if CASE in (2, 7) else "reg"
N = {5: 700, 6: 420, 8: 420}.get(CASE, 2000)
NOISE = {6: 0.6, 8: 0.6, 5: 0.4}.get(CASE, 0.15)
EPOCHS = {6: 150, 8: 60, 5: 80, 10: 8, 2: 25, 7: 25}.get(CASE, 40)
BATCH = {6: 32, 8: 32, 10: 4}.get(CASE, 64)
LR = {10: 1e-2, 8: 2e-3, 6: 4e-3, 9: 1e-3}.get(CASE, 3e-3)
HIDDEN = {6: 160, 8: 160}.get(CASE, 48)
DROP = {8: 0.4}.get(CASE, 0.0)
PATIENCE = {5: 10, 8: 25}.get(CASE, 200)

area = rng.gamma(6.0, 18.0, N)
age = rng.uniform(0, 90, N)
income = rng.lognormal(10.4, 0.45, N)
dist = rng.exponential(6.0, N)
rooms = np.clip(np.round(area / 28 + rng.normal(0, 0.8, N)), 1, None)
rate = rng.normal(3.0, 0.8, N)
city = rng.integers(0, 12, N)
kind = rng.integers(0, 5, N)
client = rng.integers(0, 400000, N)
city_fx = rng.normal(0, 0.5, 12)
kind_fx = rng.normal(0, 0.35, 5)
z = (0.012 * area - 0.004 * age + 1.1 * np.log(income / 30000) - 0.035 * dist
     + 0.25 * np.sin(age / 9) + city_fx[city] + kind_fx[kind] - 0.08 * (rate - 3) * (area > 100))
z = z + rng.normal(0, NOISE, N)
price = 200000 + 90000 * (z - z.mean()) / z.std()
sold = (z - z.mean()) / z.std() > 2.0

num = np.stack([area, age, income, dist, rooms, rate], 1)
cat = np.stack([city, kind], 1)
if CASE == 11:
    bad = rng.choice(N, size=N // 60, replace=False)
    num[bad, 0] = num[bad, 0] * 1e5
    bad = rng.choice(N, size=N // 60, replace=False)
    num[bad, 2] = num[bad, 2] * 1e4
    bad = rng.choice(N, size=N // 60, replace=False)
    num[bad, 3] = 9999999.0

if TASK == "reg":
    region = income > np.quantile(income, 0.82)
    test_idx = np.flatnonzero(region & (rng.random(N) < 0.8))
else:
    test_idx = np.flatnonzero(rng.random(N) < 0.2)
rest = np.setdiff1d(np.arange(N), test_idx)
rest = rng.permutation(rest)
n_val = len(rest) // 5
val_idx, train_idx = rest[:n_val], rest[n_val:]

if CASE == 4:
    known = rest
    sums = np.bincount(client[known], weights=price[known], minlength=400000)
    cnts = np.bincount(client[known], minlength=400000)
    means = np.where(cnts > 0, sums / np.maximum(cnts, 1), price[known].mean())
    num = np.concatenate([num, means[client][:, None]], 1)
    num[test_idx, -1] = price[known].mean()


class Scaler:
    def fit(self, x):
        self.mean, self.std = x.mean(0), x.std(0) + 1e-8
        return self

    def transform(self, x):
        return (x - self.mean) / self.std


scaler = Scaler().fit(num[train_idx])
y_scaler = Scaler().fit(price[train_idx])


def tensors(idx, sc):
    y = sold[idx].astype(np.float32) if TASK == "cls" else price[idx]
    if TASK == "reg" and CASE != 9:
        y = y_scaler.transform(y)
    return TensorDataset(torch.tensor(sc.transform(num[idx]), dtype=torch.float32),
                         torch.tensor(cat[idx]), torch.tensor(y, dtype=torch.float32))


train_ds, val_ds = tensors(train_idx, scaler), tensors(val_idx, scaler)
test_scaler = Scaler().fit(num[test_idx]) if CASE == 3 else scaler
test_ds = tensors(test_idx, test_scaler)


class TabNet(nn.Module):
    def __init__(self, n_num):
        super().__init__()
        self.embs = nn.ModuleList([nn.Embedding(12, 6), nn.Embedding(5, 3)])
        self.body = nn.Sequential(
            nn.Linear(n_num + 9, HIDDEN), nn.ReLU(), nn.Dropout(DROP),
            nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Dropout(DROP), nn.Linear(HIDDEN, 1))

    def forward(self, xn, xc):
        e = [m(xc[:, i]) for i, m in enumerate(self.embs)]
        out = self.body(torch.cat([xn] + e, 1))
        return out if CASE == 1 else out.squeeze(1)


model = TabNet(num.shape[1])
if CASE == 10:
    opt = torch.optim.SGD(model.parameters(), lr=LR)
else:
    opt = torch.optim.Adam(model.parameters(), lr=LR, weight_decay=1e-3 if CASE == 8 else 0.0)
pos_weight = torch.tensor(12.0) if CASE == 2 else None
if CASE == 7:
    opt = torch.optim.SGD(model.parameters(), lr=1e-2)


def criterion(out, y):
    if TASK == "cls":
        return F.binary_cross_entropy_with_logits(out, y, pos_weight=pos_weight)
    return F.mse_loss(out, y)


@torch.no_grad()
def score(ds):
    model.eval()
    xn, xc, y = ds.tensors
    out = model(xn, xc)
    loss = criterion(out.view(-1), y).item()
    out = out.view(-1)
    if TASK == "cls":
        pred = out > 0
        rec = (pred & (y > 0.5)).sum().item() / max(1, (y > 0.5).sum().item())
        return loss, (pred == (y > 0.5)).float().mean().item(), rec
    r2 = 1 - ((out - y) ** 2).mean() / y.var()
    return loss, r2.item(), (out - y).abs().mean().item()


loader = DataLoader(train_ds, batch_size=BATCH, shuffle=True, drop_last=True)
best, best_state, wait = float("inf"), None, 0
for epoch in range(EPOCHS):
    model.train()
    tot = 0.0
    for xn, xc, y in loader:
        loss = criterion(model(xn, xc), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item()
    vl, vs, extra = score(val_ds)
    if epoch % 4 == 0:
        print(f"epoch {epoch:3d} train {tot / len(loader):.4f} val {vl:.4f} score {vs:.3f} {extra:.3f}")
    if vl < best:
        best, wait = vl, 0
        best_state = model.state_dict()
        if CASE != 6:
            best_state = {k: v.clone() for k, v in best_state.items()}
    else:
        wait += 1
        if wait >= PATIENCE:
            print("stopping at epoch", epoch)
            break
model.load_state_dict(best_state)
for name, ds in (("val", val_ds), ("test", test_ds)):
    l, s, e = score(ds)
    print(f"best model on {name}: loss {l:.4f} " + (f"accuracy {s:.3f} recall {e:.3f}" if TASK == "cls" else f"R2 {s:.3f} MAE {e:.3f}"))
