"""Embeddings of short bird calls with a supervised contrastive loss.

Trained on 40 singers, judged on 20 singers never heard in training (recall@1 of the nearest neighbour).
"""
import os
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
N_MEL, N_FRAMES = 16, 32
N_TRAIN_BIRDS, N_TEST_BIRDS, PER_BIRD = 40, 20, 24


def seed_all(s):
    random.seed(s)
    np.random.seed(s)
    torch.manual_seed(s)


def one_bird(rng):
    n = rng.integers(2, 5)
    return dict(f0=rng.uniform(3, 12, n), slope=rng.normal(0, 2.2, n), at=np.sort(rng.uniform(2, 24, n)),
                length=rng.uniform(3, 8, n), trill=rng.uniform(0, 1.5, n))


def one_call(bird, rng):
    m = np.arange(N_MEL)[:, None]
    t = np.arange(N_FRAMES)[None, :]
    spec = np.zeros((N_MEL, N_FRAMES))
    shift, stretch, pitch = rng.uniform(-2, 3), rng.uniform(0.85, 1.15), rng.normal(0, 0.6)
    for f, s, a, l, tr in zip(bird["f0"], bird["slope"], bird["at"], bird["length"], bird["trill"]):
        u = (t - (a * stretch + shift)) / (l * stretch)
        line = f + pitch + s * (u - 0.5) + tr * np.sin(9 * u) + rng.normal(0, 0.25)
        spec += rng.uniform(0.5, 1.3) * np.exp(-(m - line) ** 2 / 1.1) * ((u > 0) & (u < 1))
    spec += 0.35 * np.abs(rng.normal(0, 1, spec.shape)) + rng.uniform(0, 0.4) * (m < 4)
    return np.log(spec + 0.1)


def record(n_birds, seed):
    rng = np.random.default_rng(seed)
    birds = [one_bird(rng) for _ in range(n_birds)]
    x = np.stack([one_call(b, rng) for b in birds for _ in range(PER_BIRD)])
    return torch.tensor(x, dtype=torch.float32), torch.arange(n_birds).repeat_interleave(PER_BIRD)


class Encoder(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(N_MEL, 32, 5, padding=2), nn.BatchNorm1d(32), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(32, 48, 3, padding=1), nn.BatchNorm1d(48), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(48, 64, 3, padding=1), nn.BatchNorm1d(64), nn.ReLU())
        self.neck = nn.Linear(128, 64)
        self.proj = nn.Sequential(nn.ReLU(), nn.Linear(64, dim))

    def features(self, x):
        h = self.body(x)
        return self.neck(torch.cat([h.mean(2), h.amax(2)], 1))

    def forward(self, x):
        if CASE == 3:
            with torch.no_grad():
                h = self.features(x)
        else:
            h = self.features(x)
        return F.normalize(self.proj(h), dim=1)


def supcon(z, y, tau):
    sim = z @ z.t() / tau
    me = torch.eye(len(y), dtype=torch.bool)
    same = (y[:, None] == y[None, :]) & ~me
    other = ~me if CASE != 1 else same
    if CASE == 2:
        e = torch.exp(sim) * other
        log_p = sim - torch.log(e.sum(1, keepdim=True))
    else:
        log_p = sim - sim.masked_fill(~other, -1e9).logsumexp(1, keepdim=True)
    n_pos = same.sum(1).clamp(min=1)
    return -((log_p * same).sum(1) / n_pos).mean()


class Proxies(nn.Module):
    """one learned direction per bird, soft-max over cosines"""

    def __init__(self, n, dim=24):
        super().__init__()
        self.w = nn.Parameter(torch.randn(n, dim))
        self.log_scale = nn.Parameter(torch.tensor(2.5))

    def forward(self, z, y):
        cos = z @ F.normalize(self.w, dim=1).t()
        return F.cross_entropy(self.log_scale.exp() * cos, y)


def batches(y, size, epoch):
    """birds_per_batch x 4 calls each"""
    rng = np.random.default_rng(1000 * SEED + epoch)
    if CASE == 4:
        for s in range(0, len(y), size):
            yield torch.arange(s, min(s + size, len(y)))
        return
    for _ in range(len(y) // size):
        birds = rng.choice(N_TRAIN_BIRDS, size // 4, replace=False)
        idx = np.concatenate([b * PER_BIRD + rng.choice(PER_BIRD, 4, replace=False) for b in birds])
        yield torch.from_numpy(idx)


def jitter(x):
    k = int(torch.randint(-2, 3, (1,)))
    return torch.roll(x, k, 2) + 0.1 * torch.randn_like(x)


@torch.no_grad()
def recall_at_1(net, x, y):
    net.eval()
    z = net(x)
    s = z @ z.t()
    s.fill_diagonal_(-2.0)
    hit = (y[s.argmax(1)] == y).float().mean().item()
    spread = z.std(0).mean().item()
    net.train()
    return hit, spread


def main():
    seed_all(SEED)
    torch.set_num_threads(1)
    x, y = record(N_TRAIN_BIRDS, 11 + SEED)
    xt, yt = record(N_TEST_BIRDS, 5011 + SEED)
    mu, sd = x.mean((0, 2), keepdim=True), x.std((0, 2), keepdim=True)
    x, xt = (x - mu) / sd, (xt - mu) / sd
    net = Encoder()
    tau = {2: 0.01}.get(CASE, 0.1)
    lr = 2e-3 if CASE != 5 else 0.3
    optims = [torch.optim.Adam(net.parameters(), lr=lr, weight_decay=1e-4)]
    head = None
    if CASE == 6:
        head = Proxies(N_TRAIN_BIRDS)
        optims.append(torch.optim.SGD(head.parameters(), lr=0.5))
    print("before training: recall@1 %.3f" % recall_at_1(net, xt, yt)[0])
    step = 0
    for epoch in range(22):
        total, n = 0.0, 0
        for idx in batches(y, 64, epoch):
            z = net(jitter(x[idx]))
            loss = head(z, y[idx]) if head is not None else supcon(z, y[idx], tau)
            for o in optims:
                o.zero_grad()
            loss.backward()
            for o in optims:
                o.step()
            total, n, step = total + loss.item(), n + 1, step + 1
        r, spread = recall_at_1(net, xt, yt)
        print(f"epoch {epoch:2d} step {step} loss {total / n:.4f} | unseen birds: recall@1 {r:.3f} spread {spread:.3f}")


if __name__ == "__main__":
    main()
