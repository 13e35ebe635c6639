# flat prices, small MLP.  usage: CASE=.. SEED=.. python flat_prices.py
import os
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)
torch.set_num_threads(1)
rng = np.random.default_rng(SEED)

# ---------------------------------------------------------------- the table
n = 4000
df = {}
df["area"] = rng.gamma(6.0, 13.0, n) + 15
df["rooms"] = np.clip(np.round(df["area"] / 28 + rng.normal(0, 0.7, n)), 1, 8)
df["age"] = rng.integers(0, 120, n).astype(float)
df["dist_km"] = rng.exponential(5.0, n)
df["income"] = rng.lognormal(10.6, 0.35, n)
df["district"] = rng.integers(0, 8, n)
df["balcony"] = (rng.random(n) < 0.4).astype(float)

per_m2 = np.array([2600, 3100, 3500, 3900, 4300, 5000, 5600, 6400])[df["district"]]
per_m2 = per_m2 * (0.8 + 0.6 * np.exp(-df["dist_km"] / 4)) * (1 - 0.004 * np.minimum(df["age"], 60))
price = df["area"] * per_m2 + 9000 * df["balcony"] + 0.6 * df["income"]
price = price * np.exp(rng.normal(0, 0.12, n))

num_cols = ["area", "rooms", "age", "dist_km", "income", "balcony"]
if CASE == 8:
    df["area_log"] = np.log(df["area"])
    df["eur_m2_log"] = np.log(price / df["area"])
    num_cols += ["area_log", "eur_m2_log"]

X_num = np.stack([df[c] for c in num_cols], 1)
X_cat = np.eye(8)[df["district"]]

idx = rng.permutation(n)
tr, te = idx[:3200], idx[3200:]

mu, sd = X_num[tr].mean(0), X_num[tr].std(0)
if CASE == 4:
    X = np.concatenate([X_num, X_cat], 1)
    X_tr, X_te = X[tr], X[te]
elif CASE == 6:
    X_tr = np.concatenate([(X_num[tr] - mu) / sd, X_cat[tr]], 1)
    X_te = np.concatenate([X_num[te], X_cat[te]], 1)
else:
    X = np.concatenate([(X_num - mu) / sd, X_cat], 1)
    X_tr, X_te = X[tr], X[te]

if CASE == 2:
    t_mu, t_sd = 0.0, 1.0
    t = price
elif CASE == 5:
    t_mu, t_sd = 0.0, 1.0
    t = np.log(price) - 12
else:
    t_mu, t_sd = price[tr].mean(), price[tr].std()
    t = (price - t_mu) / t_sd

X_tr = torch.tensor(X_tr, dtype=torch.float32)
X_te = torch.tensor(X_te, dtype=torch.float32)
y_tr = torch.tensor(t[tr], dtype=torch.float32)
y_te = torch.tensor(t[te], dtype=torch.float32)
if CASE != 1:
    y_tr = y_tr.unsqueeze(1)

# ---------------------------------------------------------------- the model
d_out = 2 if CASE == 10 else 1
net = nn.Sequential(
    nn.Linear(X_tr.shape[1], 64), nn.ReLU(),
    nn.Linear(64, 64), nn.ReLU(),
    nn.Linear(64, d_out),
)

EPOCHS, BATCH = 24, 64
sched = None
if CASE in (2, 4, 5):
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
elif CASE == 9:
    opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.999)
elif CASE == 3:
    opt = torch.optim.SGD(net.parameters(), lr=2e-4, momentum=0.9)
elif CASE == 7:
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=8, eta_min=1e-4)
elif CASE == 10:
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
else:
    opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)


def loss_fn(out, yb):
    if CASE == 3:
        return F.mse_loss(out, yb, reduction="sum")
    if CASE == 5:
        return F.smooth_l1_loss(out, yb, beta=0.1)
    if CASE == 10:
        mean, log_s = out[:, :1], out[:, 1:].clamp(-6, 3)
        return (log_s + 0.5 * ((yb - mean) / log_s.exp()) ** 2).mean()
    return F.mse_loss(out, yb)


def r2():
    net.eval()
    with torch.no_grad():
        p = net(X_te)[:, 0]
    net.train()
    if CASE == 5:
        p, q = (p + 12).exp(), (y_te + 12).exp()
    else:
        p, q = p, y_te
    return (1 - ((p - q) ** 2).mean() / q.var()).item()


for epoch in range(EPOCHS):
    perm = torch.randperm(len(X_tr))
    tot = 0.0
    for i in range(0, len(perm), BATCH):
        j = perm[i:i + BATCH]
        out = net(X_tr[j])
        loss = loss_fn(out, y_tr[j])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(j)
    if sched is not None:
        sched.step()
    if epoch % 4 == 3:
        print("epoch %2d  train %.4f  test R2 %.3f" % (epoch + 1, tot / len(perm), r2()))

print("final R2: %.4f" % r2())
