import math
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

SIDE = 12


def bars_and_blobs(n, rng):
    """Pictures with one bright blob and one bar, values in [0, 1]."""
    yy, xx = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32)
    out = np.zeros((n, SIDE, SIDE), dtype=np.float32)
    for i in range(n):
        cy, cx = rng.uniform(2, SIDE - 3, size=2)
        w = rng.uniform(1.2, 2.2)
        out[i] = np.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / (2 * w * w))
        if rng.rand() < 0.5:
            out[i, int(rng.randint(SIDE)), :] = 0.8
        else:
            out[i, :, int(rng.randint(SIDE))] = 0.8
    return torch.from_numpy(out).reshape(n, -1)


class MLPVAE(nn.Module):
    def __init__(self, latent=8, hidden=128, act=nn.ReLU):
        super().__init__()
        d = SIDE * SIDE
        self.latent = latent
        self.enc = nn.Sequential(nn.Linear(d, hidden), act(), nn.Linear(hidden, hidden), act())
        self.mu = nn.Linear(hidden, latent)
        self.logvar = nn.Linear(hidden, latent)
        self.dec = nn.Sequential(nn.Linear(latent, hidden), act(), nn.Linear(hidden, hidden), act(),
                                 nn.Linear(hidden, d))

    def sample(self, mu, logvar):
        if CASE == 7:
            torch.manual_seed(SEED)
        return mu + torch.randn_like(mu) * (0.5 * logvar).exp()

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = self.sample(mu, logvar)
        return self.dec(z), mu, logvar


class ConvVAE(MLPVAE):
    def __init__(self, latent=8, width=12):
        super().__init__(latent)
        self.enc = nn.Sequential(nn.Unflatten(1, (1, SIDE, SIDE)), nn.Conv2d(1, width, 3, 2, 1), nn.LeakyReLU(0.1),
                                 nn.Conv2d(width, 2 * width, 3, 2, 1), nn.LeakyReLU(0.1), nn.Flatten(),
                                 nn.Linear(2 * width * 9, 128), nn.LeakyReLU(0.1))
        self.dec = nn.Sequential(nn.Linear(latent, 2 * width * 9), nn.LeakyReLU(0.1),
                                 nn.Unflatten(1, (2 * width, 3, 3)),
                                 nn.ConvTranspose2d(2 * width, width, 4, 2, 1), nn.LeakyReLU(0.1),
                                 nn.ConvTranspose2d(width, 1, 4, 2, 1), nn.Flatten())


class SigmaVAE(MLPVAE):
    """The encoder gives the standard deviation itself."""

    def forward(self, x):
        h = self.enc(x)
        mu = self.mu(h)
        sigma = F.softplus(self.logvar(h)) + 1e-4
        z = mu + sigma * torch.randn_like(mu)
        return self.dec(z), mu, 2 * torch.log(sigma)


class VQFree(MLPVAE):
    """Plain Gaussian decoder with a learned noise level."""

    def __init__(self, **kw):
        super().__init__(**kw)
        self.log_noise = nn.Parameter(torch.zeros(()))


def kl_term(mu, logvar):
    return -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()


def reconstruction(model, out, x):
    if CASE in (1, 9):
        return F.mse_loss(torch.sigmoid(out), x, reduction="none").sum(1).mean() * 10
    if CASE == 2:
        var = (2 * model.log_noise).exp()
        return (0.5 * (out - x) ** 2 / var + model.log_noise + 0.5 * math.log(2 * math.pi)).sum(1).mean()
    if CASE == 5:
        return F.binary_cross_entropy_with_logits(out, x)
    if CASE == 6:
        p = torch.sigmoid(out)
        return -(x * torch.log(p) + (1 - x) * torch.log(1 - p)).sum(1).mean()
    return F.binary_cross_entropy_with_logits(out, x, reduction="none").sum(1).mean()


def make():
    """model, optimizer, beta schedule, epochs, batch size, scheduler"""
    epochs, batch = 30, 50
    beta = lambda step: 1.0
    scheduler = None
    if CASE == 1:
        model = ConvVAE()
        opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    elif CASE == 2:
        model = VQFree(latent=6, act=nn.SiLU)
        opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    elif CASE == 3:
        model = MLPVAE(latent=4, act=nn.Tanh)
        opt = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-4)
        beta = lambda step: min(1.0, step / 250)
        scheduler = torch.optim.lr_scheduler.StepLR(opt, 1, 0.9)
    elif CASE == 4:
        model = SigmaVAE(latent=5)
        opt = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    elif CASE == 6:
        model = MLPVAE(latent=12, hidden=160)
        opt = torch.optim.Adam(model.parameters(), lr=4e-3)
        beta = lambda step: min(0.2, step / 1000)
    elif CASE == 7:
        model = MLPVAE(latent=6, hidden=200)
        opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    elif CASE == 8:
        model = MLPVAE()
        opt = torch.optim.Adam(model.parameters(), lr=1e-6)
    elif CASE == 9:
        model = ConvVAE()
        for m in model.modules():
            if isinstance(m, (nn.Linear, nn.Conv2d, nn.ConvTranspose2d)):
                nn.init.normal_(m.weight, 0.0, 0.5)
        opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    else:
        model = MLPVAE()
        opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    return model, opt, beta, epochs, batch, scheduler


def evaluate(model, x):
    model.eval()
    with torch.no_grad():
        out, mu, logvar = model(x)
        recon = torch.sigmoid(out) if CASE != 2 else out
        mse = F.mse_loss(recon, x).item()
        kl = kl_term(mu, logvar).item()
        spread = mu.std(0).mean().item()
    model.train()
    return mse, kl, spread


def main():
    torch.manual_seed(SEED)
    rng = np.random.RandomState(SEED)
    train, test = bars_and_blobs(2000, rng), bars_and_blobs(400, rng)
    if CASE in (0, 6):
        train, test = (train > 0.3).float(), (test > 0.3).float()
    base = F.mse_loss(train.mean(0).expand_as(test), test).item()
    model, opt, beta, epochs, batch, scheduler = make()
    if CASE == 7:
        train, epochs = train[:400], 100
    loader = DataLoader(TensorDataset(train), batch_size=batch, shuffle=True)
    step = 0
    for epoch in range(epochs):
        rec_sum = kl_sum = 0.0
        for (x,) in loader:
            out, mu, logvar = model(x)
            rec, kl = reconstruction(model, out, x), kl_term(mu, logvar)
            if CASE == 10:
                loss = rec - kl
            else:
                loss = rec + beta(step) * kl
            opt.zero_grad()
            loss.backward()
            opt.step()
            rec_sum += rec.item()
            kl_sum += kl.item()
            step += 1
        if scheduler is not None:
            scheduler.step()
        mse, kl, spread = evaluate(model, test)
        n = len(loader)
        print("epoch %d rec %.3f kl %.3f | test mse %.4f (mean image %.4f) kl %.3f mu spread %.3f"
              % (epoch, rec_sum / n, kl_sum / n, mse, base, kl, spread))


if __name__ == "__main__":
    main()
