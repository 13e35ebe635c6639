"""Snapshot ensemble on a crop-yield table: the rate is restarted every cycle, one snapshot per cycle."""
import copy, os
import numpy as np, torch, torch.nn as nn, torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)

def fields(n):
    rain = rng.gamma(6, 60, n); temp = rng.normal(17, 4, n); soil = rng.uniform(4.5, 8.5, n)
    nitro = rng.gamma(3, 40, n); slope = rng.exponential(3, n); sun = rng.normal(1500, 250, n)
    y = 6 * np.exp(-((temp - 18) / 7) ** 2) * (1 - np.exp(-nitro / 90)) * np.tanh(rain / 330)
    y = y - 0.35 * (soil - 6.6) ** 2 - 0.05 * slope + 0.0006 * sun + rng.normal(0, 0.35, n)
    return np.stack([rain, temp, soil, nitro, slope, sun], 1).astype("f4"), y.astype("f4")

X, y = fields(2600)
mu, sd = X[:2000].mean(0), X[:2000].std(0)
X = torch.from_numpy((X - mu) / sd); y = torch.from_numpy(y)
ym, ys = y[:2000].mean(), y[:2000].std()
t = (y - ym) / ys
Xtr, ttr, Xva, tva = X[:2000], t[:2000], X[2000:], t[2000:]

net = nn.Sequential(nn.Linear(6, 96), nn.SiLU(), nn.Linear(96, 96), nn.SiLU(), nn.Linear(96, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
CYCLE, CYCLES, BS = 8, 6, 64
steps_per_epoch = len(Xtr) // BS
sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=CYCLE * steps_per_epoch, eta_min=1e-4)

snaps, step = [], 0
def r2(p): return 1 - F.mse_loss(p, tva).item() / tva.var().item()
for epoch in range(CYCLE * CYCLES):
    net.train()
    tot = 0.0
    for idx in torch.randperm(len(Xtr))[:steps_per_epoch * BS].view(-1, BS):
        loss = F.mse_loss(net(Xtr[idx]).squeeze(1), ttr[idx])
        opt.zero_grad(); loss.backward(); opt.step(); sched.step()
        tot += loss.item(); step += 1
    net.eval()
    with torch.no_grad():
        p = net(Xva).squeeze(1)
    if epoch % 4 == 3:
        print(f"epoch {epoch+1:3d} step {step} train {tot/steps_per_epoch:.4f} val {F.mse_loss(p, tva).item():.4f} R2 {r2(p):.3f} lr {opt.param_groups[0]['lr']:.5f}")
    if (epoch + 1) % CYCLE == 0:
        snaps.append(copy.deepcopy(net))
with torch.no_grad():
    each = [s(Xva).squeeze(1) for s in snaps]
print("snapshots R2:", " ".join(f"{r2(p):.3f}" for p in each))
print(f"ensemble R2: {r2(torch.stack(each[-4:]).mean(0)):.3f}")
