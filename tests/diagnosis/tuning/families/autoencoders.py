import os
import math
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rs = np.random.RandomState(SEED)


def blobs(n, size=10):
    """grey images of one or two soft discs"""
    g = np.arange(size)
    yy, xx = np.meshgrid(g, g, indexing="ij")
    out = np.zeros((n, size, size))
    for _ in range(2):
        cy, cx = rs.uniform(1.5, size - 2.5, (2, n, 1, 1))
        r = rs.uniform(1.2, 2.4, (n, 1, 1))
        on = (rs.rand(n, 1, 1) < 0.8)
        out = np.maximum(out, on * np.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / r ** 2))
    return torch.tensor(out.reshape(n, -1), dtype=torch.float32)


class VAE(nn.Module):
    def __init__(self, dim=100, hidden=96, latent=8, linear=False):
        super().__init__()
        act = nn.Identity if linear else nn.ReLU
        self.encoder = nn.Sequential(nn.Linear(dim, hidden), act(), nn.Linear(hidden, hidden), act())
        self.mu = nn.Linear(hidden, latent)
        self.logvar = nn.Linear(hidden, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, hidden), act(), nn.Linear(hidden, hidden), act(),
                                     nn.Linear(hidden, dim))

    def encode(self, x):
        h = self.encoder(x)
        return self.mu(h), self.logvar(h)

    def forward(self, x):
        mu, logvar = self.encode(x)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar) if self.training else mu
        y = self.decoder(z)
        if CASE == 2:
            y = torch.sigmoid(y)
        return y, mu, logvar


class AutoEncoder(nn.Module):
    def __init__(self, dim=100, hidden=128, latent=8, act=nn.ReLU):
        super().__init__()
        self.down = nn.Sequential(nn.Linear(dim, hidden), act(), nn.Linear(hidden, hidden // 2), act(),
                                  nn.Linear(hidden // 2, latent))
        self.up = nn.Sequential(nn.Linear(latent, hidden // 2), act(), nn.Linear(hidden // 2, hidden), act(),
                                nn.Linear(hidden, dim))

    def forward(self, x):
        return self.up(self.down(x))


class ConvAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv2d(1, 8, 3, 2, 1), nn.ELU(), nn.Conv2d(8, 16, 3, 2, 1), nn.ELU(),
                                 nn.Flatten(), nn.Linear(144, 12))
        self.dec = nn.Sequential(nn.Linear(12, 144), nn.ELU(), nn.Linear(144, 100))

    def forward(self, x):
        return self.dec(self.enc(x.view(-1, 1, 10, 10)))


is_vae = CASE in (0, 1, 2, 3, 8, 9)
n = 2000
data = blobs(n + 400)
train, test = data[:n], data[n:]
beta, steps, bs, lr = 1.0, 600, 64, 2e-3
if CASE == 0:
    beta = 60.0
if CASE == 9:
    steps = 900

if is_vae:
    model = VAE()
elif CASE == 7:
    model = AutoEncoder(act=nn.Identity)
elif CASE == 10:
    model = ConvAE()
else:
    model = AutoEncoder()

half = CASE == 4
if half:
    model = model.to(torch.bfloat16)

if CASE == 1:
    opt = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
elif CASE == 3:
    opt = torch.optim.Adam([{"params": model.mu.parameters()}, {"params": model.logvar.parameters()},
                            {"params": model.encoder.parameters()}], lr=lr)
elif CASE == 4:
    opt = torch.optim.Adam(model.parameters(), lr=1e-4)
    steps = 1500
elif CASE == 5:
    opt = torch.optim.RMSprop(model.parameters(), lr=2e-7)
elif CASE in (6, 11):
    opt = torch.optim.RMSprop(model.parameters(), lr=1e-3)
elif CASE == 12:
    opt = torch.optim.Adam(model.parameters(), lr=1e-4, eps=1e-8)
    steps = 2000
else:
    opt = torch.optim.Adam(model.parameters(), lr=lr)


def kl_term(mu, logvar):
    return -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1)


def objective(x, step):
    if is_vae:
        y, mu, logvar = model(x)
        rec = F.binary_cross_entropy_with_logits(y, x, reduction="none").sum(1)
        w = beta
        if CASE == 9:
            w = beta * min(1.0, step / 400) * 0.5
        per_sample = rec + w * kl_term(mu, logvar)
        if CASE == 1:
            return per_sample.sum()
        return per_sample.mean()
    if CASE in (6, 11):
        noisy = x + 0.3 * torch.randn_like(x)
        return F.smooth_l1_loss(model(noisy), x, beta=0.05) * 100
    if half:
        return (model(x.bfloat16()).float() - x).pow(2).mean()
    return (model(x) - x).pow(2).mean()


@torch.no_grad()
def explained():
    model.eval()
    if is_vae:
        y, mu, logvar = model(test)
        y = y if CASE == 2 else torch.sigmoid(y)
        kl = kl_term(mu, logvar).mean().item()
    else:
        y, kl = model(test.bfloat16() if half else test).float(), 0.0
    model.train()
    return 1 - ((y - test).pow(2).sum() / (test - train.mean(0)).pow(2).sum()).item(), kl


def next_batch():
    sampler = rs
    if CASE == 6:
        torch.manual_seed(SEED)
        sampler = np.random.RandomState(SEED)
    return train[torch.from_numpy(sampler.randint(0, n, bs))]


for step in range(steps):
    x = next_batch()
    loss = objective(x, step)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 0 or step == steps - 1:
        ev, kl = explained()
        print("iter %4d  loss %.4f  kl %.3f  explained variance %.3f" % (step, loss.item(), kl, ev))
