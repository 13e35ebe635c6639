# Fingerprints of diesel engines: learn an embedding of vibration spectra so that recordings of one
# engine lie together, also for engines never seen in training.
import argparse
import copy
import logging
import math
import os

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("engine")

BINS = 96


def engine(rng):
    """a machine: base frequency and loudness of its harmonics plus two resonances"""
    return dict(f0=rng.uniform(5.5, 9.5), amp=rng.gamma(1.2, 1.0, 12), res=rng.uniform(10, 90, 2), gain=rng.uniform(0.5, 1.5, 2))


def record(m, rng, n):
    k = np.arange(BINS)[None]
    speed = m["f0"] * (1 + rng.normal(0, 0.03, (n, 1)))
    out = np.zeros((n, BINS))
    for h in range(12):
        a = m["amp"][h] * np.exp(rng.normal(0, 0.35, (n, 1)))
        out += a * np.exp(-0.5 * ((k - speed * (h + 1)) / 1.1) ** 2)
    for r, g in zip(m["res"], m["gain"]):
        out += g * np.exp(-0.5 * ((k - r) / 6.0) ** 2) * np.exp(rng.normal(0, 0.3, (n, 1)))
    floor = rng.uniform(0.02, 0.3, (n, 1))
    return np.log(out + floor * rng.gamma(2.0, 0.5, (n, BINS)) + 1e-2) + rng.normal(0, 0.9, (n, 1))


def collection(n_engines, per, seed):
    rng = np.random.RandomState(seed)
    xs, ys = [], []
    for i in range(n_engines):
        xs.append(record(engine(rng), rng, per))
        ys += [i] * per
    x = np.concatenate(xs).astype("float32")
    return torch.from_numpy((x + 1.5) / 1.3), torch.tensor(ys)


