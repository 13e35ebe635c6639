"""GAN on the ring of eight Gaussians. Reports how many modes are hit and the share of good samples."""
import copy
import math
import os
import resource

import torch
import torch.nn as nn
import torch.optim as optim

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
torch.set_num_threads(1)

nz = 8
bs = 128
niter = 900
lr_g = lr_d = 1e-3
betas = (0.5, 0.99)
n_critic = 1
n_gen = 1
mode = "ns"
real_label, fake_label = 1.0, 0.0
inst_noise = 0.0
ema_decay = 0.0

if CASE == 5:
    n_gen, betas, lr_g, lr_d, niter = 6, (0.9, 0.999), 4e-3, 5e-4, 400
elif CASE == 6:
    mode, n_critic, betas, lr_g, lr_d, niter = "wgan", 4, (0.0, 0.9), 1e-3, 1e-3, 500
elif CASE == 8:
    mode = "hinge"
elif CASE == 9:
    real_label, ema_decay = 0.9, 0.99
elif CASE == 10:
    inst_noise, lr_g, lr_d = 0.3, 8e-4, 1e-3
elif CASE == 12:
    lr_d = 0.3


def sample_real(n):
    k = torch.randint(0, 8, (n,))
    a = k.float() * (2 * math.pi / 8)
    c = 2 * torch.stack([a.cos(), a.sin()], 1)
    return c + 0.1 * torch.randn(n, 2)


def mlp(i, o, h=96):
    return [nn.Linear(i, h), nn.LeakyReLU(0.2), nn.Linear(h, h), nn.LeakyReLU(0.2), nn.Linear(h, o)]


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(*mlp(nz, 2))

    def forward(self, z):
        return self.main(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        layers = mlp(2, 1)
        if CASE == 4:
            layers.append(nn.Sigmoid())
        self.main = nn.Sequential(*layers)

    def forward(self, x):
        if inst_noise:
            x = x + inst_noise * max(0.0, 1 - it / (0.8 * niter)) * torch.randn_like(x)
        return self.main(x).view(-1)


netG, netD = Generator(), Discriminator()
ema = copy.deepcopy(netG).requires_grad_(False)
optD = optim.Adam(netD.parameters(), lr=lr_d, betas=betas)
if CASE == 3:
    optG = optim.Adam(netD.parameters(), lr=lr_g, betas=betas)
else:
    optG = optim.Adam(netG.parameters(), lr=lr_g, betas=betas)
bce = nn.BCEWithLogitsLoss()
fixed_noise = torch.randn(1024, nz)


@torch.no_grad()
def quality(net):
    x = net(fixed_noise)
    a = torch.arange(8).float() * (2 * math.pi / 8)
    c = 2 * torch.stack([a.cos(), a.sin()], 1)
    d, k = torch.cdist(x, c).min(1)
    good = d < 0.35
    counts = torch.bincount(k[good], minlength=8)
    return (counts > 15).sum().item(), good.float().mean().item(), x.std(0).mean().item()


def d_loss_fn(real_out, fake_out):
    if mode == "wgan":
        return fake_out.mean() - real_out.mean()
    if mode == "hinge":
        return torch.relu(1 - real_out).mean() + torch.relu(1 + fake_out).mean()
    return bce(real_out, torch.full_like(real_out, real_label)) + bce(fake_out, torch.full_like(fake_out, fake_label))


def g_loss_fn(out):
    if mode in ("wgan", "hinge"):
        return -out.mean()
    return bce(out, torch.full_like(out, fake_label if CASE == 7 else 1.0))


def noise(n):
    return torch.randn(n, nz)


G_losses, D_losses, progress = [], [], []
for it in range(niter):
    # (1) discriminator
    for _ in range(n_critic):
        if CASE != 1:
            optD.zero_grad()
        fake = netG(noise(bs))
        lossD = d_loss_fn(netD(sample_real(bs)), netD(fake.detach()))
        lossD.backward()
        optD.step()
        if mode == "wgan":
            for p in netD.parameters():
                p.data.clamp_(-0.2, 0.2)
    # (2) generator
    for _ in range(n_gen):
        optG.zero_grad()
        fake = netG(noise(bs))
        out = netD(fake.detach() if CASE == 2 else fake)
        lossG = g_loss_fn(out)
        lossG.backward()
        optG.step()
    if ema_decay:
        with torch.no_grad():
            for a, b in zip(ema.parameters(), netG.parameters()):
                a.mul_(ema_decay).add_(b, alpha=1 - ema_decay)
    G_losses.append(lossG.item())
    D_losses.append(lossD.item())
    if CASE == 11:
        progress.append(netG(fixed_noise[:512]))
    elif it % 100 == 0:
        with torch.no_grad():
            progress.append(netG(fixed_noise[:512]))
    if (it + 1) % 100 == 0:
        m, good, spread = quality(ema if ema_decay else netG)
        mem = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"[{it + 1}/{niter}] Loss_D {lossD.item():.4f} Loss_G {lossG.item():.4f} modes {m}/8 good {good:.2f} spread {spread:.2f} rss {mem}M")
