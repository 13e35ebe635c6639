"""Noise-conditional denoiser for 1-D waveforms.  Sampling uses the EMA copy of the weights."""
import copy
import math
import os

import torch
from torch import nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)

L = 32
STEPS = 500
BATCH = 64
WIDTH = 32
LR = 2e-3
EMA_DECAY = 0.99
KIND = "vp"             # vp: predict the noise; ve: predict the clean signal, sigma in [0.02, smax]
OPT = "adam"

if CASE == 1: WIDTH, BATCH = 28, 80
if CASE == 2: STEPS, EMA_DECAY = 600, 0.99
if CASE == 3: OPT = "adamw"
if CASE == 4: OPT, LR, WIDTH = "sgd", 0.05, 28
if CASE == 5: WIDTH, LR = 36, 1.5e-3
if CASE == 6: BATCH, STEPS, LR = 16, 1000, 1e-3
if CASE == 7: KIND, OPT, WIDTH = "ve", "adamw", 40
if CASE == 8: LR, STEPS = 3e-3, 500
if CASE == 9: EMA_DECAY, WIDTH = 0.995, 24
if CASE == 10: OPT, LR, STEPS = "sgd", 0.05, 600
if CASE == 11: LR, BATCH = 2.5e-3, 48


def waves(n, g):
    t = torch.linspace(0, 1, L)
    f = torch.randint(1, 4, (n, 1), generator=g).float()
    ph = torch.rand(n, 1, generator=g) * 2 * math.pi
    am = 0.7 + 0.6 * torch.rand(n, 1, generator=g)
    saw = torch.rand(n, 1, generator=g) < 0.3
    s = torch.sin(2 * math.pi * f * t + ph)
    s = torch.where(saw, torch.sign(s) * 0.8, s)
    return am * s


g = torch.Generator().manual_seed(SEED + 11)
train_x, val_x = waves(4000, g), waves(400, g)
SD = train_x.std().item()
HALF = torch.bfloat16


