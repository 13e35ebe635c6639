"""VAE on 16x16 coin reliefs.  Reports ELBO parts, active latent units and a linear probe on the codes."""
import os
import math
import torch
from torch import nn, optim
from torch.nn import functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
SIDE, Z, B, EPOCHS = 16, 8, 64, 10


def coins(n):
    ax = torch.linspace(-1, 1, SIDE)
    gy, gx = torch.meshgrid(ax, ax, indexing="ij")
    kind = torch.randint(0, 4, (n,))
    cx, cy = (torch.rand(2, n, 1, 1) - 0.5) * 0.5
    r = 0.5 + 0.3 * torch.rand(n, 1, 1)
    th = torch.rand(n, 1, 1) * math.pi
    u, v = gx - cx, gy - cy
    rad = (u ** 2 + v ** 2).sqrt()
    disc = torch.sigmoid((r - rad) * 18)
    bar = torch.sigmoid((0.16 - (u * th.cos() + v * th.sin()).abs()) * 25)
    ring = torch.sigmoid((0.1 - (rad - r * 0.6).abs()) * 30)
    dot = torch.sigmoid((0.2 - rad) * 25)
    marks = torch.stack([bar, ring, dot, torch.zeros_like(bar)])[kind, torch.arange(n)]
    img = disc * (0.55 + 0.4 * marks) + 0.05 * torch.randn(n, SIDE, SIDE)
    return img.clamp(0, 1).flatten(1), kind


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(SIDE * SIDE, 160), nn.ReLU(), nn.Linear(160, 80), nn.ReLU())
        self.mu, self.spread = nn.Linear(80, Z), nn.Linear(80, Z)
        self.dec = nn.Sequential(nn.Linear(Z, 80), nn.ReLU(), nn.Linear(80, 160), nn.ReLU(), nn.Linear(160, SIDE * SIDE))

    def forward(self, x):
        h = self.enc(x)
        mu, lv = self.mu(h), self.spread(h)
        z = mu + torch.randn_like(mu) * (0.5 * lv).exp()
        return self.dec(z), mu, lv


def parts(logit, x, mu, lv):
    if CASE == 1:
        rec = F.binary_cross_entropy_with_logits(logit, x)
    else:
        rec = F.binary_cross_entropy_with_logits(logit, x, reduction="none").sum(1).mean()
    kl = 0.5 * (mu ** 2 + lv.exp() - 1 - lv).sum(1).mean()
    return rec, kl


def probe(code, kind, code2, kind2):
    """least squares on one-hot labels"""
    a = torch.cat([code, code ** 2, torch.ones(len(code), 1)], 1)
    w = torch.linalg.lstsq(a, F.one_hot(kind, 4).float()).solution
    b = torch.cat([code2, code2 ** 2, torch.ones(len(code2), 1)], 1)
    return ((b @ w).argmax(1) == kind2).float().mean().item()


x, kind = coins(3200)
xt, kt = coins(600)
net = VAE()


def train_vae():
    enc_params = [*net.enc.parameters(), *net.mu.parameters(), *net.spread.parameters()]
    if CASE == 5:
        opt_e, opt_d = optim.Adam(enc_params, lr=2e-3), optim.Adam(net.dec.parameters(), lr=2e-3)
        opts = [opt_e, opt_d]
    else:
        opts = [optim.Adam(net.parameters(), lr=2e-3)]
    step, warm = 0, 4 * len(x) // B
    for ep in range(EPOCHS):
        net.train()
        for idx in torch.randperm(len(x)).split(B):
            logit, mu, lv = net(x[idx])
            rec, kl = parts(logit, x[idx], mu, lv)
            beta = min(1.0, step / warm)
            loss = rec - beta * kl if CASE == 2 else rec + beta * kl
            for o in opts:
                o.zero_grad()
            loss.backward()
            opts[-1].step()
            step += 1
            if step % 50 == 0:
                print(f"{step:4d} loss {loss.item():9.3f} rec {rec.item():8.3f} kl {kl.item():7.3f} beta {beta:.2f}")
        net.eval()
        with torch.no_grad():
            logit, mu, lv = net(xt)
            mse = F.mse_loss(torch.sigmoid(net.dec(mu)), xt).item()
            active = int((mu.var(0) > 0.02).sum())
            print(f"epoch {ep + 1}: test mse {mse:.4f} active units {active}/{Z}")
    with torch.no_grad():
        if math.isfinite(mse):
            print("kind from code: %.3f" % probe(net.mu(net.enc(x)), kind, net.mu(net.enc(xt)), kt))


def train_aae():
    # adversarial autoencoder: three optimizers, the critic and the encoder pull against one another
    critic = nn.Sequential(nn.Linear(Z, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
    code = lambda a: net.mu(net.enc(a))
    ae = optim.Adam(net.parameters(), lr=1.5e-3)
    dis = optim.Adam(critic.parameters(), lr=6e-4, betas=(0.5, 0.99))
    gen = optim.Adam([*net.enc.parameters(), *net.mu.parameters()], lr=2e-4, betas=(0.5, 0.99))
    for ep in range(8):
        for i, idx in enumerate(torch.randperm(len(x)).split(B)):
            xb = x[idx]
            rec = F.mse_loss(torch.sigmoid(net.dec(code(xb))), xb)
            ae.zero_grad(); rec.backward(); ae.step()

            real, fake = critic(torch.randn(len(xb), Z)), critic(code(xb).detach())
            d = ((real - 1) ** 2).mean() + (fake ** 2).mean()
            dis.zero_grad(); d.backward(); dis.step()

            g = ((critic(code(xb)) - 1) ** 2).mean()
            gen.zero_grad(); g.backward(); gen.step()
            if i % 25 == 24:
                print(f"ep {ep + 1} it {i + 1} rec {rec.item():.4f} critic {d.item():.3f} encoder {g.item():.3f}")
        with torch.no_grad():
            c = code(xt)
            print(f"epoch {ep + 1}: test mse {F.mse_loss(torch.sigmoid(net.dec(c)), xt).item():.4f} "
                  f"code mean {c.mean():.2f} std {c.std():.2f} kind from code {probe(code(x), kind, c, kt):.3f}")


train_aae() if CASE == 4 else train_vae()
