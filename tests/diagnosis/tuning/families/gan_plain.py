import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
np.random.seed(SEED)


def ring(n, modes=8, radius=2.0, sd=0.12):
    k = torch.randint(0, modes, (n,))
    a = 2 * np.pi * k / modes
    return torch.stack([a.cos(), a.sin()], 1) * radius + sd * torch.randn(n, 2), k


def moons(n):
    k = torch.randint(0, 2, (n,))
    a = np.pi * torch.rand(n)
    x = torch.stack([a.cos(), a.sin()], 1)
    x[k == 1] = torch.tensor([1.0, 0.4]) - x[k == 1]
    return (x - torch.tensor([0.5, 0.2])) * 1.5 + 0.08 * torch.randn(n, 2), k


def blobs(n, side=6):
    """Tiny pictures in [-1, 1] with one bright blob anywhere."""
    g = torch.arange(side).float()
    c = 0.5 + (side - 2) * torch.rand(n, 2)
    d = (g[None, :, None] - c[:, 0, None, None]) ** 2 + (g[None, None, :] - c[:, 1, None, None]) ** 2
    img = 1.7 * torch.exp(-d / 1.6) - 0.85
    return (img + 0.04 * torch.randn(n, side, side)).flatten(1), c[:, 0].long()


def mlp(sizes, act, norm=False, spectral=False):
    layers = []
    for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
        lin = nn.Linear(a, b)
        if spectral and i < len(sizes) - 2:
            lin = nn.utils.spectral_norm(lin)
        layers.append(lin)
        if i < len(sizes) - 2:
            if norm:
                layers.append(nn.BatchNorm1d(b))
            layers.append(act())
    return nn.Sequential(*layers)


def sliced_distance(a, b, directions=64):
    g = torch.Generator().manual_seed(0)
    d = F.normalize(torch.randn(a.shape[1], directions, generator=g), dim=0)
    return ((a @ d).sort(0)[0] - (b @ d).sort(0)[0]).abs().mean().item()


nz, batch, steps = 8, 128, 1500
data, dim, n_cond = ring, 2, 0
lr_g = lr_d = 1e-3
betas = (0.5, 0.9)
d_steps, g_steps = 1, 1
kind = "bce"

if CASE == 1:
    kind, data, d_steps, steps = "wgan", moons, 3, 1500
elif CASE == 2:
    kind, data, lr_d, lr_g, d_steps, steps = "hinge", moons, 2e-3, 5e-4, 2, 1800
elif CASE == 3:
    kind, data, dim, steps, batch, lr_d, lr_g = "ls", blobs, 36, 2200, 64, 1e-3, 1e-3
elif CASE == 4:
    data, n_cond, steps = moons, 2, 1000
elif CASE == 5:
    g_steps, lr_g, lr_d, steps = 8, 3e-3, 2e-4, 500
elif CASE in (6, 9):
    steps = 1200
elif CASE == 8:
    betas, steps = (0.995, 0.999), 1200

G = mlp([nz + n_cond, 96, 96, dim], nn.ReLU, norm=CASE == 3)
D = mlp([dim + n_cond, 96, 96, 1], lambda: nn.LeakyReLU(0.2), spectral=kind == "hinge")
if CASE == 10:
    D = mlp([dim, 96, 96, 1], nn.Tanh)
    for layer in D:
        if isinstance(layer, nn.Linear) and layer.out_features != 1:
            nn.init.xavier_normal_(layer.weight, gain=30.0)

if kind == "wgan":
    opt_g = torch.optim.RMSprop(G.parameters(), lr=5e-4)
    opt_d = torch.optim.RMSprop(D.parameters(), lr=5e-4)
else:
    opt_g = torch.optim.Adam(G.parameters() if CASE != 7 else D.parameters(), lr=lr_g, betas=betas)
    opt_d = torch.optim.Adam(D.parameters(), lr=lr_d, betas=betas)


def d_loss_fn(real, fake):
    if kind == "wgan":
        return fake.mean() - real.mean()
    if kind == "hinge":
        return F.relu(1 - real).mean() + F.relu(1 + fake).mean()
    if kind == "ls":
        return ((real - 1) ** 2).mean() + (fake ** 2).mean()
    target = 0.9 if CASE == 4 else 1.0
    return (F.binary_cross_entropy_with_logits(real, torch.full_like(real, target))
            + F.binary_cross_entropy_with_logits(fake, torch.zeros_like(fake)))


def g_loss_fn(fake):
    if kind in ("wgan", "hinge"):
        return -fake.mean()
    if kind == "ls":
        return ((fake - 1) ** 2).mean()
    return F.binary_cross_entropy_with_logits(fake, torch.ones_like(fake))


def condition(x, k):
    return torch.cat([x, F.one_hot(k, n_cond).float()], 1) if n_cond else x


def evaluate():
    G.eval()
    with torch.no_grad():
        real, k = data(2000)
        fake = G(condition(torch.randn(2000, nz), k))
        dist = sliced_distance(real, fake)
        const = sliced_distance(real, real.mean(0).expand_as(real))
        extra = ""
        if data is ring:
            a = 2 * np.pi * torch.arange(8) / 8
            centres = 2.0 * torch.stack([a.cos(), a.sin()], 1)
            near, which = torch.cdist(fake, centres).min(1)
            ok = near < 0.5
            modes = (torch.bincount(which[ok], minlength=8) > 20).sum().item()
            extra = " modes %d good %.2f" % (modes, ok.float().mean().item())
        if data is blobs:
            near, which = torch.cdist(fake, real).min(1)
            noise = torch.cdist(real[:1000], real[1000:]).min(1)[0].mean()
            cell = fake.view(-1, 36).argmax(1)
            extra = " nearest %.2f (real %.2f) places %d of 36" % (
                near.mean(), noise, (torch.bincount(cell, minlength=36) > 5).sum())
    G.train()
    return "dist %.3f (constant %.3f) spread %.3f%s" % (dist, const, fake.std(0).mean().item(), extra)


for step in range(steps):
    for _ in range(d_steps):
        real, k = data(batch)
        with torch.no_grad():
            fake = G(condition(torch.randn(batch, nz), k))
        d_loss = d_loss_fn(D(condition(real, k)), D(condition(fake, k)))
        opt_d.zero_grad()
        if CASE != 9:
            d_loss.backward()
        opt_d.step()
        if kind == "wgan":
            for p in D.parameters():
                p.data.clamp_(-0.1, 0.1)

    for _ in range(g_steps):
        _, k = data(batch)
        fake = G(condition(torch.randn(batch, nz), k))
        if CASE == 6:
            fake = fake.detach()
        g_loss = g_loss_fn(D(condition(fake, k)))
        opt_g.zero_grad()
        g_loss.backward()
        opt_g.step()

    if (step + 1) % (steps // 5) == 0:
        print("step %d D %.3f G %.3f %s" % (step + 1, d_loss.item(), g_loss.item(), evaluate()))
