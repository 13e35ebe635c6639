import argparse
import copy
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

ap = argparse.ArgumentParser()
ap.add_argument("--latent", type=int, default=6)
ap.add_argument("--hidden", type=int, default=160)
ap.add_argument("--epochs", type=int, default=14)
ap.add_argument("--batch", type=int, default=64)
ap.add_argument("--lr", type=float, default=1.5e-3)
ap.add_argument("--warmup", type=int, default=120, help="steps until the KL term has full weight")
args = ap.parse_args([])


def pebbles(n, rng, side=16):
    """scanned pebbles: a wobbly disc of one brightness on a dark belt, 8 bit"""
    yy, xx = np.mgrid[0:side, 0:side] - (side - 1) / 2
    out = np.zeros((n, side, side))
    for i in range(n):
        cx, cy = rng.normal(0, 1.4, 2)
        a = np.arctan2(yy - cy, xx - cx)
        r = np.hypot(yy - cy, xx - cx)
        edge = rng.uniform(2.8, 5.4) * (1 + 0.3 * rng.uniform() * np.cos(2 * a + rng.uniform(0, 6.3))
                                         + 0.12 * rng.normal() * np.cos(3 * a + rng.uniform(0, 6.3)))
        out[i] = rng.uniform(0.55, 0.9) / (1 + np.exp(2.2 * (r - edge)))
    out = out + rng.normal(0, 0.03, out.shape)
    return (np.clip(out, 0, 0.97) * 255).astype(np.uint8).reshape(n, -1)


class Encoder(nn.Module):
    def __init__(self, d_in, hidden, latent):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d_in, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.mu = nn.Linear(hidden, latent)
        self.logvar = nn.Linear(hidden, latent)

    def forward(self, x):
        h = self.net(x)
        return self.mu(h), self.logvar(h)


class VAE(nn.Module):
    def __init__(self, d_in=256, hidden=args.hidden, latent=args.latent):
        super().__init__()
        self.encoder = Encoder(d_in, hidden, latent)
        layers = [nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, d_in)]
        if CASE == 2:
            layers.append(nn.Sigmoid())
        self.decoder = nn.Sequential(*layers)

    def sample(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        z = mu + std * torch.randn_like(std)
        return z

    def forward(self, x):
        mu, logvar = self.encoder(x)
        if CASE == 3:
            with torch.no_grad():
                z = self.sample(mu, logvar)
        else:
            z = self.sample(mu, logvar) if self.training else mu
        return self.decoder(z), mu, logvar


def terms(logits, x, mu, logvar):
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
    if CASE == 1:
        rec = F.binary_cross_entropy_with_logits(logits, x)
    else:
        rec = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(1).mean()
    return rec, kl


def run_vae(train, test):
    if CASE == 5:
        train, test = train // 255, test // 255
    else:
        train, test = train / 255.0, test / 255.0
    xt = torch.from_numpy(train).float()
    xv = torch.from_numpy(test).float()
    loader = DataLoader(TensorDataset(xt), batch_size=args.batch, shuffle=True)
    model = VAE()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    step = 0
    for epoch in range(1, args.epochs + 1):
        model.train()
        for (x,) in loader:
            logits, mu, logvar = model(x)
            rec, kl = terms(logits, x, mu, logvar)
            loss = rec + min(1.0, step / args.warmup) * kl
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            if step % 50 == 0:
                print("step %4d  loss %.4f  rec %.4f  kl %.4f" % (step, loss.item(), rec.item(), kl.item()))
        model.eval()
        with torch.no_grad():
            logits, mu, logvar = model(xv)
            rec, kl = terms(logits, xv, mu, logvar)
            err = F.mse_loss(torch.sigmoid(logits), xv)
            used = int((mu.var(0) > 0.02).sum())
        print("epoch %2d  test rec %.3f  kl %.3f  pixel mse %.5f  dims in use %d/%d"
              % (epoch, rec, kl, err, used, args.latent))


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, 12, 3, 2, 1), nn.LeakyReLU(0.1), nn.Conv2d(12, 24, 3, 2, 1), nn.LeakyReLU(0.1))
        self.code = nn.Linear(24 * 16, 24)
        self.back = nn.Linear(24, 24 * 16)
        self.up = nn.Sequential(nn.LeakyReLU(0.1), nn.ConvTranspose2d(24, 12, 4, 2, 1), nn.LeakyReLU(0.1),
                                nn.ConvTranspose2d(12, 1, 4, 2, 1))

    def forward(self, x):
        h = self.down(x.view(-1, 1, 16, 16)).flatten(1)
        return self.up(self.back(self.code(h)).view(-1, 24, 4, 4)).flatten(1)


def standardise(images):
    x = torch.from_numpy(images.astype(np.float32) / 255.0)
    mean, std = x.mean(1, keepdim=True), x.std(1, keepdim=True)
    return (x - mean) / std if CASE == 4 else (x - mean) / std.clamp(min=0.05)


def run_denoiser(train, test):
    train = train.copy()
    train[np.random.default_rng(SEED + 5).choice(len(train), 2, replace=False)] = 0   # belt was empty
    xt, xv = standardise(train), standardise(test)
    model = Denoiser()
    ema = copy.deepcopy(model).requires_grad_(False)
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=4e-3, total_steps=10 * ((len(xt) + 63) // 64))
    g = torch.Generator().manual_seed(77)
    noisy_v = xv + 0.9 * torch.randn(xv.shape, generator=g)
    print("mse of the noisy picture %.3f, of an empty one %.3f" % (F.mse_loss(noisy_v, xv), xv.pow(2).mean()))
    step = 0
    for epoch in range(10):
        for idx in torch.randperm(len(xt)).split(64):
            clean = xt[idx]
            noisy = clean + 0.9 * torch.randn_like(clean)
            noisy = noisy * (torch.rand_like(noisy) > 0.2)
            loss = F.mse_loss(model(noisy), clean)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
            sched.step()
            step += 1
            with torch.no_grad():
                for a, b in zip(ema.parameters(), model.parameters()):
                    a.lerp_(b, 0.02)
            if step % 40 == 0:
                print(f"[{step}] loss {loss.item():.4f}")
        with torch.no_grad():
            print(f"epoch {epoch}: denoised mse {F.mse_loss(model(noisy_v), xv):.4f}  averaged weights "
                  f"{F.mse_loss(ema(noisy_v), xv):.4f}")


def main():
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    images = pebbles(2800, rng)
    train, test = images[:2200], images[2200:]
    if CASE in (4, 6):
        run_denoiser(train, test)
    else:
        run_vae(train, test)


main()
