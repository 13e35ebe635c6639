import os
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
np.random.seed(SEED)

MODES = 8
ZDIM = 8
BATCH = 128
STEPS = 2500


def real_batch(n):
    k = torch.randint(0, MODES, (n,))
    a = 2 * np.pi * k.float() / MODES
    return torch.stack([torch.cos(a), torch.sin(a)], 1) * 1.5 + 0.12 * torch.randn(n, 2)


def real_profile(n):
    """sums of two sinusoids on a grid"""
    t = torch.linspace(0, 6.28, 24)
    a = torch.rand(n, 1) * 0.7 + 0.3
    p = torch.rand(n, 1) * 6.28
    return a * torch.sin(t + p)


def mlp(sizes, act):
    layers = []
    for i in range(len(sizes) - 1):
        layers.append(nn.Linear(sizes[i], sizes[i + 1]))
        if i < len(sizes) - 2:
            layers.append(act())
    return nn.Sequential(*layers)


class GANTrainer:
    def __init__(self, sample, dim, kind="bce", lr_g=1e-3, lr_d=2e-3, betas=(0.5, 0.999), n_critic=1, hidden=96):
        self.sample, self.kind, self.n_critic = sample, kind, n_critic
        self.G = mlp([ZDIM, hidden, hidden, dim], nn.ReLU)
        self.D = mlp([dim, hidden, hidden, 1], lambda: nn.LeakyReLU(0.2))
        self.og = torch.optim.Adam(self.G.parameters(), lr=lr_g, betas=betas)
        self.od = torch.optim.Adam(self.D.parameters(), lr=lr_d, betas=betas)
        if CASE == 3:
            self.G = mlp([ZDIM, hidden, hidden, dim], nn.ReLU)
        if CASE == 7:
            for m in self.G:
                if isinstance(m, nn.Linear):
                    nn.init.normal_(m.weight, 0, 1.0)
                    nn.init.zeros_(m.bias)

    def noise(self, n):
        if CASE == 2:
            g = torch.Generator().manual_seed(SEED)
            return torch.randn(n, ZDIM, generator=g)
        return torch.randn(n, ZDIM)

    def d_loss(self, real, fake):
        r, f = self.D(real), self.D(fake)
        if self.kind == "wgan":
            eps = torch.rand(len(real), 1)
            mix = (eps * real + (1 - eps) * fake).requires_grad_(True)
            grad = torch.autograd.grad(self.D(mix).sum(), mix, create_graph=True)[0]
            return f.mean() - r.mean() + 1.0 * ((grad.norm(2, 1) - 1) ** 2).mean()
        if self.kind == "ls":
            return 0.5 * ((r - 1) ** 2).mean() + 0.5 * (f ** 2).mean()
        if self.kind == "hinge":
            return F.relu(1 - r).mean() + F.relu(1 + f).mean()
        if CASE == 1:
            pr, pf = torch.sigmoid(r), torch.sigmoid(f)
            return -(torch.log(pr) + torch.log(1 - pf)).mean()
        return F.binary_cross_entropy_with_logits(r, torch.ones_like(r)) + \
            F.binary_cross_entropy_with_logits(f, torch.zeros_like(f))

    def g_loss(self, fake):
        if CASE == 5:
            fake = fake.detach()
        f = self.D(fake)
        if self.kind == "wgan":
            return -f.mean()
        if self.kind == "ls":
            return 0.5 * ((f - 1) ** 2).mean()
        if self.kind == "hinge":
            return -f.mean()
        if CASE == 1:
            return -torch.log(torch.sigmoid(f)).mean()
        if CASE == 6:
            return F.binary_cross_entropy_with_logits(f, torch.zeros_like(f))
        return F.binary_cross_entropy_with_logits(f, torch.ones_like(f))

    def step(self):
        for _ in range(self.n_critic):
            real = self.sample(BATCH)
            fake = self.G(self.noise(BATCH)).detach()
            ld = self.d_loss(real, fake)
            self.od.zero_grad()
            ld.backward()
            self.od.step()
            if CASE == 4:
                with torch.no_grad():
                    for p in self.D.parameters():
                        p.clamp_(-0.01, 0.01)
        lg = self.g_loss(self.G(self.noise(BATCH)))
        self.og.zero_grad()
        lg.backward()
        self.og.step()
        return ld.item(), lg.item()

    @torch.no_grad()
    def generate(self, n=1000):
        return self.G(torch.randn(n, ZDIM))


def quality(x, sample):
    if x.size(1) == 2:
        a = 2 * np.pi * torch.arange(MODES).float() / MODES
        c = torch.stack([torch.cos(a), torch.sin(a)], 1) * 1.5
        d = torch.cdist(x, c)
        near, which = d.min(1)
        good = near < 0.4
        covered = sum(int((good & (which == k)).sum() > 0.02 * len(x)) for k in range(MODES))
        return "modes %d/8 good samples %.3f" % (covered, good.float().mean().item())
    real = sample(1000)
    sw = 0.0
    g = torch.Generator().manual_seed(0)
    for _ in range(30):
        w = torch.randn(x.size(1), generator=g)
        w /= w.norm()
        sw += (torch.sort(x @ w)[0] - torch.sort(real @ w)[0]).abs().mean().item() / 30
    return "sliced distance %.3f  std %.3f (real %.3f)" % (sw, x.std(0).mean().item(), real.std(0).mean().item())


if CASE == 0:
    t = GANTrainer(real_batch, 2, lr_g=1e-2, lr_d=2e-4, betas=(0.9, 0.999))
elif CASE == 1:
    t = GANTrainer(lambda n: 10 * real_profile(n), 24, lr_d=1e-2)
elif CASE == 9:
    t = GANTrainer(real_batch, 2, kind="wgan", n_critic=2, betas=(0.5, 0.9))
elif CASE == 10:
    t = GANTrainer(real_profile, 24, kind="ls", lr_g=1e-3, lr_d=1e-3)
elif CASE == 11:
    t = GANTrainer(real_batch, 2, kind="hinge", lr_d=2e-3)
elif CASE in (7, 12):
    t = GANTrainer(real_profile, 24, hidden=64)
else:
    t = GANTrainer(real_batch, 2)

for i in range(STEPS):
    ld, lg = t.step()
    if (i + 1) % 250 == 0:
        print("step %d  D %.4f  G %.4f  %s" % (i + 1, ld, lg, quality(t.generate(), t.sample)))
