"""GAN on daily load curves (24 values). Instance noise on real and fake, annealed to zero; losses oscillate, the statistics of the samples are what counts."""
import os
import numpy as np
import torch
import torch.nn as nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)
h = np.arange(24)


def curves(n):
    morning, evening = rng.normal(7.5, .6, (n, 1)), rng.normal(19, .8, (n, 1))
    a, b = rng.uniform(.5, 1.0, (n, 1)), rng.uniform(.7, 1.3, (n, 1))
    c = a * np.exp(-((h - morning) / 2) ** 2) + b * np.exp(-((h - evening) / 2.5) ** 2) + .03 * rng.standard_normal((n, 24))
    return torch.tensor(c * 2 - .6, dtype=torch.float32)


real = curves(4000)
held = curves(1000)
Z = 8
G = nn.Sequential(nn.Linear(Z, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 24))
D = nn.Sequential(nn.Linear(24, 64), nn.LeakyReLU(.2), nn.Linear(64, 64), nn.LeakyReLU(.2), nn.Linear(64, 1))
og = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(.5, .99))
od = torch.optim.Adam(D.parameters(), lr=2e-3, betas=(.5, .99))
bce = nn.BCEWithLogitsLoss()
B, STEPS = 64, 1300
one, zero = torch.ones(B, 1), torch.zeros(B, 1)


def report(step):
    with torch.no_grad():
        f = G(torch.randn(1000, Z))
    mean_err = (f.mean(0) - held.mean(0)).abs().mean()
    std_err = (f.std(0) - held.std(0)).abs().mean()
    # mean distance of a held-out curve to its nearest sample, and the reverse
    d = torch.cdist(held, f)
    print(f"   step {step}: mean gap {mean_err:.3f} std gap {std_err:.3f} coverage dist {d.min(1)[0].mean():.3f} fidelity dist {d.min(0)[0].mean():.3f}")


d0 = torch.cdist(held, real[:1000])
print(f"reference real-to-real: coverage {d0.min(1)[0].mean():.3f}")
report(0)
for step in range(1, STEPS + 1):
    if step == 900:
        for o in (og, od):
            o.param_groups[0]["lr"] *= 0.3
    s = 0.3 * max(0, 1 - step / 800)
    x = real[torch.randint(len(real), (B,))]
    fake = G(torch.randn(B, Z))
    ld = bce(D(x + s * torch.randn_like(x)), one) + bce(D(fake.detach() + s * torch.randn_like(x)), zero)
    od.zero_grad()
    ld.backward()
    od.step()
    lg = bce(D(fake + s * torch.randn_like(x)), one)
    og.zero_grad()
    lg.backward()
    og.step()
    if step % 50 == 0:
        print(f"step {step} D {ld.item():.3f} G {lg.item():.3f} noise {s:.2f}")
    if step % 260 == 0:
        report(step)
