"""Representation learning on short vibration windows (64 samples) of a rotating machine."""
import itertools
import math
import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal, kl_divergence
from torch.utils.data import DataLoader, TensorDataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
L = 64
STATES = ["normal", "imbalance", "outer_race", "looseness"]


def window(rng, state):
    t = np.arange(L) / L
    f = rng.uniform(2.0, 3.2)
    ph = rng.uniform(0, 2 * np.pi)
    x = 0.45 * np.sin(2 * np.pi * f * t + ph)
    if state == 1:
        x *= rng.uniform(1.5, 1.9)
    elif state == 2:
        period, start = rng.uniform(12, 17), rng.uniform(0, 12)
        for k in range(6):
            d = np.arange(L) - (start + k * period)
            x += 0.55 * np.where(d >= 0, np.exp(-np.maximum(d, 0) / 2.5) * np.sin(1.6 * d), 0)
    elif state == 3:
        x += 0.3 * np.sin(4 * np.pi * f * t + 2 * ph) + 0.18 * np.sin(6 * np.pi * f * t + ph)
    return 0.45 * (x + rng.normal(0, 0.06, L))


def make_data(rng, n, p=None):
    s = rng.choice(4, size=n, p=p)
    return np.stack([window(rng, k) for k in s]), s


def load(rng, n, p=None):
    """acquisition card delivers 16 bit integers"""
    x, s = make_data(rng, n, p)
    if CASE == 10:
        raw = x.astype(np.int16)
    else:
        raw = (x * 8192).astype(np.int16)
    x = raw.astype(np.float32) / 8192.0
    return x, s


def scaled(train, *others):
    mu, sd = train.mean(), train.std() + 1e-6
    return [torch.from_numpy((a - mu) / sd).float() for a in (train,) + others]


class Encoder(nn.Module):
    def __init__(self, z):
        super().__init__()
        self.c = nn.Sequential(nn.Conv1d(1, 12, 5, 2, 2), nn.LeakyReLU(0.1), nn.Conv1d(12, 24, 5, 2, 2), nn.LeakyReLU(0.1), nn.Flatten())
        self.h = nn.Sequential(nn.Linear(24 * 16, 64), nn.LeakyReLU(0.1))
        self.mu, self.logvar = nn.Linear(64, z), nn.Linear(64, z)

    def forward(self, x):
        h = self.h(self.c(x.unsqueeze(1)))
        return self.mu(h), self.logvar(h)


class Decoder(nn.Module):
    def __init__(self, z):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(z, 64), nn.LeakyReLU(0.1), nn.Linear(64, 24 * 16), nn.LeakyReLU(0.1), nn.Unflatten(1, (24, 16)))
        self.c = nn.Sequential(nn.ConvTranspose1d(24, 12, 4, 2, 1), nn.LeakyReLU(0.1), nn.ConvTranspose1d(12, 1, 4, 2, 1))
        self.last = nn.Sigmoid() if CASE == 6 else nn.Identity()

    def forward(self, z):
        return self.last(self.c(self.f(z)).squeeze(1))


class VAE(nn.Module):
    def __init__(self, z=8):
        super().__init__()
        self.encoder, self.decoder = Encoder(z), Decoder(z)

    def forward(self, x):
        mu, logvar = self.encoder(x)
        if CASE == 3:
            z = Normal(mu, (0.5 * logvar).exp()).sample()
        else:
            z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.decoder(z), mu, logvar


def probe(Ztr, ytr, Zte, yte):
    """ridge read-out of the machine state from codes"""
    f = lambda Z: torch.cat([Z, Z ** 2, torch.ones(len(Z), 1)], 1)
    A, B = f(Ztr).double(), f(Zte).double()
    T = F.one_hot(torch.as_tensor(ytr), 4).double()
    W = torch.linalg.solve(A.T @ A + 1e-2 * torch.eye(A.shape[1]).double(), A.T @ T)
    return ((B @ W).argmax(1) == torch.as_tensor(yte)).double().mean().item()


def vae_loss(recon, x, mu, logvar, beta):
    if CASE == 1:
        rec = F.mse_loss(recon, x)
    else:
        rec = F.mse_loss(recon, x, reduction="sum") / len(x) / (2 * 0.2)
    if CASE == 2:
        kl = 0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp(), dim=1).mean()
    else:
        kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp(), dim=1).mean()
    return rec + beta * kl, rec, kl


