# %% [markdown]
# House prices from eight columns
# %%
import os
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
np.random.seed(SEED)
torch.manual_seed(SEED)

# %% the table
n = 1500
area = np.random.uniform(40, 320, n)
rooms = np.clip(np.round(area / 35 + np.random.randn(n)), 1, 10)
age = np.random.uniform(0, 90, n)
dist = np.random.exponential(6, n)
floor = np.random.randint(0, 12, n)
lot = area * np.random.uniform(1.0, 12.0, n)
tax = np.random.uniform(800, 9000, n)
bath = np.clip(np.round(rooms / 2.5), 1, 4)
noise = 0.35 if CASE == 2 else 0.04
base = 240 + 0.4 * area + 6 * rooms + 0.01 * lot - 3.2 * np.abs(age - 45) + 55 * np.exp(-dist / 4)
price = 900 * (base + 70 * np.sign(age - 45) * np.sign(area - 180) + 40 * np.cos(floor) * (dist < 5))
price = price + 140000 * noise * np.random.randn(n)
frame = np.stack([area, rooms, age, dist, floor, lot, tax, bath], 1)

# %% clean and split
order = np.random.permutation(n)
frame = frame[order]
if CASE != 10:
    price = price[order]
tr, te = slice(0, 1200), slice(1200, n)
mu, sd = frame[tr].mean(0), frame[tr].std(0)
X = torch.tensor(frame if CASE == 7 else (frame - mu) / sd, dtype=torch.float32)
price = np.maximum(price, np.quantile(price, 0.03))
pm, ps = price[tr].mean(), price[tr].std()
if CASE == 6:
    pm, ps = 0.0, 1.0
if CASE == 9:
    pm, ps = price.min(), price.max() - price.min()
Y = torch.tensor((price - pm) / ps, dtype=torch.float32)
if CASE != 5 and CASE != 1:
    Y = Y.unsqueeze(1)
Xtr, Ytr, Xte, Yte = X[tr], Y[tr], X[te], Y[te]
if CASE == 4:
    print("smoke test: fitting 16 rows only")
    Xtr, Ytr = Xtr[:16], Ytr[:16]

# %% the model
if CASE == 8:
    net = nn.Sequential(nn.Linear(8, 64), nn.Linear(64, 64), nn.Linear(64, 1))
else:
    net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
mse = nn.MSELoss()
if CASE == 3:
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
elif CASE == 7:
    opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
else:
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
bs = 4 if CASE == 3 else 32


def criterion(p, t):
    if CASE == 9:
        return torch.sqrt(mse(torch.log(p + 0.05), torch.log(t + 0.05)))
    return mse(p, t)


# %% training
epochs = {3: 5, 4: 400}.get(CASE, 25)
for epoch in range(epochs):
    perm = torch.randperm(len(Xtr))
    running = 0.0
    for i in range(0, len(Xtr), bs):
        idx = perm[i:i + bs]
        out = net(Xtr[idx])
        if CASE == 1:
            out = out.squeeze(1)
        loss = criterion(out, Ytr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item() * len(idx)
    if epoch % max(1, epochs // 10) == 0 or epoch == epochs - 1:
        print("Epoch %d, train loss %.4f" % (epoch, running / len(Xtr)))

# %% how good is it
with torch.no_grad():
    xs, ys = (Xtr, Ytr) if CASE == 4 else (Xte, Yte)
    p = net(xs).flatten() * ps + pm
    t = ys.flatten() * ps + pm
    r2 = 1 - ((p - t) ** 2).sum() / ((t - t.mean()) ** 2).sum()
    print("mean abs error %.0f  R2 %.3f  pred std %.0f target std %.0f" % ((p - t).abs().mean(), r2, p.std(), t.std()))
