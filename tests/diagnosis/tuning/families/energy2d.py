"""Energy-based and score-based models of a two-dimensional density."""
import copy
import math
import os

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

CASE = int(os.environ.get("CASE", 5))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)
np_rng = np.random.default_rng(SEED)


def pinwheel(n):
    k = np_rng.integers(0, 4, n)
    r = np_rng.normal(1.0, 0.25, n).clip(0.2)
    a = k * np.pi / 2 + 0.9 * r + np_rng.normal(0, 0.08, n)
    p = np.stack([r * np.cos(a), r * np.sin(a)], 1)
    return torch.tensor(p, dtype=torch.float32)


class Stream(IterableDataset):
    def __init__(self, data, seed):
        self.data, self.g = data, torch.Generator().manual_seed(seed)

    def __iter__(self):
        while True:
            i = int(torch.randint(len(self.data), (1,), generator=self.g))
            yield self.data[i]


class Score(nn.Module):
    """s(x, sigma), parametrised as noise prediction"""

    def __init__(self, h=96):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, h), nn.Tanh() if CASE == 2 else nn.SiLU(),
                                 nn.Linear(h, h), nn.Tanh() if CASE == 2 else nn.SiLU(), nn.Linear(h, 2))
        if CASE == 2:
            for p in self.parameters():
                nn.init.normal_(p, std=2.0)

    def forward(self, x, sig):
        ls = torch.log(sig)
        return -self.net(torch.cat([x / (1 + sig), ls, torch.sin(ls), torch.cos(ls)], 1)) / sig


class Energy(nn.Module):
    def __init__(self, h=64):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(2, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, 1))

    def forward(self, x):
        return self.f(x).squeeze(-1) + 0.1 * (x ** 2).sum(1)

    def score(self, x, create=False):
        x = x.detach().requires_grad_(True)
        return -torch.autograd.grad(self(x).sum(), x, create_graph=create)[0]


SIGMAS = torch.logspace(math.log10(1.2), math.log10(0.06), 12)


@torch.no_grad()
def sample_score(m, n=400):
    x = torch.randn(n, 2) * 1.2
    for s in SIGMAS:
        sig = s.expand(n, 1)
        eps = 0.12 * s ** 2
        for _ in range(12):
            x = x + eps * m(x, sig) + torch.sqrt(2 * eps) * torch.randn_like(x)
    return x + s ** 2 * m(x, s.expand(n, 1))


def langevin(e, x, k, step=0.01):
    for _ in range(k):
        x = x + step * e.score(x).clamp(-20, 20) + math.sqrt(2 * step) * torch.randn_like(x)
    return x.detach()


def sample_energy(e, n=400):
    return langevin(e, torch.randn(n, 2) * 1.2, 400, 0.005)


def energy_distance(a, b):
    return (2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


def dsm(m, x, sum_batch=False):
    sig = torch.exp(torch.empty(len(x), 1).uniform_(math.log(0.06), math.log(1.2)))
    z = torch.randn_like(x)
    out = m(x + sig * z, sig) * sig
    if sum_batch:
        return ((out + z) ** 2).sum()
    return ((out + z) ** 2).sum(1).mean()


def sliced(e, x):
    v = torch.randn_like(x)
    xn = (x + 0.05 * torch.randn_like(x)).requires_grad_(True)
    s = -torch.autograd.grad(e(xn).sum(), xn, create_graph=True)[0]
    hv = torch.autograd.grad((s * v).sum(), xn, create_graph=True)[0]
    return ((hv * v).sum(1) + 0.5 * (s ** 2).sum(1)).mean()


def main():
    train, held = pinwheel(4000), pinwheel(400)
    if CASE == 4:
        rows = torch.from_numpy(np_rng.choice(len(train), 80, replace=False))
        train[rows, 1] = -9999.0
    mu, sd = train.mean(0), train.std(0)
    train, held_n = (train - mu) / sd, (held - mu) / sd
    energy_model = CASE in (1, 6, 7, 9)
    model = Energy() if energy_model else Score()
    steps, bs = (600, 128) if CASE in (1, 6) else (900, 128)
    if CASE == 3:
        bs = 8
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    if CASE == 8:
        opt = torch.optim.SGD(model.parameters(), lr=2e-4, momentum=0.9)
    if CASE == 7:
        opt = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    if CASE == 10:
        opt = torch.optim.Adam(model.parameters(), lr=6e-3)
        avg = copy.deepcopy(model).requires_grad_(False)
    if CASE == 9:
        logc = nn.Parameter(torch.zeros(()))
        opt = torch.optim.Adam([{"params": model.parameters()}, {"params": [logc], "lr": 1e-2}], lr=3e-3)

    if CASE == 3:
        loader = DataLoader(TensorDataset(train), batch_size=bs)
        stream = None
    else:
        stream = iter(DataLoader(Stream(train, SEED), batch_size=bs))
    buffer = torch.rand(1024, 2) * 3 - 1.5
    hist = []
    for step in range(1, steps + 1):
        x = next(iter(loader))[0] if stream is None else next(stream)
        if CASE in (1, 6):
            idx = torch.randint(len(buffer), (bs,))
            start = buffer[idx]
            fresh = torch.rand(bs) < 0.05
            start[fresh] = torch.rand(int(fresh.sum()), 2) * 3 - 1.5
            neg = langevin(model, start, 12)
            buffer[idx] = neg.clamp(-3, 3)
            pos, ne = model(x + 0.03 * torch.randn_like(x)), model(neg)
            gap = ne.mean() - pos.mean() if CASE == 1 else pos.mean() - ne.mean()
            loss = gap + 0.02 * (pos ** 2 + ne ** 2).mean()
        elif CASE == 7:
            loss = sliced(model, x)
        elif CASE == 9:
            y = torch.randn_like(x) * 1.2
            def logit(u):
                logq = -(u ** 2).sum(1) / (2 * 1.44) - math.log(2 * math.pi * 1.44)
                return -model(u) - logc - logq
            loss = -(nn.functional.logsigmoid(logit(x)) + nn.functional.logsigmoid(-logit(y))).mean()
        else:
            loss = dsm(model, x, sum_batch=CASE == 8)
        opt.zero_grad()
        loss.backward()
        if CASE == 8:
            nn.utils.clip_grad_norm_(model.parameters(), 20.0)
        opt.step()
        if CASE == 10:
            with torch.no_grad():
                for a, p in zip(avg.parameters(), model.parameters()):
                    a.mul_(0.99).add_(p, alpha=0.01)
        hist.append(loss.item())
        if step % (steps // 6) == 0:
            extra = "" if energy_model else f"  held-out dsm {dsm(model, held_n).item():.4f}"
            print(f"{step:5d}  loss {np.mean(hist[-50:]):+.4f}{extra}")
    final = avg if CASE == 10 else model
    s = sample_energy(final) if energy_model else sample_score(final)
    s = s * sd + mu
    print(f"samples: mean {s.mean(0).tolist()}, std {s.std(0).tolist()}")
    print(f"METRIC {energy_distance(s, held):.4f}")


main()
