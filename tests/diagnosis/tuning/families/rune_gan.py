"""Adversarial generation of 10x10 rune stamps (six rune shapes, hand-drawn look)."""
import copy
import math
import os
import time
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
SIDE = 10


# ----------------------------------------------------------------------------- data
STROKES = [
    [((1, 5), (9, 5)), ((3, 5), (1, 8)), ((5, 5), (3, 8))],
    [((1, 2), (9, 2)), ((1, 7), (9, 7)), ((3, 2), (6, 7))],
    [((1, 2), (9, 8)), ((1, 8), (9, 2))],
    [((1, 5), (5, 2)), ((5, 2), (9, 5)), ((9, 5), (5, 8)), ((5, 8), (1, 5))],
    [((1, 2), (9, 2)), ((1, 2), (4, 7)), ((4, 7), (6, 2))],
    [((1, 5), (9, 5)), ((1, 5), (4, 2)), ((1, 5), (4, 8))],
]


def draw(kind, rng):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] + 0.5
    img = np.zeros((SIDE, SIDE))
    shift = rng.normal(0, 0.5, 2)
    width = rng.uniform(0.55, 0.85)
    for a, b in STROKES[kind]:
        p = np.array(a) + shift + rng.normal(0, 0.25, 2)
        q = np.array(b) + shift + rng.normal(0, 0.25, 2)
        d = q - p
        t = np.clip(((yy - p[0]) * d[0] + (xx - p[1]) * d[1]) / (d @ d + 1e-9), 0, 1)
        dist = np.hypot(yy - p[0] - t * d[0], xx - p[1] - t * d[1])
        img = np.maximum(img, np.exp(-(dist / width) ** 2))
    return np.clip(img * rng.uniform(0.85, 1.1) + rng.normal(0, 0.02, img.shape), 0, 1)


def make_set(n, seed):
    rng = np.random.RandomState(seed)
    kinds = rng.randint(0, len(STROKES), n)
    x = np.stack([draw(k, rng) for k in kinds]).astype("float32")
    return torch.from_numpy(x).view(n, -1) * 2 - 1, torch.from_numpy(kinds)


# ----------------------------------------------------------------------------- models
@dataclass
class Options:
    nz: int = 16
    width: int = 128
    batch: int = 64
    steps: int = 400
    lr_g: float = 1e-3
    lr_d: float = 5e-4
    n_disc: int = 1
    n_gen: int = 1
    beta1: float = 0.5
    loss: str = "bce"
    net: str = "mlp"
    ema: float = 0.0
    real_label: float = 1.0
    noise0: float = 0.3
    every: int = 50


