# tiny denoising diffusion model on 2-D points, with an averaged copy for sampling
import copy
import io
import math
import os
import time

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
np.random.seed(SEED)
torch.manual_seed(SEED)
torch.set_num_threads(1)

T = 60
betas = torch.linspace(1e-3, 0.12, T)
alphas = 1 - betas
abar = torch.cumprod(alphas, 0)


def moons(n):
    k = np.random.randint(0, 2, n)
    a = np.pi * np.random.rand(n)
    x = np.where(k == 0, np.cos(a), 1 - np.cos(a))
    y = np.where(k == 0, np.sin(a), 0.5 - np.sin(a))
    p = np.stack([x, y], 1) + np.random.normal(0, 0.06, (n, 2))
    return torch.tensor(p, dtype=torch.float32)


raw = moons(3000)
if CASE == 6:
    data = raw * 120 + 200                  # screen coordinates, as the drawing tool stores them
else:
    data = (raw - raw.mean(0)) / raw.std(0)
held = data[2500:]
data = data[:2500]


class TimeMLP(nn.Module):
    def __init__(self, width=96, emb=32):
        super().__init__()
        self.freq = nn.Parameter(torch.exp(-math.log(1e3) * torch.arange(emb // 2) / (emb // 2)), requires_grad=False)
        self.temb = nn.Sequential(nn.Linear(emb, width), nn.SiLU())
        self.a = nn.Linear(2, width)
        self.b = nn.ModuleList([nn.Linear(width, width) for _ in range(2)])
        self.out = nn.Linear(width, 2)

    def forward(self, x, t):
        w = t.float()[:, None] * self.freq
        e = self.temb(torch.cat([w.sin(), w.cos()], 1))
        h = self.a(x)
        for l in self.b:
            h = h + l(F.silu(h + e))
        return self.out(F.silu(h))


class Ema:
    def __init__(self, model, decay=0.995):
        self.decay = decay
        self.shadow = {k: v.clone() for k, v in model.state_dict().items()}

    def update(self, model):
        for k, v in model.state_dict().items():
            self.shadow[k].mul_(self.decay).add_(v, alpha=1 - self.decay)

    def apply(self, model):
        model.load_state_dict(self.shadow)


@torch.no_grad()
def sample(net, n):
    x = torch.randn(n, 2)
    for i in reversed(range(T)):
        t = torch.full((n,), i)
        eps = net(x, t)
        x = (x - betas[i] / (1 - abar[i]).sqrt() * eps) / alphas[i].sqrt()
        if i:
            x = x + betas[i].sqrt() * torch.randn(n, 2)
    return x


def nearest(net, n=400):
    """mean distance of samples to held-out data and back, in units of the data's deviation"""
    s = sample(net, n)
    if not torch.isfinite(s).all():
        return float("nan")
    d = torch.cdist(s, held)
    return ((d.min(1).values.mean() + d.min(0).values.mean()) / 2 / held.std()).item()


def diffuse(x0):
    n = len(x0)
    t = torch.randint(0, T, (n,))
    noise = torch.randn_like(x0)
    a = abar[t][:, None]
    xt = a.sqrt() * x0 + (1 - a).sqrt() * noise
    if CASE == 3:
        noise = torch.randn_like(x0)
    return xt, t, noise


def snr_weight(t):
    snr = abar[t] / (1 - abar[t])
    return (snr.clamp(max=5.0) / 2)[:, None]


net = TimeMLP()
ema = Ema(net)
trainable = [p for p in net.parameters() if p.requires_grad]
lr, epochs, accum, bs = 2e-3, 24, 1, 100
opt = torch.optim.Adam(trainable, lr=lr)
if CASE == 9:
    opt = torch.optim.Adam(trainable, lr=lr, betas=(0.9995, 0.9))
if CASE == 2:
    opt = torch.optim.SGD(trainable, lr=0.5, momentum=0.9)
if CASE == 5:
    accum = 2
if CASE == 11:
    accum = 32
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs) if CASE in (5,) else None
dl = DataLoader(TensorDataset(data), batch_size=bs, shuffle=True)


def fit(epochs, tag=""):
    for ep in range(epochs):
        tot = 0.0
        if CASE == 4:
            torch.manual_seed(SEED)
        for it, (x0,) in enumerate(dl):
            if CASE == 4:
                torch.manual_seed(SEED + 1)
            xt, t, noise = diffuse(x0)
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=CASE == 5):
                pred = net(xt, t)
            pred = pred.float()
            if CASE == 10:
                loss = (snr_weight(t) * (pred - noise) ** 2).mean()
            else:
                loss = F.mse_loss(pred, noise)
            (loss / accum).backward()
            if (it + 1) % accum == 0:
                if CASE == 2:
                    nn.utils.clip_grad_norm_(trainable, 0.05)
                opt.step()
                opt.zero_grad(set_to_none=True)
                if CASE != 1:
                    ema.update(net)
            tot += loss.item()
        if sched is not None:
            sched.step()
        if CASE == 1:
            ema.apply(net)                   # averaged weights go into the checkpoint
            buf = io.BytesIO()
            torch.save(net.state_dict(), buf)
        if ep % 4 == 3:
            print(f"{tag}epoch {ep} loss {tot / len(dl):.4f} sample distance {nearest(net):.3f}")


if CASE == 7:
    fit(14, "first part, ")
    buf = io.BytesIO()
    torch.save({"model": {"module." + k: v for k, v in net.state_dict().items()}, "opt": opt.state_dict()}, buf)
    buf.seek(0)
    # next day
    net = TimeMLP()
    ck = torch.load(buf)
    net.load_state_dict(ck["model"], strict=False)
    opt = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=5e-4)
    ema = Ema(net)
    fit(10, "resumed, ")
elif CASE == 8:
    fit(14, "base ")
    for g in opt.param_groups:
        g["lr"] = 1e-5
    fit(10, "polish ")
else:
    fit(epochs)

final = copy.deepcopy(net)
if CASE not in (1,):
    ema.apply(final)
print("averaged model, sample distance %.3f" % nearest(final))