def run_vae(rng, epochs=8, beta_max=1.0, anneal=True):
    xtr, ytr = load(rng, 1600)
    xte, yte = load(rng, 400)
    Xtr, Xte = scaled(xtr, xte)
    model = VAE()
    params = model.decoder.parameters() if CASE == 5 else model.parameters()
    opt = torch.optim.Adam(params, lr=2e-3)
    loader = DataLoader(TensorDataset(Xtr), batch_size=50, shuffle=True)
    step, total = 0, epochs * len(loader)
    for ep in range(epochs):
        sums = np.zeros(3)
        for (x,) in loader:
            beta = beta_max * min(1.0, 2.0 * step / total) if anneal else beta_max
            recon, mu, logvar = model(x)
            loss, rec, kl = vae_loss(recon, x, mu, logvar, beta)
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            sums += [loss.item(), rec.item(), kl.item()]
        with torch.no_grad():
            mu, logvar = model.encoder(Xte)
            mse = F.mse_loss(model.decoder(mu), Xte).item()
        l, r, k = sums / len(loader)
        print(f"epoch {ep + 1} loss {l:.4f} rec {r:.4f} kl {k:.4f} beta {beta:.2f} | test mse {mse:.4f}")
    with torch.no_grad():
        acc = probe(model.encoder(Xtr)[0], ytr, mu, yte)
        gen = model.decoder(torch.randn(400, 8))
    print(f"test mse {mse:.4f}  explained {1 - mse / (Xte.var().item() + 1e-9):.4f}  state probe {acc:.3f}  sample std {gen.std(0).mean():.3f} (data {Xte.std(0).mean():.3f})")


def run_denoiser(rng, epochs=9):
    """convolutional denoising autoencoder; noise is drawn anew for every batch"""
    xtr, _ = load(rng, 1400)
    xte, _ = load(rng, 300)
    Xtr, Xte = scaled(xtr, xte)
    net = nn.Sequential(nn.Conv1d(1, 16, 7, 2, 3), nn.ReLU(), nn.Conv1d(16, 24, 5, 2, 2), nn.ReLU(),
                        nn.ConvTranspose1d(24, 16, 4, 2, 1), nn.ReLU(), nn.ConvTranspose1d(16, 1, 4, 2, 1))
    opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, 6e-3, epochs=epochs, steps_per_epoch=28)
    test_noise = torch.randn(Xte.shape, generator=torch.Generator().manual_seed(1)) * 0.8
    best, path = float("inf"), os.path.join(tempfile.mkdtemp(), "dae.pt")
    for ep in range(epochs):
        for idx in torch.randperm(len(Xtr)).split(50):
            clean = Xtr[idx].unsqueeze(1)
            noisy = clean + 0.8 * torch.randn_like(clean)
            noisy = noisy * (torch.rand(len(idx), 1, L) > 0.1)
            loss = F.mse_loss(net(noisy), clean)
            opt.zero_grad(); loss.backward(); opt.step(); sched.step()
        with torch.no_grad():
            v = F.mse_loss(net((Xte + test_noise).unsqueeze(1)).squeeze(1), Xte).item()
        print(f"epoch {ep} train {loss.item():.4f} test {v:.4f} (noise level {0.64:.2f})")
        if v < best:
            best = v
            torch.save(net.state_dict(), path)
    net.load_state_dict(torch.load(path))
    print(f"best test mse {best:.4f}")


def run_free_bits(rng, epochs=9, floor=0.4):
    """VAE with torch.distributions and a minimum of nats per latent"""
    xtr, ytr = load(rng, 1500)
    xte, yte = load(rng, 400)
    Xtr, Xte = scaled(xtr, xte)
    enc = nn.Sequential(nn.Linear(L, 96), nn.ReLU(), nn.Linear(96, 64), nn.ReLU(), nn.Linear(64, 12))
    dec = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, L))
    log_sigma = nn.Parameter(torch.zeros(()))
    opt = torch.optim.Adam(itertools.chain(enc.parameters(), dec.parameters(), [log_sigma]), lr=2e-3)
    prior = Normal(0.0, 1.0)
    for ep in range(epochs):
        tot = 0.0
        for idx in torch.randperm(len(Xtr)).split(32):
            x = Xtr[idx]
            m, r = enc(x).chunk(2, 1)
            q = Normal(m, F.softplus(r) + 1e-3)
            nll = -Normal(dec(q.rsample()), log_sigma.exp()).log_prob(x).sum(1).mean()
            kl = kl_divergence(q, prior).mean(0)
            loss = nll + torch.clamp(kl, min=floor).sum()
            opt.zero_grad(); loss.backward()
            nn.utils.clip_grad_norm_(itertools.chain(enc.parameters(), dec.parameters()), 20.0)
            opt.step()
            tot += loss.item()
        with torch.no_grad():
            m = enc(Xte).chunk(2, 1)[0]
            mse = F.mse_loss(dec(m), Xte).item()
        print(f"epoch {ep} objective {tot / 47:8.3f} kl {kl.sum().item():.2f} sigma {log_sigma.exp().item():.3f} test mse {mse:.4f}")
    with torch.no_grad():
        print(f"explained {1 - mse / Xte.var().item():.4f} probe {probe(enc(Xtr).chunk(2, 1)[0], ytr, m, yte):.3f}")