class TimeEmbedding(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.register_buffer("freq", torch.exp(torch.linspace(0, math.log(200.0), d // 2)))
        self.mlp = nn.Sequential(nn.Linear(d, d), nn.SiLU(), nn.Linear(d, d))

    def forward(self, t):
        a = t[:, None] * self.freq
        return self.mlp(torch.cat([a.sin(), a.cos()], 1))


class Block(nn.Module):
    def __init__(self, c, dil):
        super().__init__()
        self.conv1 = nn.Conv1d(c, c, 5, padding=2 * dil, dilation=dil)
        self.conv2 = nn.Conv1d(c, c, 1)
        self.emb = nn.Linear(32, c)
        self.norm = nn.GroupNorm(4, c)

    def forward(self, x, e):
        h = self.conv1(nn.functional.silu(self.norm(x))) + self.emb(e)[:, :, None]
        return x + self.conv2(nn.functional.silu(h))


class Denoiser(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.time = TimeEmbedding(32)
        self.inp = nn.Conv1d(1, c, 3, padding=1)
        self.blocks = nn.ModuleList([Block(c, d) for d in (1, 2, 4, 1)])
        self.out = nn.Conv1d(c, 1, 1)
        if CASE == 3:
            nn.init.zeros_(self.out.weight)
            nn.init.zeros_(self.out.bias)

    def forward(self, x, t):
        e = self.time(t)
        h = self.inp(x[:, None])
        for b in self.blocks:
            h = b(h, e)
        h = self.out(h)
        return h if CASE == 1 else h[:, 0]


# ---- noise processes ------------------------------------------------------
SMIN, SMAX = 0.02, 40.0


def alpha_sigma(t):
    a = torch.cos(t * math.pi / 2).clamp(min=0.01)
    return a, (1 - a ** 2).sqrt()


def ve_sigma(t):
    return SMIN * (SMAX / SMIN) ** t


def predict_clean(net, x, t):
    """D(x; sigma) for the ve process."""
    s = ve_sigma(t)[:, None]
    skip, out = SD ** 2 / (s ** 2 + SD ** 2), s * SD / (s ** 2 + SD ** 2).sqrt()
    return skip * x + out * net(x / (s ** 2 + SD ** 2).sqrt(), t).view_as(x)


def loss_fn(net, x, t, noise):
    if KIND == "ve":
        s = ve_sigma(t)[:, None]
        w = (s ** 2 + SD ** 2) / (s * SD) ** 2
        return (w * (predict_clean(net, x + s * noise, t) - x) ** 2).mean()
    a, s = alpha_sigma(t)
    pred = net(a[:, None] * x + s[:, None] * noise, t)
    return (pred - noise).pow(2).mean()


class EMA:
    def __init__(self, net, decay):
        self.decay = decay
        self.shadow = copy.deepcopy(net)
        for p in self.shadow.parameters():
            p.requires_grad_(False)
        if CASE == 9:
            self.shadow.to(HALF)
        self.n = 0

    @torch.no_grad()
    def update(self, net):
        self.n += 1
        d = self.decay if CASE == 9 else min(self.decay, (1 + self.n) / (10 + self.n))
        for s, p in zip(self.shadow.parameters(), net.parameters()):
            s.mul_(d).add_(p.to(s.dtype), alpha=1 - d)

    @torch.no_grad()
    def copy_to(self, net):
        for s, p in zip(self.shadow.parameters(), net.parameters()):
            p.copy_(s.to(p.dtype))


@torch.no_grad()
def validate(net):
    """Weighted denoising error over a grid of noise levels, same noise each time."""
    gen = torch.Generator().manual_seed(123)
    tot = 0.0
    grid = [0.1, 0.3, 0.5, 0.7, 0.9]
    for tv in grid:
        t = torch.full((len(val_x),), tv)
        noise = torch.randn(val_x.shape, generator=gen)
        if KIND == "ve":
            tot += loss_fn(net, val_x, t, noise).item()
        else:
            a, s = alpha_sigma(t)
            p = net(a[:, None] * val_x + s[:, None] * noise, t).reshape(val_x.shape)
            tot += (p - noise).pow(2).mean().item()
    return tot / len(grid)


net = Denoiser(WIDTH)
ema = EMA(net, EMA_DECAY)
probe = Denoiser(WIDTH)

if OPT == "adamw":
    opt = torch.optim.AdamW(net.parameters(), lr=LR, weight_decay=0.02)
elif OPT == "sgd":
    opt = torch.optim.SGD(net.parameters(), lr=LR, momentum=0.9, nesterov=True)
else:
    opt = torch.optim.Adam(net.parameters(), lr=LR)

if CASE == 11:
    sched = torch.optim.lr_scheduler.StepLR(opt, step_size=15, gamma=0.5)
elif CASE == 0:
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=STEPS)
elif CASE in (2, 7):
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, s / 150))
else:
    sched = None


@torch.no_grad()
def sample(model, n=200, k=30):
    if CASE == 8:
        torch.manual_seed(SEED)
        gen = None
    else:
        gen = torch.Generator().manual_seed(SEED)
    ts = torch.linspace(1, 0, k + 1).clamp(max=0.99)
    if KIND == "ve":
        x = ve_sigma(ts[0]) * torch.randn(n, L, generator=gen)
        for t0, t1 in zip(ts[:-1], ts[1:]):
            den = predict_clean(model, x, t0.expand(n))
            x = den + ve_sigma(t1) / ve_sigma(t0) * (x - den)
        return x
    x = torch.randn(n, L, generator=gen)
    for t0, t1 in zip(ts[:-1], ts[1:]):
        e = model(x, t0.expand(n)).reshape(n, L)
        a0, s0 = alpha_sigma(t0)
        a1, s1 = alpha_sigma(t1)
        x = a1 * ((x - s0 * e) / a0).clamp(-2, 2) + s1 * e
    return x


def report(tag, raw):
    ema.copy_to(probe)
    x = sample(probe)
    gap = torch.cdist(x, train_x).min(1).values.mean().item()
    print(f"{tag}  loss {raw:.4f}  val(raw) {validate(net):.4f}  val(ema) {validate(probe):.4f}  sample-nn {gap:.2f}")


for step in range(STEPS):
    idx = torch.randint(0, len(train_x), (BATCH,))
    x = train_x[idx]
    t = torch.rand(BATCH)
    if KIND == "vp":
        t = t.clamp(0.005, 0.99)
    noise = torch.randn_like(x)
    loss = loss_fn(net, x, t, noise)
    opt.zero_grad()
    loss.backward()
    if OPT == "sgd":
        nn.utils.clip_grad_norm_(net.parameters(), 0.01 if CASE == 4 else 1.0)
    opt.step()
    if sched is not None:
        sched.step()
    ema.update(net)
    if CASE == 5 and step % 10 == 9:
        ema.copy_to(net)
        if step % 100 == 99:
            print("  ema check %.4f" % validate(net))
    if CASE == 8 and step % 5 == 4:
        spread = sample(net, n=16, k=4).std().item()
    if step % 200 == 0:
        report(f"{step:5d}", loss.item())
report("final", loss.item())
