"""Snapshot ensemble on rock spectra: cyclic cosine rate with restarts, one snapshot per cycle, averaged probabilities."""
import os
import copy
import math
import numpy as np
import torch
from torch import nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED + 1)
wl = np.linspace(0, 1, 60)
BANDS = [[.2, .55], [.25, .55, .8], [.2, .6], [.4, .8], [.45, .75, .15], [.3, .62]]


def spectra(n):
    y = rng.integers(0, 6, n)
    x = np.empty((n, 60))
    for i, k in enumerate(y):
        s = rng.uniform(.5, .8) + rng.normal(0, .2) * wl
        for b in BANDS[k]:
            s -= rng.uniform(.05, .25) * np.exp(-((wl - b - rng.normal(0, .015)) / .05) ** 2)
        x[i] = s + rng.normal(0, .035, 60)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


xa, ya = spectra(1800)
xb, yb = spectra(800)
mu = xa.mean(0); sd = xa.std(0)
xa, xb = (xa - mu) / sd, (xb - mu) / sd
net = nn.Sequential(nn.Linear(60, 80), nn.ReLU(), nn.Dropout(.2), nn.Linear(80, 80), nn.ReLU(), nn.Dropout(.2), nn.Linear(80, 6))
opt = torch.optim.SGD(net.parameters(), lr=.1, momentum=.9, weight_decay=1e-3)
CYCLES, PER = 4, 200
snaps = []
step = 0
for cycle in range(CYCLES):
    for k in range(PER):
        opt.param_groups[0]["lr"] = .05 * (1 + math.cos(math.pi * k / PER)) + 1e-4
        j = torch.randint(0, len(xa), (48,))
        net.train()
        loss = nn.functional.cross_entropy(net(xa[j]), ya[j])
        opt.zero_grad()
        loss.backward()
        opt.step()
        step += 1
        if step % 25 == 0:
            print(f"cycle {cycle} step {step} lr {opt.param_groups[0]['lr']:.4f} loss {loss.item():.4f}")
    snaps.append(copy.deepcopy(net).eval())
    with torch.no_grad():
        probs = torch.stack([m(xb).softmax(1) for m in snaps])
    single = (probs[-1].argmax(1) == yb).float().mean()
    ens = probs.mean(0)
    print(f"** end of cycle {cycle}: snapshot acc {single:.4f} | ensemble of {len(snaps)} acc {(ens.argmax(1) == yb).float().mean():.4f} "
          f"nll {-(ens.gather(1, yb[:, None]) + 1e-9).log().mean():.4f}")
