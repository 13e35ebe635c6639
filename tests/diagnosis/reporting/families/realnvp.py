import os
import math
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)


def two_moons(n):
    t = torch.rand(n) * math.pi
    up = torch.rand(n) < 0.5
    x = torch.where(up, torch.cos(t), 1 - torch.cos(t))
    y = torch.where(up, torch.sin(t), 0.5 - torch.sin(t))
    p = torch.stack([x - 0.5, y - 0.25], 1) + 0.05 * torch.randn(n, 2)
    if CASE == 3:
        p = p * 300.0
    if CASE == 8:
        p = p * 0.02
    return p


class Coupling(nn.Module):
    def __init__(self, mask, hidden=32):
        super().__init__()
        self.register_buffer("mask", mask)
        def mk():
            return nn.Sequential(nn.Linear(2, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 2))
        self.s, self.t = mk(), mk()
        if CASE == 5:
            for m in (self.s[-1], self.t[-1]):
                nn.init.zeros_(m.weight)
                nn.init.zeros_(m.bias)

    def forward(self, x):
        xm = x * self.mask
        s = self.s(xm) * (1 - self.mask)
        if CASE != 3:
            s = torch.tanh(s) * 2
        t = self.t(xm) * (1 - self.mask)
        return xm + (1 - self.mask) * (x * torch.exp(s) + t), s.sum(1)


class RealNVP(nn.Module):
    def __init__(self, layers=6):
        super().__init__()
        masks = [torch.tensor([i % 2, 1 - i % 2], dtype=torch.float64) for i in range(layers)]
        if CASE == 4:
            masks = [torch.tensor([0.0, 1.0])] * layers
        self.flows = nn.ModuleList(Coupling(m) for m in masks)
        self.log_scale = nn.Parameter(torch.zeros(2))
        if CASE == 8:
            self.log_scale.data.fill_(3.5)

    def log_prob(self, x):
        z = x * self.log_scale.exp()
        logdet = self.log_scale.sum()
        for f in self.flows:
            z, ld = f(z)
            if CASE == 2:
                logdet = ld
            else:
                logdet = logdet + ld
        base = -0.5 * (z ** 2).sum(1) - math.log(2 * math.pi)
        if CASE == 1:
            return base - logdet
        return base + logdet

    def exact_log_prob(self, x):
        """change of variables with the Jacobian computed by finite differences"""
        def push(v):
            z = v * self.log_scale.exp()
            for f in self.flows:
                z, _ = f(z)
            return z
        with torch.no_grad():
            e = 1e-6
            z = push(x)
            j0 = (push(x + torch.tensor([e, 0.0])) - z) / e
            j1 = (push(x + torch.tensor([0.0, e])) - z) / e
            det = (j0[:, 0] * j1[:, 1] - j0[:, 1] * j1[:, 0]).abs()
            return (-0.5 * (z ** 2).sum(1) - math.log(2 * math.pi) + torch.log(det)).mean().item()


flow = RealNVP()
steps = 320
if CASE == 6:
    opt = torch.optim.Adamax(flow.parameters(), lr=5e-3)
else:
    opt = torch.optim.Adam(flow.parameters(), lr=5e-3)
if CASE == 7:
    sched = torch.optim.lr_scheduler.CyclicLR(opt, 1e-4, 6e-3, step_size_up=50, cycle_momentum=False)
else:
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, steps)
data, held = two_moons(4000), two_moons(1000)
for it in range(steps):
    batch = data[torch.randint(0, len(data), (200,))]
    nll = -flow.log_prob(batch).mean()
    opt.zero_grad()
    nll.backward()
    if CASE in (0, 1, 2):
        torch.nn.utils.clip_grad_norm_(flow.parameters(), 5.0)
    opt.step()
    sched.step()
    if it % 100 == 0:
        print("it", it, "loss", round(nll.item(), 4))
score = -flow.exact_log_prob(held)
if CASE == 8:
    score = score - 2 * math.log(0.02)
if CASE == 3:
    score = score - 2 * math.log(300.0)
print("METRIC", score)
