"""Metric learning on small glyph images: embeddings, retrieval on classes never seen in training."""
import copy
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", 5))
SEED = int(os.environ.get("SEED", 0))
rng = np.random.RandomState(SEED)
torch.manual_seed(SEED)


def glyphs(n_classes, per_class, r):
    xs, ys = [], []
    yy, xx = np.mgrid[0:16, 0:16]
    for c in range(n_classes):
        pts = r.rand(4, 2) * 10 + 3
        for _ in range(per_class):
            p = pts + r.randn(4, 2) * 0.6 + r.randn(1, 2) * 1.0
            t = np.linspace(0, 1, 8)[:, None]
            q = np.concatenate([a + t * (b - a) for a, b in zip(p[:-1], p[1:])])
            im = np.exp(-((yy[..., None] - q[:, 0]) ** 2 + (xx[..., None] - q[:, 1]) ** 2) / 1.2).max(-1)
            im = im * r.uniform(0.6, 1.2) + r.randn(16, 16) * 0.12
            xs.append(im)
            ys.append(c)
    return np.stack(xs).astype(np.float32)[:, None], np.array(ys)


N_CLS = 120
X, Y = glyphs(N_CLS, 14, rng)
XT, YT = glyphs(16, 16, rng)
X, XT = torch.from_numpy(X), torch.from_numpy(XT)
by_class = [np.flatnonzero(Y == c) for c in range(N_CLS)]


class Embed(nn.Module):
    def __init__(self, dim=32, bn=False):
        super().__init__()
        def block(i, o):
            layers = [nn.Conv2d(i, o, 3, stride=2, padding=1)]
            if bn:
                layers.append(nn.BatchNorm2d(o))
            return layers + [nn.ReLU()]
        self.features = nn.Sequential(*block(1, 16), *block(16, 32), *block(32, 48), nn.Flatten())
        self.proj = nn.Linear(48 * 4, dim)
        if bn:
            self.proj = nn.Sequential(nn.Linear(48 * 4, dim), nn.BatchNorm1d(dim))

    def forward(self, x):
        h = self.features(x)
        if CASE == 3:
            h = torch.tensor(h.detach().numpy())
        return F.normalize(self.proj(h), dim=1)


def sample_pairs(n):
    i, j, s = [], [], []
    for k in range(n):
        c = rng.randint(N_CLS)
        a = rng.choice(by_class[c])
        if k % 2 == 0:
            b = rng.choice(by_class[c])
            if CASE != 1:
                while b == a:
                    b = rng.choice(by_class[c])
        else:
            b = rng.choice(by_class[(c + rng.randint(1, N_CLS)) % N_CLS])
        i.append(a); j.append(b); s.append(k % 2 == 0)
    return X[i], X[j], torch.tensor(s).float()


def sample_pk(p, k):
    cs = rng.choice(N_CLS, p, replace=False)
    idx = np.concatenate([rng.choice(by_class[c], k, replace=False) for c in cs])
    return X[idx], torch.from_numpy(Y[idx])


def contrastive(a, b, same, margin=1.0):
    d = torch.sqrt(((a - b) ** 2).sum(1)) if CASE == 1 else F.pairwise_distance(a, b)
    if CASE == 2:
        return (same * d ** 2 + (1 - same) * F.relu(d - margin) ** 2).mean()
    return (same * d ** 2 + (1 - same) * F.relu(margin - d) ** 2).mean()


def semi_hard(e, y, margin=0.2):
    d = 2 - 2 * e @ e.t()
    same = y[:, None] == y[None, :]
    eye = torch.eye(len(y), dtype=torch.bool)
    losses = []
    for a in range(len(y)):
        for p in torch.where(same[a] & ~eye[a])[0]:
            neg = d[a][~same[a]]
            ok = neg[(neg > d[a, p]) & (neg < d[a, p] + margin)]
            if len(ok):
                losses.append(d[a, p] - ok.min() + margin)
    return torch.stack(losses).mean() if losses else None


