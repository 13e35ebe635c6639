"""Class-conditional GAN on 8x8 patches."""
import copy
import os

import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", 5))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)
K, ZDIM = 4, 12


def patches(y):
    """class 0/1: horizontal / vertical bar, class 2/3: bright corner / centre blob; position and gain vary"""
    n = len(y)
    gy, gx = torch.meshgrid(torch.arange(8.0), torch.arange(8.0), indexing="ij")
    c = torch.rand(n, 1, 1) * 5 + 1
    d = torch.rand(n, 1, 1) * 1.6
    bar_h = torch.exp(-(gy - c) ** 2 / 1.5)
    bar_v = torch.exp(-(gx - c) ** 2 / 1.5)
    corner = torch.exp(-((gy - d) ** 2 + (gx - d) ** 2) / 6)
    blob = torch.exp(-((gy - 3.5) ** 2 + (gx - 3.5) ** 2) / (2 + 3 * d))
    x = torch.stack([bar_h, bar_v, corner, blob], 1)[torch.arange(n), y]
    x = x * (0.7 + 0.3 * torch.rand(n, 1, 1)) * 2 - 1 + 0.05 * torch.randn(n, 8, 8)
    return x.view(n, 64)


class Generator(nn.Module):
    def __init__(self, h=96):
        super().__init__()
        self.emb = nn.Embedding(K, ZDIM)
        self.fc = nn.Sequential(nn.Linear(2 * ZDIM, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, 64))

    def forward(self, z, y):
        e = self.emb(y)
        if CASE == 1:
            h = torch.cat([e, e], 1)
        else:
            h = torch.cat([z, e], 1)
        return torch.tanh(self.fc(h)) * 1.1


class Critic(nn.Module):
    def __init__(self, h=96, sn=False):
        super().__init__()
        f = nn.utils.spectral_norm if sn else (lambda m: m)
        self.emb = nn.Embedding(K, h)
        self.a = f(nn.Linear(64, h))
        self.b = f(nn.Linear(h, h))
        self.c = f(nn.Linear(h, 1))

    def forward(self, x, y):
        h = F.leaky_relu(self.b(F.leaky_relu(self.a(x), 0.2)), 0.2)
        return self.c(h).squeeze(1) + (h * self.emb(y)).sum(1) / h.shape[1] ** 0.5


def gradient_penalty(D, real, fake, y):
    t = torch.rand(len(real), 1)
    mix = (t * real + (1 - t) * fake).requires_grad_(True)
    g, = torch.autograd.grad(D(mix, y).sum(), mix, create_graph=True)
    return ((g.norm(2, 1) - 1) ** 2).mean()


def r1(D, real, y):
    real = real.detach().requires_grad_(True)
    g, = torch.autograd.grad(D(real, y).sum(), real, create_graph=True)
    return g.pow(2).sum(1).mean()


def forever(bs):
    while True:
        y = torch.randint(K, (bs,))
        yield patches(y), y


def edist(a, b):
    return 2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()


@torch.no_grad()
def quality(G, n=200):
    out, spread = 0, 0
    for k in range(K):
        y = torch.full((n,), k)
        s = G(torch.randn(n, ZDIM), y)
        out += edist(s, patches(y)).item() / K
        spread += s.std(0).mean().item() / K
    return out, spread


G, D = Generator(), Critic(sn=CASE == 7)
lr_g, lr_d, n_critic, iters, bs, clip = 1e-3, 1e-3, 2, 560, 48, 0.0
if CASE == 4:
    lr_g = lr_d = 0.1
if CASE == 6:
    n_critic, clip, lr_g, lr_d, iters = 3, 0.05, 5e-4, 1e-3, 840
if CASE == 10:
    n_critic, bs, iters = 2, 24, 490
if CASE == 9:
    iters = 840
if CASE in (6, 10):
    opt_g, opt_d = torch.optim.RMSprop(G.parameters(), lr=lr_g), torch.optim.RMSprop(D.parameters(), lr=lr_d)
elif CASE == 7:
    opt_g, opt_d = torch.optim.Adam(G.parameters(), 1e-3, (0.0, 0.9)), torch.optim.Adam(D.parameters(), 4e-3, (0.0, 0.9))
else:
    opt_g = torch.optim.Adam(G.parameters(), lr=lr_g, betas=(0.5, 0.9))
    opt_d = torch.optim.Adam(D.parameters(), lr=lr_d, betas=(0.5, 0.9))


def xavier(m):
    if isinstance(m, nn.Linear):
        nn.init.xavier_uniform_(m.weight)
        nn.init.zeros_(m.bias)


if CASE == 2:
    G = Generator(h=96).apply(xavier)
else:
    G.apply(xavier)
ema = copy.deepcopy(G).requires_grad_(False) if CASE in (3, 9) else None
data = forever(bs)

for it in range(1, iters + 1):
    D.requires_grad_(True)
    for _ in range(n_critic):
        opt_d.zero_grad()
        for _ in range(2 if CASE == 10 else 1):
            real, y = next(data)
            with torch.no_grad():
                fake = G(torch.randn(bs, ZDIM), y)
            r, f = D(real, y), D(fake, y)
            if CASE == 7:
                loss_d = F.relu(1 - r).mean() + F.relu(1 + f).mean()
            elif CASE == 8:
                loss_d = F.softplus(-r).mean() + F.softplus(f).mean() + 0.5 * r1(D, real, y)
            elif CASE == 9:
                loss_d = 0.5 * ((r - 1) ** 2).mean() + 0.5 * (f ** 2).mean() + r1(D, real, y) * 0.1
            elif CASE == 6:
                loss_d = f.mean() - r.mean()
            else:
                loss_d = f.mean() - r.mean() + 10 * gradient_penalty(D, real, fake, y)
            (loss_d / (2 if CASE == 10 else 1)).backward()
        opt_d.step()
        if clip:
            with torch.no_grad():
                for p in D.parameters():
                    p.clamp_(-clip, clip)
    D.requires_grad_(False)
    y = torch.randint(K, (bs,))
    score = D(G(torch.randn(bs, ZDIM), y), y)
    if CASE == 8:
        loss_g = F.softplus(-score).mean()
    elif CASE == 9:
        loss_g = 0.5 * ((score - 1) ** 2).mean()
    else:
        loss_g = -score.mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    if ema is not None:
        with torch.no_grad():
            for a, p in zip(ema.parameters(), G.parameters()):
                a.lerp_(p, 0.002 if CASE == 3 else 0.05)
        if CASE == 3:
            G.load_state_dict(ema.state_dict())
    if it % (iters // 7) == 0:
        q, s = quality(G)
        print(f"{it:4d}  D {loss_d.item():+.3f}  G {loss_g.item():+.3f}  energy distance {q:.3f}  spread {s:.3f}")
q, s = quality(ema if CASE == 9 else G, 400)
print(f"METRIC {q:.4f}")