class Encoder(nn.Module):
    def __init__(self, dim=32, width=128, norm=True):
        super().__init__()
        self.front = nn.Sequential(nn.Linear(BINS, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.proj = nn.Linear(width, dim)
        self.norm = norm

    def forward(self, x):
        e = self.proj(self.front(x))
        return F.normalize(e, dim=1) if self.norm else e


def augment(x):
    if CASE == 8:
        g = torch.Generator().manual_seed(SEED)
    else:
        g = None
    n = len(x)
    pos = torch.arange(BINS, dtype=torch.float32)[None] * (1 + 0.04 * torch.randn(n, 1, generator=g))       # speed
    pos = pos.clamp(0, BINS - 1.001)
    lo = pos.long()
    x = x.gather(1, lo) * (1 - pos + lo) + x.gather(1, lo + 1) * (pos - lo)
    tilt = F.interpolate(torch.randn(n, 1, 14, generator=g), size=BINS, mode="linear", align_corners=True)[:, 0]
    x = x + 1.0 * torch.randn(n, 1, generator=g) + 0.3 * tilt + 0.3 * torch.randn(n, BINS, generator=g)
    start = torch.randint(0, BINS - 8, (n, 1), generator=g)
    grid = torch.arange(BINS)[None]
    return x.masked_fill((grid >= start) & (grid < start + 8), 0.0)


# ------------------------------------------------------------------ sampling
def pk_batch(y, p, k, replace=False):
    """p engines with k recordings each"""
    idx = []
    for c in np.random.choice(int(y.max()) + 1, p, replace=False):
        idx.append(np.random.choice(np.flatnonzero(y.numpy() == c), k, replace=replace))
    return torch.from_numpy(np.concatenate(idx))


def pair_batch(y, n):
    a = np.random.randint(0, len(y), n)
    b = np.empty(n, dtype=int)
    yn = y.numpy()
    for j in range(n):
        pool = np.flatnonzero(yn == yn[a[j]]) if j % 2 else np.flatnonzero(yn != yn[a[j]])
        b[j] = np.random.choice(pool)
    return torch.from_numpy(a), torch.from_numpy(b)


# ------------------------------------------------------------------ losses
def ntxent(z1, z2, t=0.2):
    b = len(z1)
    if CASE == 1:
        z = torch.stack([z1, z2], 1).flatten(0, 1)
    else:
        z = torch.cat([z1, z2])
    sim = z @ z.t() / t
    sim.fill_diagonal_(-1e9)
    want = (torch.arange(2 * b) + b) % (2 * b)
    return F.cross_entropy(sim, want)


def pairwise(e):
    sq = (e ** 2).sum(1)
    d2 = (sq[:, None] + sq[None] - 2 * e @ e.t()).clamp(min=0)
    if CASE == 5:
        return d2.sqrt()
    return (d2 + 1e-6).sqrt()


def batch_hard(e, y, margin):
    d = pairwise(e)
    same = y[:, None] == y[None]
    far = d.masked_fill(~same, 0).max(1).values
    near = d.masked_fill(same, 1e6).min(1).values
    return F.relu(far - near + margin).mean()


def all_pairs(e, y, margin=1.0):
    d = pairwise(e)
    same = (y.unsqueeze(0) == y.unsqueeze(1)).float()
    pull = same * d ** 2
    push = (1 - same) * F.relu(margin - d) ** 2
    return (pull + push).mean()


def contrastive(e1, e2, y, margin=1.0):
    d = (e1 - e2).pow(2).sum(1).add(1e-8).sqrt()
    return ((1 - y) * d ** 2 + y * F.relu(margin - d) ** 2).mean()


class CosineHead(nn.Module):
    def __init__(self, dim, n, scale=16.0, margin=0.15):
        super().__init__()
        self.w = nn.Parameter(torch.randn(n, dim) * 0.1)
        self.scale, self.margin = scale, margin

    def forward(self, e, y):
        cos = e @ F.normalize(self.w, dim=1).t()
        cos = cos - self.margin * F.one_hot(y, len(self.w))
        return F.cross_entropy(self.scale * cos, y)


# ------------------------------------------------------------------ evaluation
@torch.no_grad()
def evaluate(model, x, y):
    model.eval()
    e = model(x)
    model.train()
    d = torch.cdist(e, e)
    if CASE != 10:
        d.fill_diagonal_(float("inf"))
    hit1 = (y[d.argmin(1)] == y).float().mean().item()
    g = torch.Generator().manual_seed(1)
    i, j = torch.randint(0, len(x), (2, 6000), generator=g)
    keep = i != j
    i, j = i[keep], j[keep]
    same, dd = y[i] == y[j], (e[i] - e[j]).norm(dim=1)
    p, n = dd[same], dd[~same]
    auc = ((p[:, None] < n[None]).float().mean() + 0.5 * (p[:, None] == n[None]).float().mean()).item()
    return hit1, auc, e.std(0).mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=300)
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--log-every", type=int, default=50)
    a = ap.parse_args([])
    torch.manual_seed(SEED)
    np.random.seed(SEED)
    x, y = collection(60, 20, 100 + SEED)
    xt, yt = collection(40, 12, 5000 + SEED)
    method = {0: "views", 1: "views", 8: "views", 2: "hard", 3: "hard", 5: "hard", 10: "cosine", 6: "cosine",
              4: "pairs", 11: "pairs", 7: "allpairs", 9: "queue"}[CASE]
    log.info("method %s, train %d recordings of 60 engines, test %d of 40 other engines", method, len(x), len(xt))
    log.info("raw spectra: recall@1 %.3f auc %.3f", *evaluate(nn.Identity(), xt, yt)[:2])

    net = Encoder(norm=method not in ("hard",) or CASE == 5)
    params = [{"params": net.parameters(), "lr": a.lr}]
    extra = None
    if method == "hard":
        if CASE == 2:
            params[0]["lr"] = 1e-1
    if method == "cosine":
        extra = torch.optim.SGD((head := CosineHead(32, 60)).parameters(), lr=0.5, momentum=0.9)
    if method == "queue":
        slow = copy.deepcopy(net).requires_grad_(False)
        queue = F.normalize(torch.randn(512, 32), dim=1)
    opt = torch.optim.Adam(params)
    warm = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 40)) if CASE == 3 else None

    run = 0.0
    for step in range(1, a.steps + 1):
        if method == "views":
            idx = torch.randint(0, len(x), (96,))
            loss = ntxent(net(augment(x[idx])), net(augment(x[idx])))
        elif method == "hard":
            idx = pk_batch(y, 16, 5, replace=CASE == 5)
            loss = batch_hard(net(x[idx]), y[idx], 0.5)
        elif method == "cosine":
            idx = torch.randint(0, len(x), (64,))
            loss = head(net(x[idx]), y[idx])
        elif method == "allpairs":
            idx = pk_batch(y, 16, 5)
            loss = all_pairs(net(x[idx]), y[idx].view(-1, 1))
        elif method == "pairs":
            loss = 0.0
            opt.zero_grad()
            for _ in range(2):
                i, j = pair_batch(y, 48)
                same = y[i] == y[j]
                flag = same.float() if CASE == 4 else (~same).float()
                part = contrastive(net(x[i]), net(x[j]), flag) / 2
                part.backward()
                loss = loss + part.detach()
            opt.step()
        else:
            idx = torch.randint(0, len(x), (96,))
            q = net(augment(x[idx]))
            with torch.no_grad():
                k = slow(augment(x[idx]))
            logits = torch.cat([(q * k).sum(1, keepdim=True), q @ queue.t()], 1) / 0.2
            loss = F.cross_entropy(logits, torch.zeros(len(q), dtype=torch.long))
        if method != "pairs":
            opt.zero_grad()
            if extra is not None:
                extra.zero_grad()
            loss.backward()
            opt.step()
            if extra is not None:
                extra.step()
        if warm is not None:
            warm.step()
        if method == "queue":
            with torch.no_grad():
                for ps, p in zip(slow.parameters(), net.parameters()):
                    ps.mul_(0.95).add_(p, alpha=0.05)
            queue = torch.cat([k, queue])[:512]
        run += float(loss)
        if step % a.log_every == 0:
            hit, auc, spread = evaluate(net, xt, yt)
            log.info("step %d loss %.4f | unseen engines: recall@1 %.3f auc %.3f spread %.3f", step, run / a.log_every, hit, auc, spread)
            run = 0.0


if __name__ == "__main__":
    main()
