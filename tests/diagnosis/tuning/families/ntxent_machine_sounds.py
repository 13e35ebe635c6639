"""Contrastive pretraining (NT-Xent) on unlabelled machine sound envelopes, then a linear probe on few labels."""
import os
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))


def envelopes(n, g):
    y = torch.randint(0, 6, (n,), generator=g)
    t = torch.arange(64).float() / 64
    r = lambda: torch.rand(n, 1, generator=g)
    period = torch.tensor([3., 5., 8., 3., 5., 8.])[y][:, None] * (0.88 + 0.24 * r())
    phase = 6.283 * r()
    wave = torch.sin(6.283 * period * t + phase)
    sharp = (y >= 3).float()[:, None]
    x = (1 - sharp) * wave + sharp * (wave.clamp_min(0) ** 4 * 2.4 - 0.7)
    return x * (0.6 + 0.8 * r()) + 0.9 * torch.randn(n, 64, generator=g), y


def augment(x):
    b = len(x)
    shift = torch.randint(0, 64, (b, 1))
    x = x.gather(1, (torch.arange(64) + shift) % 64)
    x = x * (0.7 + 0.6 * torch.rand(b, 1)) * torch.where(torch.rand(b, 1) < 0.1, 0.9, 1.0)
    start = torch.randint(0, 54, (b, 1))
    k = torch.arange(64)
    x = x.masked_fill((k >= start) & (k < start + 10), 0.0)
    return x + 0.2 * torch.randn_like(x)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(1, 16, 9, 2, 4, padding_mode="circular"), nn.BatchNorm1d(16), nn.ReLU(),
                                  nn.Conv1d(16, 32, 9, 2, 4, padding_mode="circular"), nn.BatchNorm1d(32), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten())
        self.proj = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 16))

    def forward(self, x):
        h = self.conv(x[:, None])
        return h, F.normalize(self.proj(h), dim=1)


def nt_xent(a, b, tau):
    z = torch.cat([a, b])
    s = z @ z.t() / tau
    s.fill_diagonal_(float("-inf"))
    n = len(a)
    return F.cross_entropy(s, torch.cat([torch.arange(n) + n, torch.arange(n)]))


def probe(enc, few, test):
    enc.eval()
    with torch.no_grad():
        hf, ht = enc(few[0])[0], enc(test[0])[0]
    enc.train()
    m, s = hf.mean(0), hf.std(0) + 1e-5
    hf, ht = (hf - m) / s, (ht - m) / s
    lin = nn.Linear(32, 6)
    o = torch.optim.Adam(lin.parameters(), lr=0.03, weight_decay=1e-3)
    for _ in range(60):
        l = F.cross_entropy(lin(hf), few[1])
        o.zero_grad(); l.backward(); o.step()
    return (lin(ht).argmax(1) == test[1]).float().mean().item()


torch.manual_seed(SEED)
g = torch.Generator().manual_seed(SEED + 1)
unlabelled = envelopes(4000, g)[0]
few, test = envelopes(90, g), envelopes(600, g)
enc = Encoder()
opt = torch.optim.Adam(enc.parameters(), lr=3e-3)
B = 100
print(f"chance loss ln({2 * B - 1}) = {math.log(2 * B - 1):.3f}; probe on the random encoder {probe(enc, few, test):.3f}")
for step in range(1, 301):
    x = unlabelled[torch.randint(len(unlabelled), (B,))]
    za, zb = enc(augment(x))[1], enc(augment(x))[1]
    loss = nt_xent(za, zb, 0.2)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step == 220:
        opt.param_groups[0]["lr"] = 6e-4
    if step % 20 == 0:
        print(f"step {step} nt-xent {loss.item():.4f}")
    if step % 75 == 0:
        print(f"   linear probe, 90 labels: {probe(enc, few, test):.4f}")
