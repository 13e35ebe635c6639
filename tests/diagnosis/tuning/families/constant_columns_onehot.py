"""Export from a machine park: some columns are constant, most are sparse one-hots, the rest have large offsets (absolute pressures, time stamps).
The first layer is a BatchNorm, which takes the offsets away."""
import os
import torch
import torch.nn as nn
import numpy as np

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED + 99)
n = 13600
machine, operator, part = rng.integers(0, 25, n), rng.integers(0, 40, n), rng.zipf(1.6, n).clip(1, 30) - 1
press = 101325 + rng.normal(0, 300, n)
stamp = 19000 + rng.uniform(0, 300, n)
temp = 295 + rng.normal(0, 4, n)
m_eff, p_eff = np.random.default_rng(1).normal(0, .8, 25), np.random.default_rng(2).normal(0, .7, 30)
z = m_eff[machine] + p_eff[part] + .9 * (press - 101325) / 300 * np.sign(m_eff[machine]) + .5 * np.abs(temp - 295) / 4 + .8 * np.sin(stamp / 30) - .9
y = (rng.random(n) < 1 / (1 + np.exp(-2 * z))).astype(np.float32)
X = np.concatenate([np.eye(25)[machine], np.eye(40)[operator], np.eye(30)[part], np.stack([press, stamp, temp], 1), np.ones((n, 2)), np.full((n, 1), 7.0)], 1)
X, y = torch.tensor(X, dtype=torch.float32), torch.tensor(y)
print("columns", X.shape[1], "constant", int((X.std(0) == 0).sum()), "zeros", round((X == 0).float().mean().item(), 3), "positives", round(y.mean().item(), 3))
tr, va = slice(0, 12000), slice(12000, n)
bn = nn.BatchNorm1d(X.shape[1], affine=False, momentum=0.02)
net = nn.Sequential(bn, nn.Linear(X.shape[1], 48), nn.ReLU(), nn.Dropout(0.3), nn.Linear(48, 1))
bn.running_mean.copy_(X[tr].mean(0)); bn.running_var.copy_(X[tr].var(0))
opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=0.05)
for epoch in range(12):
    net.train()
    tot = 0
    for idx in torch.randperm(12000).split(200):
        loss = nn.functional.binary_cross_entropy_with_logits(net(X[tr][idx]).squeeze(1), y[tr][idx])
        opt.zero_grad(); loss.backward(); opt.step()
        tot += loss.item() * len(idx)
    net.eval()
    with torch.no_grad():
        o = net(X[va]).squeeze(1)
        vl = nn.functional.binary_cross_entropy_with_logits(o, y[va]).item()
        acc = ((o > 0) == (y[va] > 0.5)).float().mean().item()
    print(f"epoch {epoch} train {tot / 12000:.4f} val {vl:.4f} acc {acc:.4f}")
bayes = ((z[12000:] > 0) == (y[va].numpy() > 0.5)).mean()
print("best possible accuracy about", round(float(bayes), 4))
