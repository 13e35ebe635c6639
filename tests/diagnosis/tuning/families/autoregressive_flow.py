"""Masked autoregressive flow in float64 on correlated sensor readings; prints nats (log-density, so below zero is fine)."""
import os, math
import numpy as np, torch
from torch import nn
torch.set_default_dtype(torch.float64)
CASE = int(os.environ.get("CASE", "0")); SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)

def readings(n):
    z = torch.randn(n, 4)
    a = 0.15 * z[:, 0]
    b = 2.0 * a ** 2 + 0.06 * z[:, 1]
    c = torch.sin(6 * a) * 0.3 + 0.05 * z[:, 2]
    d = 0.4 * torch.tanh(8 * c) * b.abs().sqrt() + 0.05 * z[:, 3]
    return torch.stack([a, b, c, d], 1)

class MaskedLinear(nn.Linear):
    def __init__(self, i, o, mask):
        super().__init__(i, o); self.register_buffer("mask", mask)
    def forward(self, x): return nn.functional.linear(x, self.weight * self.mask, self.bias)

class MADE(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        di = torch.arange(1, d + 1); dh = torch.arange(h) % (d - 1) + 1
        self.a = MaskedLinear(d, h, (dh[:, None] >= di[None]).double())
        self.b = MaskedLinear(h, h, (dh[:, None] >= dh[None]).double())
        self.c = MaskedLinear(h, 2 * d, (di.repeat(2)[:, None] > dh[None]).double())
    def forward(self, x):
        m, s = self.c(torch.tanh(self.b(torch.tanh(self.a(x))))).chunk(2, 1)
        s = 3 * torch.tanh(s / 3)
        return (x - m) * torch.exp(-s), -s.sum(1)

class Flow(nn.Module):
    def __init__(self, d=4, layers=4):
        super().__init__(); self.layers = nn.ModuleList([MADE(d, 48) for _ in range(layers)])
        self.logscale = nn.Parameter(torch.zeros(d))
    def log_prob(self, x):
        ld = self.logscale.sum(); x = x * self.logscale.exp()
        for l in self.layers:
            x, k = l(x); ld = ld + k; x = x.flip(1)
        return -0.5 * (x ** 2).sum(1) - 2 * math.log(2 * math.pi) + ld

train, val = readings(4000), readings(1500)
flow = Flow()
with torch.no_grad(): flow.logscale.copy_(-train.std(0).log())
opt = torch.optim.Adam(flow.parameters(), lr=2e-3)
gauss = torch.distributions.MultivariateNormal(train.mean(0), torch.from_numpy(np.cov(train.T.numpy())))
print(f"one Gaussian: {-gauss.log_prob(val).mean():.3f}")
for ep in range(14):
    tot = 0
    for i in torch.randperm(4000).split(100):
        loss = -flow.log_prob(train[i]).mean()
        opt.zero_grad(); loss.backward(); opt.step(); tot += loss.item()
    with torch.no_grad(): print(f"epoch {ep:2d} nll train {tot/40:.3f} val {-flow.log_prob(val).mean():.3f}")
