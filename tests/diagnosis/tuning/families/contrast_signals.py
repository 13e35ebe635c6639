"""Self-supervised representations of 1-d signals, judged by a nearest-neighbour vote."""
import os
import copy
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", 0)); SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED); torch.set_num_threads(1)

N_CLASS, LEN = 6, 40


def signals(n, seed):
    r = np.random.default_rng(seed)
    y = r.integers(0, N_CLASS, n)
    t = np.arange(LEN)
    f1 = np.array([2, 3, 4, 2, 3, 4])[y][:, None]
    f2 = np.array([5, 5, 5, 8, 8, 8])[y][:, None]
    p1, p2 = r.uniform(0, 2 * np.pi, (2, n, 1))
    x = np.sin(2 * np.pi * f1 * t / LEN + p1) + 0.8 * np.sin(2 * np.pi * f2 * t / LEN + p2)
    x = r.uniform(0.5, 1.5, (n, 1)) * x + r.normal(0, 0.25, (n, LEN))
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


aug_rng = torch.Generator().manual_seed(SEED)


def augment(x):
    g = torch.Generator().manual_seed(SEED) if CASE == 6 else aug_rng
    n = len(x)
    shift = torch.randint(0, LEN, (n, 1), generator=g)
    x = x.gather(1, (torch.arange(LEN) + shift) % LEN)
    x = x * (0.6 + 0.8 * torch.rand(n, 1, generator=g))
    return x + 0.15 * torch.randn(x.shape, generator=g)


class Encoder(nn.Module):
    def __init__(self, d=24, batch_norm=False):
        super().__init__()
        norm = nn.BatchNorm1d if batch_norm else nn.Identity
        self.c1 = nn.Conv1d(1, 16, 7, padding=3, padding_mode="circular")
        self.c2 = nn.Conv1d(16, 32, 5, padding=2, stride=2, padding_mode="circular")
        self.n1, self.n2 = norm(16), norm(32)
        self.fc = nn.Linear(32 * 20, 48)
        self.proj = nn.Sequential(nn.Linear(48, 48), norm(48), nn.ReLU(), nn.Linear(48, d))

    def features(self, x):
        h = F.relu(self.n1(self.c1(x[:, None])))
        h = F.relu(self.n2(self.c2(h)))
        return F.relu(self.fc(h.flatten(1)))

    def forward(self, x):
        return self.proj(self.features(x))


def info_nce(a, b, temp=0.2):
    a, b = F.normalize(a, dim=1), F.normalize(b, dim=1)
    logits = a @ b.t() / temp
    target = torch.arange(len(a))
    return 0.5 * (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target))


def attraction(a, b):
    return 2 - 2 * F.cosine_similarity(a, b, dim=1).mean()


def hardest_triplet(a, b, y, margin=0.5):
    z = F.normalize(torch.cat([a, b]), dim=1)
    y = torch.cat([y, y])
    d2 = ((z[:, None] - z[None]) ** 2).sum(-1)
    dist = d2.sqrt() if CASE == 3 else (d2 + 1e-8).sqrt()
    same = (y[:, None] == y[None]).float()
    pos = (dist * same).max(1)[0]
    neg = (dist + 10 * same).min(1)[0]
    return F.relu(pos - neg + margin).mean()


def barlow(a, b, lam=0.02):
    a = (a - a.mean(0)) / (a.std(0) + 1e-5)
    b = (b - b.mean(0)) / (b.std(0) + 1e-5)
    c = a.t() @ b / len(a)
    eye = torch.eye(len(c))
    return ((c - eye) ** 2 * (eye + lam * (1 - eye))).sum()


@torch.no_grad()
def knn_accuracy(enc, bank, bank_y, q, q_y, k=5):
    enc.eval()
    a = F.normalize(enc.features(bank), dim=1)
    b = F.normalize(enc.features(q), dim=1)
    spread = b.std(0).mean().item()
    top = (b @ a.t()).topk(k, dim=1)
    votes = torch.zeros(len(q), N_CLASS)
    votes.scatter_add_(1, bank_y[top.indices], ((top.values - 1) / 0.002).exp())
    enc.train()
    return (votes.argmax(1) == q_y).float().mean().item(), spread


x, y = signals(1500, SEED + 10)
xt, yt = signals(300, SEED + 11)
if CASE == 9:
    bank, bank_y = torch.cat([x, xt]), torch.cat([y, yt])
else:
    bank, bank_y = x, y

steps, bs = 360, 64
if CASE == 7:
    bs = 3
enc = Encoder(batch_norm=CASE in (5, 10))
params = list(enc.parameters())
if CASE == 5:
    predictor = nn.Sequential(nn.Linear(24, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 24))
    target = copy.deepcopy(enc)
    for p in target.parameters():
        p.requires_grad_(False)
    params += list(predictor.parameters())
if CASE == 8:
    opt = torch.optim.SGD(params, lr=0.05, momentum=0.9, weight_decay=1e-4)
else:
    opt = torch.optim.Adam(params, lr=2e-3)
warmup = 10000 if CASE == 4 else 40
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / warmup) ** 2)

for step in range(1, steps + 1):
    i = torch.randint(len(x), (bs,))
    v1, v2 = augment(x[i]), augment(x[i])
    if CASE == 1:
        loss = attraction(enc(v1), enc(v2))
    elif CASE in (2, 3):
        loss = hardest_triplet(enc(v1), enc(v2), y[i])
    elif CASE == 5:
        with torch.no_grad():
            t1, t2 = target(v1), target(v2)
        loss = 0.5 * (attraction(predictor(enc(v1)), t2) + attraction(predictor(enc(v2)), t1))
    elif CASE == 10:
        loss = barlow(enc(v1), enc(v2))
    else:
        loss = info_nce(enc(v1), enc(v2))
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if CASE == 5:
        with torch.no_grad():
            for p, q in zip(target.parameters(), enc.parameters()):
                p.lerp_(q, 0.03)
    if step % 60 == 0:
        acc, spread = knn_accuracy(enc, bank, bank_y, xt, yt)
        print(f"step {step} loss {loss.item():.4f} knn {acc:.3f} spread {spread:.4f}")