class MLPGenerator(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.a = nn.Sequential(nn.Linear(o.nz, o.width), nn.BatchNorm1d(o.width))
        self.b = nn.Sequential(nn.Linear(o.width, o.width), nn.BatchNorm1d(o.width))
        self.c = nn.Linear(o.width, SIDE * SIDE)

    def forward(self, z):
        h = F.leaky_relu(self.a(z), 0.2)
        h = F.leaky_relu(self.b(h), 0.2)
        out = self.c(h)
        if CASE == 8:
            return torch.sigmoid(out)
        return torch.tanh(out)


class StackGenerator(nn.Module):
    """deeper variant: a stack of residual layers"""

    def __init__(self, o, depth=3):
        super().__init__()
        self.inp = nn.Linear(o.nz, o.width)
        layers = [nn.Sequential(nn.Linear(o.width, o.width), nn.ReLU(), nn.Linear(o.width, o.width)) for _ in range(depth)]
        self.layers = layers if CASE == 7 else nn.ModuleList(layers)
        self.out = nn.Linear(o.width, SIDE * SIDE)

    def forward(self, z):
        h = F.relu(self.inp(z))
        for layer in self.layers:
            h = F.relu(layer(h))
        return torch.tanh(self.out(h))


class ConvGenerator(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.fc = nn.Linear(o.nz, 32 * 5 * 5)
        self.body = nn.Sequential(
            nn.BatchNorm2d(32), nn.ReLU(),
            nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 1, 3, 1, 1), nn.Tanh())

    def forward(self, z):
        return self.body(self.fc(z).view(-1, 32, 5, 5)).flatten(1)


def make_disc(o):
    sn = nn.utils.spectral_norm if o.loss == "hinge" else (lambda m: m)
    return nn.Sequential(
        sn(nn.Linear(SIDE * SIDE, o.width)), nn.LeakyReLU(0.2),
        sn(nn.Linear(o.width, o.width)), nn.LeakyReLU(0.2),
        sn(nn.Linear(o.width, 1)))


def gen_for(o):
    return {"mlp": MLPGenerator, "stack": StackGenerator, "conv": ConvGenerator}[o.net](o)


# ----------------------------------------------------------------------------- scores
def sliced_w(a, b, n=64):
    g = torch.Generator().manual_seed(5)
    dirs = F.normalize(torch.randn(a.shape[1], n, generator=g), dim=0)
    pa, pb = (a @ dirs).sort(0).values, (b @ dirs).sort(0).values
    return (pa - pb).abs().mean().item()


def census(x, protos):
    d = torch.cdist(x, protos)
    near = d.argmin(1)
    return torch.bincount(near, minlength=len(protos)).float() / len(x), d.min(1).values.mean().item()


@torch.no_grad()
def report(G, o, held, protos, step, dl, gl):
    was = G.training
    G.eval()
    fake = G(torch.randn(len(held), o.nz))
    G.train(was)
    share, near = census(fake, protos)
    txt = " ".join("%.2f" % s for s in share.tolist())
    print(f"step {step:4d}  d {dl:7.3f}  g {gl:7.3f}  swd {sliced_w(fake, held):.3f}  proto-dist {near:.2f}  shares {txt}", flush=True)


# ----------------------------------------------------------------------------- losses
def d_loss_fn(o, D, real, fake):
    r, f = D(real), D(fake)
    if o.loss == "bce":
        return (F.binary_cross_entropy_with_logits(r, torch.full_like(r, o.real_label))
                + F.binary_cross_entropy_with_logits(f, torch.zeros_like(f)))
    if o.loss == "hinge":
        return F.relu(1 - r).mean() + F.relu(1 + f).mean()
    if o.loss == "ls":
        return 0.5 * ((r - 1) ** 2).mean() + 0.5 * (f ** 2).mean()
    # wasserstein with gradient penalty
    eps = torch.rand(len(real), 1)
    mid = (eps * real + (1 - eps) * fake).requires_grad_(True)
    grad = torch.autograd.grad(D(mid).sum(), mid, create_graph=True)[0]
    return f.mean() - r.mean() + 10.0 * ((grad.norm(dim=1) - 1) ** 2).mean()


def g_loss_fn(o, score):
    if o.loss == "bce":
        want = torch.zeros_like(score) if CASE == 4 else torch.ones_like(score)
        return F.binary_cross_entropy_with_logits(score, want)
    if o.loss == "ls":
        return 0.5 * ((score - 1) ** 2).mean()
    return -score.mean()


# ----------------------------------------------------------------------------- training
def fit(o):
    data, _ = make_set(3000, 11 + SEED)
    held, kinds = make_set(800, 900 + SEED)
    protos = torch.stack([held[kinds == k].mean(0) for k in range(len(STROKES))])
    G, D = gen_for(o), make_disc(o)
    og = torch.optim.Adam(G.parameters(), lr=o.lr_g, betas=(o.beta1, 0.999))
    od = torch.optim.Adam(D.parameters(), lr=o.lr_d, betas=(o.beta1, 0.999))
    shadow = copy.deepcopy(G) if o.ema else None
    print("generator", sum(p.numel() for p in G.parameters()), "discriminator", sum(p.numel() for p in D.parameters()))

    def sample_z():
        if CASE == 5:
            return torch.randn(o.nz).repeat(o.batch, 1)
        return torch.randn(o.batch, o.nz)

    t0 = time.time()
    for step in range(1, o.steps + 1):
        sigma = o.noise0 * max(0.0, 1 - step / (0.7 * o.steps))
        for _ in range(o.n_disc):
            real = data[torch.randint(0, len(data), (o.batch,))]
            with torch.no_grad():
                fake = G(sample_z())
            if sigma > 0:
                real, fake = real + sigma * torch.randn_like(real), fake + sigma * torch.randn_like(fake)
            dl = d_loss_fn(o, D, real, fake)
            if CASE != 2:
                od.zero_grad()
            dl.backward()
            od.step()
        for _ in range(o.n_gen):
            fake = G(sample_z())
            if sigma > 0:
                fake = fake + sigma * torch.randn_like(fake)
            gl = g_loss_fn(o, D(fake.detach() if CASE == 1 else fake))
            og.zero_grad()
            gl.backward()
            og.step()
        if shadow is not None:
            with torch.no_grad():
                for ps, p in zip(shadow.parameters(), G.parameters()):
                    ps.lerp_(p, 1 - o.ema)
                for bs, b in zip(shadow.buffers(), G.buffers()):
                    bs.copy_(b)
        if step % o.every == 0:
            report(shadow if shadow is not None else G, o, held, protos, step, dl.item(), gl.item())
    print("seconds %.1f" % (time.time() - t0))
    base = make_set(800, 7777)[0]
    print("reference swd between two real sets %.3f" % sliced_w(base, held))


def main():
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    o = Options()
    if CASE == 3:
        o = Options(loss="hinge", n_disc=2, lr_d=1e-3, steps=250, noise0=0.0)
    elif CASE == 6:
        o = Options(loss="wgangp", n_disc=3, steps=200, beta1=0.0, lr_d=1e-3, noise0=0.0)
    elif CASE == 9:
        o = Options(net="conv", real_label=0.9, ema=0.96, steps=200, every=40)
    elif CASE == 11:
        o = Options(loss="ls", noise0=0.6, steps=400)
    elif CASE == 7:
        o = Options(net="stack")
    elif CASE == 10:
        o = Options(lr_g=3e-3, lr_d=2e-4, n_gen=5, beta1=0.9, steps=160, noise0=0.0)
    fit(o)


if __name__ == "__main__":
    main()
