import copy
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
np.random.seed(SEED)
torch.manual_seed(SEED)
torch.set_num_threads(1)

# self-supervised features for little icons, checked with a linear probe
PX = 20
SHAPES = ["disc", "ring", "square", "frame", "plus", "cross", "bars", "tri"]
gy, gx = np.mgrid[0:PX, 0:PX].astype(np.float32)


def draw(kind):
    cx, cy = np.random.uniform(7.5, 11.5, 2)
    r = np.random.uniform(4.5, 7.0)
    x, y = gx - cx, gy - cy
    d = np.hypot(x, y)
    m = np.maximum(abs(x), abs(y))
    if kind == 0:
        a = d < r
    elif kind == 1:
        a = abs(d - r) < 1.2
    elif kind == 2:
        a = m < r * 0.85
    elif kind == 3:
        a = abs(m - r) < 1.0
    elif kind == 4:
        a = (m < r) & (np.minimum(abs(x), abs(y)) < 1.3)
    elif kind == 5:
        a = (m < r) & (np.minimum(abs(x - y), abs(x + y)) < 1.8)
    elif kind == 6:
        a = (m < r) & (np.floor(y / 2) % 2 == 0)
    else:
        a = (y < r * 0.7) & (y > -r + 2 * abs(x))
    fg, bg = np.random.uniform(0.5, 1.0), np.random.uniform(0.0, 0.35)
    return np.where(a, fg, bg).astype(np.float32)


def icons(n):
    y = np.random.randint(0, len(SHAPES), n)
    return np.stack([draw(k) for k in y])[:, None], y


def augment(x, rng):
    """shift, erase, brightness, noise"""
    n = len(x)
    out = np.empty_like(x)
    sh = rng.integers(-2, 3, (n, 2))
    for i in range(n):
        z = np.roll(x[i], tuple(sh[i]), (1, 2))
        u, v = rng.integers(0, PX - 4, 2)
        z = z.copy()
        z[:, u:u + 4, v:v + 4] = rng.random()
        out[i] = z
    out = out * rng.uniform(0.7, 1.3, (n, 1, 1, 1)) + rng.normal(0, 0.05, x.shape)
    return torch.from_numpy(out.astype(np.float32))