def sup_nt_xent(e, y, tau=0.1):
    sim = e @ e.t() / tau
    eye = torch.eye(len(y), dtype=torch.bool)
    sim = sim.masked_fill(eye, float("-inf"))
    logp = sim.log_softmax(1)
    pos = (y[:, None] == y[None, :]) & ~eye
    return -(logp.masked_fill(~pos, 0).sum(1) / pos.sum(1)).mean()


@torch.no_grad()
def recall_at_1(net):
    if CASE != 4:
        net.eval()
    e = torch.cat([net(b) for b in XT.split(16)])
    net.train()
    sim = e @ e.t()
    sim.fill_diagonal_(-2)
    return (YT[sim.argmax(1).numpy()] == YT).mean()


net = Embed(bn=CASE == 4)
steps, every = 400, 50
opts = [torch.optim.Adam(net.parameters(), lr=1e-3)]
if CASE == 7:
    opts = [torch.optim.SGD(net.parameters(), lr=0.3, momentum=0.9, weight_decay=1e-4)]
if CASE == 8:
    proxies = nn.Parameter(torch.randn(N_CLS, 32))
    opts = [torch.optim.AdamW(net.parameters(), lr=1e-3), torch.optim.SGD([proxies], lr=10.0)]
if CASE == 9:
    key_net = copy.deepcopy(net)
    for p in key_net.parameters():
        p.requires_grad = False
    queue, queue_y = F.normalize(torch.randn(192, 32), dim=1), torch.full((192,), -1)
if CASE == 6:
    steps, every = 200, 25
if CASE == 10:
    steps, every = 800, 100
    opts = [torch.optim.Adagrad(net.parameters(), lr=0.01)]

step, seen = 0, []
print(f"recall@1 before training {recall_at_1(net):.3f}")
while step < steps:
    step += 1
    if CASE in (4, 7):
        x, y = sample_pk(12, 4)
        loss = sup_nt_xent(net(x), y)
    elif CASE == 6:
        x, y = sample_pk(8, 4)
        loss = semi_hard(net(x), y)
        if loss is None:
            continue
    elif CASE == 8:
        x, y = sample_pk(12, 3)
        loss = F.cross_entropy(8 * net(x) @ F.normalize(proxies, dim=1).t(), y)
    elif CASE == 9:
        x, y = sample_pk(12, 4)
        q = net(x)
        with torch.no_grad():
            k = key_net(x.roll(1, -1))
        bank, bank_y = torch.cat([k, queue]), torch.cat([y, queue_y])
        logp = (q @ bank.t() / 0.15).log_softmax(1)
        pos = y[:, None] == bank_y[None, :]
        loss = -((logp * pos).sum(1) / pos.sum(1)).mean()
        queue, queue_y = torch.cat([k, queue])[:192], torch.cat([y, queue_y])[:192]
    elif CASE == 10:
        x, y = sample_pk(12, 3)
        e = net(x).view(12, 3, -1)
        a, p, n = e[:, 0], e[:, 1], e[:, 2].roll(int(rng.randint(1, 12)), 0)
        loss = F.triplet_margin_loss(a, p, n, margin=0.3)
    else:
        a, b, same = sample_pairs(64)
        loss = contrastive(net(a), net(b), same)
    for o in opts:
        o.zero_grad()
    loss.backward()
    for o in opts:
        o.step()
    if CASE == 9:
        with torch.no_grad():
            for pk, pq in zip(key_net.parameters(), net.parameters()):
                pk.mul_(0.95).add_(pq, alpha=0.05)
    seen.append(loss.item())
    if step % every == 0:
        print(f"step {step}: loss {np.mean(seen[-every:]):.4f}, recall@1 {recall_at_1(net):.3f}")
print(f"METRIC {recall_at_1(net):.4f}")