def run_deep_ae(rng, act, depth=6, epochs=10, lr=2e-3):
    xtr, ytr = load(rng, 1600)
    xte, yte = load(rng, 400)
    Xtr, Xte = scaled(xtr, xte)
    widths = np.linspace(L, 10, depth).astype(int)

    def chain(ws):
        out = []
        for a, b in zip(ws[:-1], ws[1:]):
            out += [nn.Linear(int(a), int(b)), act()]
        return out[:-1]

    enc, dec = nn.Sequential(*chain(widths)), nn.Sequential(*chain(widths[::-1]))
    opt = torch.optim.Adam(list(enc.parameters()) + list(dec.parameters()), lr=lr)
    loader = DataLoader(TensorDataset(Xtr), batch_size=40, shuffle=True)
    for ep in range(epochs):
        tot = 0.0
        for (x,) in loader:
            loss = F.mse_loss(dec(enc(x)), x)
            opt.zero_grad(); loss.backward(); opt.step()
            tot += loss.item()
        with torch.no_grad():
            mse = F.mse_loss(dec(enc(Xte)), Xte).item()
        print(f"epoch {ep:2d} train {tot / len(loader):.4f} test {mse:.4f}")
    with torch.no_grad():
        print(f"explained {1 - mse / Xte.var().item():.4f} probe {probe(enc(Xtr), ytr, enc(Xte), yte):.3f}")


def run_aae(rng, epochs=9):
    """adversarial autoencoder: a critic pulls the codes to the unit Gaussian"""
    xtr, ytr = load(rng, 1500)
    xte, yte = load(rng, 400)
    Xtr, Xte = scaled(xtr, xte)
    enc = nn.Sequential(nn.Linear(L, 64), nn.ReLU(), nn.Linear(64, 6))
    dec = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, L))
    dis = nn.Sequential(nn.Linear(6, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
    o_rec = torch.optim.Adam(list(enc.parameters()) + list(dec.parameters()), lr=3e-3)
    o_dis = torch.optim.Adam(dis.parameters(), lr=1e-3, betas=(0.5, 0.99))
    o_gen = torch.optim.Adam(enc.parameters(), lr=5e-4, betas=(0.5, 0.99))
    bce = F.binary_cross_entropy_with_logits
    for ep in range(epochs):
        for idx in torch.randperm(len(Xtr)).split(50):
            x = Xtr[idx]
            rec = F.mse_loss(dec(enc(x)), x)
            o_rec.zero_grad(); rec.backward(); o_rec.step()
            with torch.no_grad():
                z = enc(x)
            real, fake = dis(torch.randn_like(z)), dis(z)
            ld = bce(real, torch.ones_like(real)) + bce(fake, torch.zeros_like(fake))
            o_dis.zero_grad(); ld.backward(); o_dis.step()
            g = dis(enc(x))
            lg = bce(g, torch.ones_like(g))
            o_gen.zero_grad(); lg.backward(); o_gen.step()
        with torch.no_grad():
            z = enc(Xte)
            mse = F.mse_loss(dec(z), Xte).item()
        print(f"epoch {ep} rec {rec.item():.4f} dis {ld.item():.3f} gen {lg.item():.3f} code std {z.std(0).mean():.3f} test mse {mse:.4f}")
    with torch.no_grad():
        print(f"explained {1 - mse / Xte.var().item():.4f} probe {probe(enc(Xtr), ytr, z, yte):.3f}")


def run_anomaly(rng, epochs=10):
    """sparse autoencoder on healthy machines only, scored by its error"""
    xtr, _ = load(rng, 1200, p=[1, 0, 0, 0])
    xte, s = load(rng, 500)
    Xtr, Xte = scaled(xtr, xte)
    enc = nn.Sequential(nn.Linear(L, 48), nn.ReLU(), nn.Linear(48, 16), nn.ReLU())
    dec = nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Linear(48, L))
    opt = torch.optim.SGD(list(enc.parameters()) + list(dec.parameters()), lr=0.5, momentum=0.9, weight_decay=1e-6)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda e: 0.9 ** e)
    loader = DataLoader(TensorDataset(Xtr), batch_size=24, shuffle=True)
    for ep in range(epochs):
        tot = 0.0
        for (x,) in loader:
            z = enc(x)
            rec = F.mse_loss(dec(z), x)
            loss = rec + 1e-3 * z.abs().mean()
            opt.zero_grad(); loss.backward(); opt.step()
            tot += rec.item()
        sched.step()
        with torch.no_grad():
            err = ((dec(enc(Xte)) - Xte) ** 2).mean(1).numpy()
        bad = s > 0
        rank = err.argsort().argsort() + 1
        auc = (rank[bad].sum() - bad.sum() * (bad.sum() + 1) / 2) / (bad.sum() * (~bad).sum())
        print(f"epoch {ep} train {tot / len(loader):.4f} error normal {err[~bad].mean():.3f} faulty {err[bad].mean():.3f} auc {auc:.4f} active {(z > 0).float().mean():.2f}")


if __name__ == "__main__":
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED + 23)
    if CASE == 4:
        run_denoiser(rng)
    elif CASE == 7:
        run_free_bits(rng)
    elif CASE == 8:
        run_deep_ae(rng, nn.Sigmoid)
    elif CASE == 9:
        run_aae(rng)
    elif CASE == 11:
        run_anomaly(rng)
    elif CASE == 12:
        run_deep_ae(rng, nn.ELU, depth=5)
    else:
        run_vae(rng)
