# latent space of drum hits: 12 bands x 8 frames of energy, flattened
import os
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
BANDS, FRAMES = 12, 8
D = BANDS * FRAMES


def drum_hits(n, seed):
    r = np.random.default_rng(seed)
    kind = r.integers(0, 4, n)                     # kick, snare, tom, hat
    centre = np.array([1.5, 6.0, 3.5, 10.0])[kind] + r.normal(0, 0.7, n)
    width = np.array([1.2, 3.5, 1.5, 1.8])[kind] * r.uniform(0.7, 1.4, n)
    decay = np.array([2.5, 1.8, 4.0, 0.9])[kind] * r.uniform(0.6, 1.6, n)
    glide = r.normal(0, 0.25, n) - 0.15
    b = np.arange(BANDS)[None, :, None]
    t = np.arange(FRAMES)[None, None, :]
    c = centre[:, None, None] + glide[:, None, None] * t
    e = np.exp(-0.5 * ((b - c) / width[:, None, None]) ** 2 - t / decay[:, None, None])
    e = e * r.uniform(0.7, 1.3, (n, 1, 1)) + np.abs(r.normal(0, 0.05, (n, BANDS, FRAMES)))
    x = np.log(e + 0.03).reshape(n, D)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(kind)


class VAE(nn.Module):
    def __init__(self, latent=6):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(D, 96), nn.ELU(), nn.Linear(96, 64), nn.ELU())
        self.mu = nn.Linear(64, latent)
        self.logvar = nn.Linear(64, latent)
        last = nn.Sigmoid() if CASE == 4 else nn.Identity()
        self.dec = nn.Sequential(nn.Linear(latent, 64), nn.ELU(), nn.Linear(64, 96), nn.ELU(), nn.Linear(96, D), last)
        self.latent = latent

    def encode(self, x):
        h = self.enc(x)
        return self.mu(h), self.logvar(h).clamp(-8, 8)

    def forward(self, x):
        mu, logvar = self.encode(x)
        q = Normal(mu, torch.exp(0.5 * logvar))
        z = q.sample() if CASE == 1 else q.rsample()
        return self.dec(z), mu, logvar


def kl_term(mu, logvar):
    k = 0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp(), dim=1).mean()
    return k if CASE == 3 else -k


def recon_term(out, x):
    if CASE == 2:
        return F.mse_loss(out, x)
    return F.mse_loss(out, x, reduction="none").sum(1).mean()


def train_vae(x, xt):
    net = VAE()
    opt = torch.optim.Adam(net.parameters(), lr=1.5e-3)
    epochs, bs = 16, 64
    for ep in range(epochs):
        net.train()
        beta = min(1.0, (ep + 1) / 5)
        log = np.zeros(3)
        batches = torch.randperm(len(x)).split(bs)
        for idx in batches:
            xb = x[idx]
            out, mu, lv = net(xb)
            rec, kl = recon_term(out, xb), kl_term(mu, lv)
            loss = rec + beta * kl
            opt.zero_grad()
            loss.backward()
            opt.step()
            log += [loss.item(), rec.item(), kl.item()]
        log /= len(batches)
        if ep % 2 == 1:
            net.eval()
            with torch.no_grad():
                mu, lv = net.encode(xt)
                err = F.mse_loss(net.dec(mu), xt).item()
            print(f"epoch {ep + 1:2d} loss {log[0]:.3f} rec {log[1]:.3f} kl {log[2]:.3f}  test mse {err:.4f}")
    with torch.no_grad():
        fake = net.dec(torch.randn(500, net.latent))
    print("mean code std %.3f" % mu.std(0).mean().item())
    print("generated: mean %.3f std %.3f | real: mean %.3f std %.3f" % (fake.mean(), fake.std(0).mean(), xt.mean(), xt.std(0).mean()))


class BandEncoder(nn.Module):
    def __init__(self, code=10):
        super().__init__()
        self.net = nn.Sequential(nn.Conv1d(BANDS, 24, 3, padding=1), nn.SiLU(), nn.Conv1d(24, 24, 3, stride=2, padding=1),
                                 nn.SiLU(), nn.Flatten(), nn.Linear(96, code))

    def forward(self, x):
        return self.net(x.view(-1, BANDS, FRAMES))


def train_denoiser(x, kind, xt, kt):
    """masked + noisy input, clean target; afterwards a probe on the code"""
    enc = BandEncoder()
    dec = nn.Sequential(nn.Linear(10, 80), nn.SiLU(), nn.Linear(80, D))
    o1 = torch.optim.AdamW(enc.parameters(), lr=2e-3)
    o2 = torch.optim.AdamW(dec.parameters(), lr=4e-3)
    for ep in range(12):
        tot = 0.0
        for idx in torch.randperm(len(x)).split(50):
            clean = x[idx]
            keep = (torch.rand_like(clean) > 0.5).float()
            rec = dec(enc(keep * (clean + 0.5 * torch.randn_like(clean))))
            loss = F.smooth_l1_loss(rec, clean)
            o1.zero_grad(); o2.zero_grad()
            loss.backward()
            o1.step(); o2.step()
            tot += loss.item() * len(idx)
        with torch.no_grad():
            err = F.smooth_l1_loss(dec(enc(0.5 * xt)), xt).item()
        print(f"epoch {ep + 1} train {tot / len(x):.4f} test (all bands, halved) {err:.4f}")
    probe = nn.Linear(10, 4)
    opt = torch.optim.Adam(probe.parameters(), lr=0.02)
    with torch.no_grad():
        c, ct = enc(0.5 * x), enc(0.5 * xt)
    for s in range(150):
        loss = F.cross_entropy(probe(c), kind)
        opt.zero_grad(); loss.backward(); opt.step()
    print("probe accuracy %.3f" % (probe(ct).argmax(1) == kt).float().mean().item())


x, kind = drum_hits(3000, SEED + 2)
xt, kt = drum_hits(600, SEED + 702)
m, s = x.mean(), x.std()
x, xt = (x - m) / s, (xt - m) / s
if CASE == 5:
    train_denoiser(x, kind, xt, kt)
else:
    train_vae(x, xt)
