import os
import math
import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)

T = 40
betas = torch.linspace(1e-3, 0.25, T)
abar = torch.cumprod(1 - betas, 0)


def swiss(n):
    t = 1.5 * math.pi * (1 + 2 * torch.rand(n))
    return torch.stack([t * torch.cos(t), t * torch.sin(t)], 1) / 9.0 + 0.02 * torch.randn(n, 2)


class Eps(nn.Module):
    def __init__(self, h=80):
        super().__init__()
        self.a = nn.Linear(2 + 8, h)
        self.b = nn.Linear(h, h)
        self.c = nn.Linear(h, h)
        self.d = nn.Linear(h, 2)

    def emb(self, t):
        if CASE == 2:
            return (t.float() * 25.0)[:, None].expand(-1, 8)
        f = torch.tensor([1.0, 2.0, 4.0, 8.0])
        u = (t.float() / T)[:, None] * f * math.pi / 2
        return torch.cat([torch.sin(u), torch.cos(u)], 1)

    def forward(self, x, t):
        h = F.silu(self.a(torch.cat([x, self.emb(t)], 1)))
        h = h + F.silu(self.b(h))
        h = h + F.silu(self.c(h))
        return self.d(h)


class Diffusion:
    def __init__(self):
        self.net = Eps()
        self.ema = copy.deepcopy(self.net)
        self.decay = {4: 0.9999, 5: 0.99}.get(CASE, 0.0)
        lr = 1.0 if CASE == 3 else 3e-3
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=lr)
        if CASE == 8:
            self.opt = torch.optim.SGD(self.net.parameters(), lr=0.3, momentum=0.9)

    def loss(self, x0):
        if CASE == 1:
            torch.manual_seed(SEED)
        t = torch.randint(0, T, (len(x0),))
        eps = torch.randn_like(x0)
        a = abar[t][:, None]
        xt = a.sqrt() * x0 + (1 - a).sqrt() * eps
        out = self.net(xt, t)
        if CASE == 6:
            w = (a / (1 - a)).clamp(max=5.0)
            return (w * (out - eps) ** 2).mean()
        if CASE == 7:
            return F.smooth_l1_loss(out, eps, beta=0.5)
        if CASE == 9:
            return F.mse_loss(out, x0)
        return F.mse_loss(out, eps)

    def fit(self, data, steps):
        self.net.train()
        for s in range(steps):
            loss = self.loss(data[torch.randint(0, len(data), (256,))])
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            with torch.no_grad():
                for p, q in zip(self.ema.parameters(), self.net.parameters()):
                    p.mul_(self.decay).add_(q, alpha=1 - self.decay)
            if s % (steps // 6) == 0:
                print("step", s, "loss %.4f" % loss.item())

    @torch.no_grad()
    def sample(self, n):
        x = torch.randn(n, 2)
        for k in reversed(range(T)):
            e = self.ema(x, torch.full((n,), k))
            x = (x - betas[k] / (1 - abar[k]).sqrt() * e) / (1 - betas[k]).sqrt()
            if k:
                x = x + betas[k].sqrt() * torch.randn_like(x)
        return x


def energy_distance(a, b):
    return (2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


def chamfer(a, b):
    d = torch.cdist(a, b)
    return (d.min(1).values.mean() + d.min(0).values.mean()).item()


d = Diffusion()
d.fit(swiss(5000), 900)
s = d.sample(1000)
ref = swiss(1000)
print("energy distance", energy_distance(s, ref))
print("METRIC", chamfer(s, ref))
