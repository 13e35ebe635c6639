"""GAN that generates hourly wind vectors (u, v) for a coastal station.

The real record is a mixture of prevailing winds: sea breeze, mistral, etc.
"""
import os
import copy
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
np.random.seed(SEED)
torch.manual_seed(SEED)

REGIMES = [  # direction (deg), mean speed, spread in direction, share
    (20, 3.5, 9, 0.22), (85, 2.6, 10, 0.14), (140, 3.8, 8, 0.18),
    (205, 2.8, 10, 0.16), (265, 3.6, 8, 0.17), (320, 2.7, 9, 0.13),
]
NZ = 8
BATCH = 192
HINGE = CASE in (2, 5)
STEPS = 550 if HINGE else 1300


def wind_record(n):
    share = np.array([r[3] for r in REGIMES])
    which = np.random.choice(len(REGIMES), n, p=share / share.sum())
    r = np.array(REGIMES)[which]
    ang = np.deg2rad(r[:, 0] + np.random.randn(n) * r[:, 2])
    speed = np.clip(r[:, 1] * (1 + 0.13 * np.random.randn(n)), 0.2, None)
    uv = np.stack([speed * np.cos(ang), speed * np.sin(ang)], 1)
    return torch.tensor(uv / 2.0, dtype=torch.float32)


class Generator(nn.Module):
    def __init__(self, nz=NZ, width=96):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(nz, width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, 2))

    def forward(self, z):
        return self.net(z)


class Discriminator(nn.Module):
    def __init__(self, width=96, sn=False):
        super().__init__()
        wrap = nn.utils.spectral_norm if sn else (lambda m: m)
        self.net = nn.Sequential(
            wrap(nn.Linear(2, width)), nn.LeakyReLU(0.2),
            wrap(nn.Linear(width, width)), nn.LeakyReLU(0.2),
            wrap(nn.Linear(width, width)), nn.LeakyReLU(0.2),
            nn.Linear(width, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


def sliced_distance(a, b, n_proj=40):
    g = torch.Generator().manual_seed(1)
    d = F.normalize(torch.randn(2, n_proj, generator=g), dim=0)
    pa, pb = (a @ d).sort(0)[0], (b @ d).sort(0)[0]
    return (pa - pb).abs().mean().item()


def shares(x):
    """share of the samples in each of the six sectors"""
    ang = torch.rad2deg(torch.atan2(x[:, 1], x[:, 0])) % 360
    centres = torch.tensor([float(r[0]) for r in REGIMES])
    diff = (ang[:, None] - centres[None] + 180) % 360 - 180
    near = diff.abs().argmin(1)
    ok = (diff.abs().min(1)[0] < 22) & (x.norm(dim=1) > 0.7)
    return torch.bincount(near[ok], minlength=len(REGIMES)).float() / len(x)


train = wind_record(20000)
held = wind_record(2000)

G = Generator()
D = Discriminator(sn=HINGE)
G_avg = copy.deepcopy(G)
for p in G_avg.parameters():
    p.requires_grad_(False)

lr_g, lr_d = (5e-4, 1e-3) if HINGE else (7e-4, 7e-4)
opt_g = torch.optim.Adam(G.parameters(), lr=lr_g, betas=(0.5, 0.99))
opt_d = torch.optim.Adam(G.parameters() if CASE == 4 else D.parameters(), lr=lr_d, betas=(0.5, 0.99))
g_per_d, d_per_g = 1, 2 if HINGE else 1
if CASE == 3:
    g_per_d, STEPS = 6, 260


def sample_real():
    return train[torch.randint(0, len(train), (BATCH,))]


def d_step():
    real = sample_real()
    with torch.no_grad():
        fake = G(torch.randn(BATCH, NZ))
    r, f = D(real), D(fake)
    if HINGE:
        loss = F.relu(1 - r).mean() + F.relu(1 + f).mean()
    else:
        loss = F.binary_cross_entropy_with_logits(r, torch.full_like(r, 0.9)) + \
               F.binary_cross_entropy_with_logits(f, torch.zeros_like(f))
    opt_d.zero_grad()
    D.zero_grad()
    loss.backward()
    opt_d.step()
    return loss.item(), r.mean().item(), f.mean().item()


def g_step():
    fake = G(torch.randn(BATCH, NZ))
    if CASE == 1:
        fake = fake.detach()
    score = D(fake)
    if HINGE:
        loss = score.mean() if CASE == 2 else -score.mean()
    else:
        loss = F.binary_cross_entropy_with_logits(score, torch.ones_like(score))
    opt_g.zero_grad()
    loss.backward()
    opt_g.step()
    with torch.no_grad():
        for pa, p in zip(G_avg.parameters(), G.parameters()):
            pa.lerp_(p, 0.01)
    return loss.item()


for step in range(1, STEPS + 1):
    for _ in range(d_per_g):
        ld, sr, sf = d_step()
    for _ in range(g_per_d):
        lg = g_step()
    if step % 50 == 0:
        with torch.no_grad():
            fake = (G_avg if HINGE else G)(torch.randn(2000, NZ))
        print(f"step {step:5d}  D {ld:.3f}  G {lg:.3f}  D(x) {sr:+.2f}  D(G(z)) {sf:+.2f}  "
              f"swd {sliced_distance(fake, held):.3f}")

with torch.no_grad():
    fake = (G_avg if HINGE else G)(torch.randn(2000, NZ))
print("sector shares real     ", [round(v, 2) for v in shares(held).tolist()])
print("sector shares generated", [round(v, 2) for v in shares(fake).tolist()])
print("sliced distance to held-out record: %.3f" % sliced_distance(fake, held))
