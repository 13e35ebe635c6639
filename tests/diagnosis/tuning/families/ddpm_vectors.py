import copy
import math
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)
np.random.seed(SEED)
T = 40
D = 4


def get_data(n, rng):
    k = rng.randint(0, 6, n)
    angle = 2 * math.pi * k / 6
    xy = np.stack([np.cos(angle), np.sin(angle)], 1) * 1.3 + 0.08 * rng.randn(n, 2)
    rest = np.stack([xy[:, 0] * xy[:, 1], xy[:, 0] ** 2 - 1], 1) + 0.1 * rng.randn(n, 2)
    x = np.concatenate([xy, rest], 1)
    if CASE == 9:
        x = x * 40.0 + 100.0
    return torch.tensor(x, dtype=torch.float32), torch.tensor(k)


def schedule():
    if CASE == 1:
        s = 0.008
        f = torch.cos((torch.arange(T + 1) / T + s) / (1 + s) * math.pi / 2) ** 2
        betas = (1 - f[1:] / f[:-1]).clamp(max=0.95)
    else:
        betas = torch.linspace(1e-3, 0.25, T)
    return betas, torch.cumprod(1 - betas, 0)


class TimeEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("freq", torch.exp(-math.log(1000) * torch.arange(dim // 2) / (dim // 2)))

    def forward(self, t):
        a = t.float()[:, None] * self.freq
        return torch.cat([a.sin(), a.cos()], 1)


class Denoiser(nn.Module):
    def __init__(self, hidden=96):
        super().__init__()
        self.time = nn.Sequential(TimeEmbedding(32), nn.Linear(32, hidden), nn.SiLU())
        n_in = 2 * D if CASE == 7 else D
        self.inp = nn.Linear(n_in, hidden)
        self.label = nn.Embedding(7, hidden) if CASE == 4 else None
        self.mid = nn.ModuleList([nn.Linear(hidden, hidden) for _ in range(3)])
        self.out = nn.Linear(hidden, D)
        if CASE == 2:
            nn.init.zeros_(self.out.weight)
            nn.init.zeros_(self.out.bias)

    def forward(self, x, t, y=None):
        h = self.inp(x) + self.time(t)
        if self.label is not None:
            h = h + self.label(y)
        for layer in self.mid:
            h = h + F.silu(layer(h))
        return self.out(h)


betas, abar = schedule()


def q_sample(x0, t, noise):
    a = abar[t][:, None]
    return a.sqrt() * x0 + (1 - a).sqrt() * noise


@torch.no_grad()
def sample(model, n):
    x = torch.randn(n, D)
    y = torch.randint(0, 6, (n,)) if CASE == 4 else None
    guess = torch.zeros(n, D)
    for i in reversed(range(T)):
        t = torch.full((n,), i)
        out = model(torch.cat([x, guess], 1) if CASE == 7 else x, t, y)
        a, b = abar[i], betas[i]
        if CASE == 1:
            x0 = out
        else:
            x0 = (x - (1 - a).sqrt() * out) / a.sqrt()
        if CASE != 9:
            x0 = x0.clamp(-3, 3)
        guess = x0
        aprev = abar[i - 1] if i > 0 else torch.tensor(1.0)
        mean = (aprev.sqrt() * b * x0 + (1 - b).sqrt() * (1 - aprev) * x) / (1 - a)
        x = mean + (b * (1 - aprev) / (1 - a)).sqrt() * torch.randn_like(x)
    return x


def energy_distance(a, b):
    return (2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


rng = np.random.RandomState(SEED)
data, labels = get_data(5000, rng)
model = Denoiser()
ema = copy.deepcopy(model)
if CASE in (3, 10):
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
else:
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-4)
STEPS = 1000
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda i: min(1.0, (i + 1) / 100) * (1 - i / STEPS) + 1e-3)
avg = 0.0
for step in range(STEPS):
    if CASE == 8:
        torch.manual_seed(SEED)
    idx = torch.randint(0, len(data), (128,))
    x0 = data[idx]
    t = torch.randint(0, T, (len(x0),))
    if CASE == 5:
        noise = torch.rand_like(x0)
    else:
        noise = torch.randn_like(x0)
    xt = q_sample(x0, t, noise)
    y = None
    if CASE == 4:
        y = labels[idx].clone()
        y[torch.rand(len(y)) < 0.1] = 6
    pred = model(torch.cat([xt, x0], 1) if CASE == 7 else xt, t, y)
    if CASE == 1:
        loss = F.mse_loss(pred, x0)
    elif CASE == 4:
        snr = abar[t] / (1 - abar[t])
        w = snr.clamp(max=5.0) / snr
        loss = (w * ((pred - noise) ** 2).mean(1)).mean()
    elif CASE == 10:
        loss = F.mse_loss(pred, noise, reduction="sum")
    else:
        loss = F.mse_loss(pred, noise)
    opt.zero_grad()
    loss.backward()
    if CASE == 2:
        nn.utils.clip_grad_norm_(model.parameters(), 0.2)
    opt.step()
    sched.step()
    with torch.no_grad():
        decay = min(0.99, (1 + step) / (10 + step))
        for pe, p in zip(ema.parameters(), model.parameters()):
            if CASE == 6:
                pe = decay * pe + (1 - decay) * p
            else:
                pe.mul_(decay).add_(p, alpha=1 - decay)
    avg = loss.item() if step == 0 else 0.98 * avg + 0.02 * loss.item()
    if step % 200 == 199:
        print(f"step {step + 1} loss {avg:.4f}")

fresh, _ = get_data(1000, rng)
ref = fresh.std(0)
gen = sample(ema, 1000)
print("energy distance of the samples", round(energy_distance(gen / ref, fresh / ref), 4))