class Backbone(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        p = 0.95 if CASE == 11 else 0.05
        self.conv = nn.Sequential(
            nn.Conv2d(1, 16, 3, 2, 1), nn.GroupNorm(4, 16), nn.ReLU(),
            nn.Conv2d(16, 32, 3, 2, 1), nn.GroupNorm(4, 32), nn.ReLU(),
            nn.Conv2d(32, dim, 3, 2, 1), nn.GroupNorm(4, dim), nn.ReLU())
        self.drop = nn.Dropout(p)

    def forward(self, x):
        h = self.conv(x - 0.5)
        return self.drop(torch.cat([h.mean((2, 3)), h.amax((2, 3))], 1))


def nt_xent(z1, z2, tau):
    z = F.normalize(torch.cat([z1, z2]), dim=1)
    n = len(z1)
    sim = z @ z.t() / tau
    sim.fill_diagonal_(float("-inf"))
    lab = torch.arange(2 * n).roll(n)
    return F.cross_entropy(sim, lab)


def pair_loss(z1, z2, margin=1.0):
    z = F.normalize(torch.cat([z1, z2]), dim=1)
    n = len(z1)
    g = z @ z.t()
    sq = g.diag()[:, None] + g.diag()[None] - 2 * g
    dist = torch.sqrt(sq.clamp(min=0))
    pos = torch.arange(2 * n).roll(n)
    dp = dist[torch.arange(2 * n), pos]
    neg = dist.masked_fill(torch.eye(2 * n, dtype=torch.bool), 10.0).scatter(1, pos[:, None], 10.0)
    return F.relu(dp - neg.min(1).values + margin).mean()


def probe(net, Xa, ya, Xb, yb):
    net.eval()
    with torch.no_grad():
        fa, fb = net(Xa), net(Xb)
    net.train()
    mu, sd = fa.mean(0), fa.std(0) + 1e-6
    fa, fb = (fa - mu) / sd, (fb - mu) / sd
    lin = nn.Linear(fa.shape[1], len(SHAPES))
    o = torch.optim.Adam(lin.parameters(), lr=0.02)
    for _ in range(120):
        o.zero_grad()
        F.cross_entropy(lin(fa), ya).backward()
        o.step()
    return (lin(fb).argmax(1) == yb).float().mean().item()


X, Y = icons(1000)
Xa, ya = icons(300)
Xb, yb = icons(400)
Xa, Xb, ya, yb = torch.from_numpy(Xa), torch.from_numpy(Xb), torch.from_numpy(ya), torch.from_numpy(yb)

net = Backbone()
head = nn.Sequential(nn.Linear(128, 64), nn.BatchNorm1d(64) if CASE in (2, 4) else nn.Identity(), nn.ReLU(),
                     nn.Linear(64, 32), nn.BatchNorm1d(32, affine=False) if CASE == 2 else nn.Identity())
predictor = nn.Sequential(nn.Linear(32, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 32))
params = [*net.parameters(), *head.parameters()]
if CASE in (2, 4):
    params += list(predictor.parameters())
    head_net = nn.Sequential(net, head)
    slow = copy.deepcopy(head_net)
    for p in slow.parameters():
        p.requires_grad_(False)
if CASE == 10:
    log_scale = nn.Parameter(torch.tensor(1.0))
    params.append(log_scale)
opt = torch.optim.Adam(params, lr=3e-3)
tau = 0.5 if CASE == 5 else 0.2
batch, epochs = 64, 14
if CASE == 9:
    batch, epochs = 2, 2
rng = np.random.default_rng(SEED + 5)
print("probe at start", round(probe(net, Xa, ya, Xb, yb), 3))

step = 0
for ep in range(epochs):
    order = np.random.permutation(len(X))
    tot, cnt = 0.0, 0
    for i in range(0, len(X) - batch + 1, batch):
        x = X[order[i:i + batch]]
        if CASE == 1:
            v1 = augment(x, np.random.default_rng(SEED))
            v2 = augment(x, np.random.default_rng(SEED))
        else:
            v1, v2 = augment(x, rng), augment(x, rng)
        if CASE == 3:
            v2 = v2[torch.randperm(len(v2))]
        if CASE == 7:
            with torch.no_grad():
                h1, h2 = net(v1), net(v2)
        else:
            h1, h2 = net(v1), net(v2)
        z1, z2 = head(h1), head(h2)
        if CASE == 2:
            with torch.no_grad():
                t1, t2 = slow(v1), slow(v2)
            loss = 2 - F.cosine_similarity(predictor(z1), t2).mean() - F.cosine_similarity(predictor(z2), t1).mean()
        elif CASE == 4:
            loss = 2 - F.cosine_similarity(predictor(z1), z2).mean() - F.cosine_similarity(predictor(z2), z1).mean()
        elif CASE == 6:
            loss = pair_loss(z1, z2)
        elif CASE == 10:
            loss = nt_xent(z1, z2, 1.0 / log_scale.exp().clamp(max=50.0))
        else:
            loss = nt_xent(z1, z2, tau)
        opt.zero_grad()
        loss.backward()
        if CASE == 10:
            nn.utils.clip_grad_norm_(params, 0.3)
        opt.step()
        if CASE == 2:
            with torch.no_grad():
                for a, b in zip(slow.parameters(), head_net.parameters()):
                    a.lerp_(b, 0.05)
        step += 1
        tot += loss.item()
        cnt += 1
    if ep % 4 == 1 or ep == epochs - 1:
        print(f"ep {ep} step {step} loss {tot / cnt:.4f} z std {F.normalize(z1, dim=1).std(0).mean().item():.3f} probe {probe(net, Xa, ya, Xb, yb):.3f}")

if CASE == 8:
    for p in net.parameters():
        p.requires_grad = False
    net.eval()
    clf = nn.Linear(128, len(SHAPES))
    o = torch.optim.Adam(clf.parameters(), lr=0.01)
    for ep in range(25):
        pr = torch.randperm(len(Xa))
        for j in range(0, len(Xa), 50):
            k = pr[j:j + 50]
            l = F.cross_entropy(clf(net(Xa[k])), ya[k])
            o.zero_grad()
            l.backward()
            o.step()
        if ep % 8 == 0:
            with torch.no_grad():
                print("head", ep, round(l.item(), 4), "acc", (clf(net(Xb)).argmax(1) == yb).float().mean().item())
