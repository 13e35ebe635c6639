"""Autoregressive model of drum patterns with dilated causal convolutions: left padding only, next-token loss."""
import os
import math
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED + 2)
V, T = 6, 36          # rest kick snare hat open clap


def pattern():
    p = int(rng.choice([6, 8, 12]))
    bar = rng.choice(V, p, p=[.4, .15, .12, .2, .05, .08])
    s = np.tile(bar, T // p + 1)[:T + 1].copy()
    hit = rng.random(T + 1) < .06
    s[hit] = rng.integers(0, V, hit.sum())
    return s


class CausalConv(nn.Module):
    def __init__(self, i, o, k, d):
        super().__init__()
        self.left = (k - 1) * d
        self.conv = nn.Conv1d(i, o, k, dilation=d)

    def forward(self, x):
        return self.conv(F.pad(x, (self.left, 0)))


class Block(nn.Module):
    def __init__(self, c, d):
        super().__init__()
        self.f, self.g = CausalConv(c, c, 2, d), CausalConv(c, c, 2, d)
        self.res, self.skip = nn.Conv1d(c, c, 1), nn.Conv1d(c, c, 1)

    def forward(self, x):
        z = torch.tanh(self.f(x)) * torch.sigmoid(self.g(x))
        return x + self.res(z), self.skip(z)


class WaveNet(nn.Module):
    def __init__(self, c=24, dil=(1, 2, 4, 8)):
        super().__init__()
        self.emb = nn.Embedding(V, c)
        self.blocks = nn.ModuleList([Block(c, d) for d in dil])
        self.o1, self.o2 = nn.Conv1d(c, c, 1), nn.Conv1d(c, V, 1)

    def forward(self, t):
        x = self.emb(t).transpose(1, 2)
        total = 0
        for b in self.blocks:
            x, s = b(x)
            total = total + s
        return self.o2(F.relu(self.o1(F.relu(total))))       # B, V, T


data = torch.from_numpy(np.stack([pattern() for _ in range(1400)]))
train, test = data[:1200], data[1200:]
net = WaveNet()
opt = torch.optim.Adam(net.parameters(), lr=7e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 7 * 40, eta_min=2e-4)
uni = torch.bincount(train.flatten(), minlength=V).float(); uni /= uni.sum()
print(f"unigram entropy {-(uni * uni.log()).sum():.4f} nats")
for epoch in range(7):
    net.train(); tot = 0
    for j in torch.randperm(1200).split(30):
        b = train[j]
        loss = F.cross_entropy(net(b[:, :-1]), b[:, 1:])
        opt.zero_grad(); loss.backward(); opt.step(); sched.step()
        tot += loss.item() * len(j)
    net.eval()
    with torch.no_grad():
        o = net(test[:, :-1])
        nll = F.cross_entropy(o, test[:, 1:], reduction="none")
        acc = (o.argmax(1) == test[:, 1:]).float()
    print(f"epoch {epoch} train {tot / 1200:.4f} test {nll.mean():.4f} ({nll.mean() / math.log(2):.3f} bits) first 8 steps {nll[:, :8].mean():.3f} last 16 {nll[:, -16:].mean():.3f} acc last 16 {acc[:, -16:].mean():.3f}")
