import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)

S = 14
LATENT = 8
STEPS = {5: 900, 10: 900}.get(CASE, 700)
BATCH = 64
BETA = {2: 1.5}.get(CASE, 1.0)
COND = CASE == 8
KINDS = 3


def paint(img, kind, a, b, r):
    yy, xx = np.mgrid[0:S, 0:S]
    if kind == 0:
        img[:] = ((yy - a) ** 2 + (xx - b) ** 2 <= r * r)
    elif kind == 1:
        img[:] = (np.abs(yy - a) <= r * 0.8) & (np.abs(xx - b) <= r * 0.8)
    else:
        img[:] = (np.abs(yy - a) <= 0.8) & (np.abs(xx - b) <= r + 1.5)
    return img


def build(n, scratch=None):
    images, kinds = [], []
    for _ in range(n):
        kind = int(rng.integers(0, KINDS))
        buf = scratch if scratch is not None else np.zeros((S, S), dtype=np.float32)
        images.append(paint(buf, kind, rng.uniform(3, S - 4), rng.uniform(3, S - 4), rng.uniform(1.8, 3.6)))
        kinds.append(kind)
    if CASE == 4 and n > 1000:
        for i in rng.choice(n, size=2, replace=False):
            images[i] = np.zeros((S, S), dtype=np.float32)
    return torch.from_numpy(np.stack(images)).reshape(n, S * S), torch.tensor(kinds)


train_x, train_k = build(1500, np.zeros((S, S), dtype=np.float32) if CASE == 11 else None)
val_x, val_k = build(200)
if CASE == 9:
    train_x, val_x = train_x * 255.0, val_x * 255.0


class CVAE(nn.Module):
    def __init__(self):
        super().__init__()
        extra = KINDS if COND else 0
        self.enc = nn.Sequential(nn.Linear(S * S + extra, 160), nn.ReLU(), nn.Linear(160, 96), nn.ReLU())
        self.mu = nn.Linear(96, LATENT)
        self.logvar = nn.Linear(96, LATENT)
        self.dec = nn.Sequential(nn.Linear(LATENT + extra, 96), nn.ReLU(), nn.Linear(96, 160), nn.ReLU(),
                                 nn.Linear(160, S * S))

    def encode(self, x, c):
        if CASE in (4, 5):
            x = (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True)
        if COND:
            x = torch.cat([x, c], 1)
        h = self.enc(x)
        return self.mu(h), self.logvar(h)

    def decode(self, z, c):
        if COND:
            z = torch.cat([z, c], 1)
        out = self.dec(z)
        if CASE in (3, 8, 9):
            out = torch.sigmoid(out)
        return out

    def forward(self, x, c):
        mu, logvar = self.encode(x, c)
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        if CASE == 6:
            z = torch.tensor(mu.tolist()) + eps * torch.tensor(std.tolist())
        else:
            z = mu + eps * std
        return self.decode(z, c), mu, logvar


def losses(out, x, mu, logvar):
    if CASE in (8, 9):
        rec = 8.0 * F.mse_loss(out, x, reduction="sum") / len(x)
    elif CASE == 1:
        rec = F.binary_cross_entropy_with_logits(out, x)
    else:
        rec = F.binary_cross_entropy_with_logits(out, x, reduction="sum") / len(x)
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp())
    if CASE == 7:
        kl = 0.5 * (1 + logvar - mu.pow(2) - logvar.exp())
    return rec, kl.sum(1).mean()


def beta_at(step):
    if CASE == 5:
        return BETA * min(1.0, (step % 300) / 150)
    if CASE == 10:
        return 0.0 if step < 450 else BETA * min(1.0, (step - 450) / 200)
    return BETA * min(1.0, step / 200)


def pixel_error():
    model.eval()
    with torch.no_grad():
        c = F.one_hot(val_k, KINDS).float()
        mu, _ = model.encode(val_x, c)
        out = model.decode(mu, c)
        gold = val_x > val_x.max() / 2
        pred = out > 0.5 * max(1.0, float(val_x.max())) if CASE in (3, 8, 9) else out > 0
        inter = (pred & gold).sum(1).float()
        iou = inter / (pred | gold).sum(1).clamp(min=1)
        used = (mu.var(0) > 0.05).sum().item()
    model.train()
    return iou.mean().item(), used


model = CVAE()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(STEPS):
    idx = torch.randint(0, len(train_x), (BATCH,))
    x, c = train_x[idx], F.one_hot(train_k[idx], KINDS).float()
    out, mu, logvar = model(x, c)
    rec, kl = losses(out, x, mu, logvar)
    loss = rec + beta_at(step) * kl
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 49:
        iou, used = pixel_error()
        print(f"step {step + 1:4d} loss {loss.item():.3f} rec {rec.item():.3f} kl {kl.item():.3f} "
              f"beta {beta_at(step):.2f} val iou {iou:.3f} latents {used}")
