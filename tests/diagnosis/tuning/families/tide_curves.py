"""Generators for daily tide curves: a small VAE or a small denoising diffusion model."""
import copy
import math
import os
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
METHOD = "vae" if CASE in (0, 2, 3) else "ddpm"
L = 48


def make_curves(n, rng):
    """half-hourly water levels in cm: M2 + S2 + a diurnal part + surge; three kinds of harbours"""
    t = np.arange(L) / 2.0
    kind = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    amp = np.array([180.0, 90.0, 40.0])[kind] * rng.lognormal(0, 0.15, n)
    diur = np.array([10.0, 25.0, 60.0])[kind] * rng.lognormal(0, 0.2, n)
    ph = rng.uniform(0, 2 * np.pi, n)
    spring = rng.uniform(0, 2 * np.pi, n)
    x = amp[:, None] * (np.cos(2 * np.pi * t / 12.42 + ph[:, None]) + 0.35 * np.cos(2 * np.pi * t / 12.0 + (ph + spring)[:, None]))
    x += diur[:, None] * np.cos(2 * np.pi * t / 23.93 + 0.5 * ph[:, None])
    x += np.maximum(0, rng.normal(0, 15, (n, 1))) * t / 24 + rng.normal(0, 4, (n, L))
    return x.astype(np.float32)


def sample_report(gen, real):
    """energy distance between generated and held-out curves, in cm"""
    g, r = torch.as_tensor(gen), torch.as_tensor(real)
    d = lambda a, b: torch.cdist(a, b).mean().item() / math.sqrt(L)
    ed = 2 * d(g, r) - d(g, g) - d(r, r)
    rough = lambda a: a.diff(dim=1).abs().mean().item()
    print(f"samples: energy distance {ed:.2f} cm | std {g.std():.1f} (data {r.std():.1f}) | roughness {rough(g):.1f} (data {rough(r):.1f})")


# ------------------------------------------------------------------ VAE
class VAE(nn.Module):
    def __init__(self, z=6, h=128):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(L, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU())
        self.mu, self.logvar = nn.Linear(h, z), nn.Linear(h, z)
        self.dec = nn.Sequential(nn.Linear(z, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, L))
        self.z = z

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h).clamp(-8, 8)
        q = torch.distributions.Normal(mu, (0.5 * logvar).exp())
        z = q.sample() if CASE == 3 else q.rsample()
        return self.dec(z), mu, logvar


def vae_loss(xh, x, mu, logvar, beta):
    kl = -0.5 * (1 + logvar - mu ** 2 - logvar.exp()).sum(1).mean()
    if CASE == 2:
        rec = F.mse_loss(xh, x)
    else:
        rec = F.mse_loss(xh, x, reduction="sum") / len(x) / (2 * 0.15 ** 2)
    return rec + beta * kl, rec, kl


def train_vae(train, test, mean, std, epochs=16, bs=80):
    model = VAE()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    n = len(train)
    for ep in range(epochs):
        model.train()
        beta = min(1.0, 0.1 + ep / 6)
        perm = torch.randperm(n)
        sums = np.zeros(3)
        for i in range(0, n, bs):
            x = train[perm[i:i + bs]]
            xh, mu, logvar = model(x)
            loss, rec, kl = vae_loss(xh, x, mu, logvar, beta)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sums += [loss.item(), rec.item(), kl.item()]
        model.eval()
        with torch.no_grad():
            xh, mu, _ = model(test)
            rmse = ((model.dec(mu) - test) ** 2).mean().sqrt() * std
        s = sums / math.ceil(n / bs)
        print(f"[vae] epoch {ep + 1:2d} loss {s[0]:.3f} rec {s[1]:.3f} kl {s[2]:.3f} | test rmse {rmse:.1f} cm")
    with torch.no_grad():
        return model.dec(torch.randn(500, model.z)) * std + mean


# ------------------------------------------------------------------ diffusion
class Denoiser(nn.Module):
    def __init__(self, h=128, temb=32):
        super().__init__()
        self.freq = nn.Parameter(torch.exp(torch.linspace(0, math.log(200), temb // 2)), requires_grad=False)
        self.inp = nn.Linear(L, h)
        self.time = nn.Sequential(nn.Linear(temb, h), nn.SiLU(), nn.Linear(h, h))
        self.l1, self.l2 = nn.Linear(h, h), nn.Linear(h, h)
        self.norm1, self.norm2 = nn.LayerNorm(h), nn.LayerNorm(h)
        self.out = nn.Linear(h, L)

    def forward(self, x, t):
        a = t.float()[:, None] * self.freq / 100
        e = self.time(torch.cat([a.sin(), a.cos()], 1))
        h = self.inp(x)
        h = h + self.l1(F.silu(self.norm1(h + e)))
        h = h + self.l2(F.silu(self.norm2(h + e)))
        return self.out(h)


def train_ddpm(train, test, mean, std, T=50, steps=600, bs=96):
    betas = torch.linspace(1e-3, 0.12, T)
    alphas = 1 - betas
    abar = alphas.cumprod(0)
    net = Denoiser()
    ema = copy.deepcopy(net)
    opt = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], lr=2e-3, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, steps)

    def noise_loss(m, x):
        t = torch.randint(0, T, (len(x),))
        eps = torch.randn_like(x)
        xt = abar[t].sqrt()[:, None] * x + (1 - abar[t]).sqrt()[:, None] * eps
        pred = m(xt, t)
        if CASE == 4:
            pred = pred.unsqueeze(1)
        return F.mse_loss(pred, eps)

    window = []
    for step in range(1, steps + 1):
        x = train[torch.randint(0, len(train), (bs,))]
        loss = noise_loss(net, x)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        sched.step()
        with torch.no_grad():
            for a, b in zip(ema.parameters(), net.parameters()):
                a.mul_(0.98).add_(b, alpha=0.02)
        window.append(loss.item())
        if step % 100 == 0:
            with torch.no_grad():
                v = sum(noise_loss(ema, test).item() for _ in range(3)) / 3
            print(f"[ddpm] step {step} loss {np.mean(window[-100:]):.4f} test {v:.4f}")

    with torch.no_grad():
        x = torch.randn(500, L)
        for i in reversed(range(T)):
            eps = ema(x, torch.full((len(x),), i))
            x = (x - betas[i] / (1 - abar[i]).sqrt() * eps) / alphas[i].sqrt()
            if i > 0:
                x = x + betas[i].sqrt() * torch.randn_like(x)
    return x * std + mean


def main():
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    train, test = make_curves(2000, rng), make_curves(500, rng)
    mean, std = (0.0, 1.0) if CASE == 5 else (float(train.mean()), float(train.std()))
    tr = torch.from_numpy((train - mean) / std)
    te = torch.from_numpy((test - mean) / std)
    fit = train_vae if METHOD == "vae" else train_ddpm
    gen = fit(tr, te, mean, std)
    sample_report(gen, test)


if __name__ == "__main__":
    sys.exit(main())
