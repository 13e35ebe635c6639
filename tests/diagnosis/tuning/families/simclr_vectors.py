import copy
import os
import torch
from torch import nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.set_num_threads(1)
torch.manual_seed(SEED)

N_CLASS, SIG, NUIS = 8, 12, 28
protos = torch.randn(N_CLASS, SIG)
mix = torch.linalg.qr(torch.randn(SIG + NUIS, SIG + NUIS))[0]


def make(n):
    y = torch.randint(0, N_CLASS, (n,))
    s = protos[y] * 1.0 + 0.35 * torch.randn(n, SIG)
    v = torch.randn(n, NUIS) * 2.5
    return torch.cat([s, v], 1), y


def augment(x):
    """new nuisance part and jitter of the signal, then the mixing of the sensors"""
    if CASE == 4:
        torch.manual_seed(SEED)
    s, v = x[:, :SIG], x[:, SIG:]
    v = v[torch.randperm(len(v))] * (0.8 + 0.4 * torch.rand(len(v), 1))
    s = s + 0.25 * torch.randn_like(s)
    return torch.cat([s, v], 1) @ mix


encoder = nn.Sequential(nn.Linear(SIG + NUIS, 96), nn.ReLU(), nn.Linear(96, 48))
projector = nn.Sequential(nn.ReLU(), nn.Linear(48, 32))
target_enc = copy.deepcopy(nn.Sequential(encoder, projector)) if CASE == 7 else None


def nt_xent(a, b, t):
    z = F.normalize(torch.cat([a, b]), dim=1)
    sim = z @ z.T / t
    if CASE == 5:
        sim = -sim
    n = len(a)
    sim.fill_diagonal_(float("-inf"))
    pos = torch.arange(2 * n).roll(n)
    if CASE == 2:
        pos = torch.arange(2 * n).roll(n - 1)
    return F.cross_entropy(sim, pos)


def moco(q, k, t=0.2):
    logits = F.normalize(q, dim=1) @ F.normalize(k, dim=1).T / t
    return F.cross_entropy(logits, torch.arange(len(q)))


def barlow(a, b):
    a = (a - a.mean(0)) / (a.std(0) + 1e-5)
    b = (b - b.mean(0)) / (b.std(0) + 1e-5)
    c = a.T @ b / len(a)
    d = torch.diagonal(c)
    return ((1 - d) ** 2).sum() + 0.02 * (c ** 2).sum() - 0.02 * (d ** 2).sum()


xtr, ytr = make(3000)
xte, yte = make(600)


def knn():
    encoder.eval()
    with torch.no_grad():
        a, b = F.normalize(encoder(xtr @ mix), dim=1), F.normalize(encoder(xte @ mix), dim=1)
        near = (b @ a.T).topk(15, dim=1).indices
        acc = (ytr[near].mode(1).values == yte).float().mean().item()
    encoder.train()
    return acc


opt = torch.optim.AdamW(list(encoder.parameters()) + list(projector.parameters()), lr=2e-3, weight_decay=1e-4)
B = {3: 2, 8: 1000}.get(CASE, 128)
steps = {8: 150}.get(CASE, 400)
temp = {6: 1.0}.get(CASE, 0.2)
print("before", knn())
for step in range(1, steps + 1):
    idx = torch.randint(0, len(xtr), (B,)) if CASE == 4 else torch.randperm(len(xtr))[:B]
    x = xtr[idx]
    if CASE == 4:
        x = xtr[(torch.arange(B) * 7 + step * B) % len(xtr)]
    u, v = augment(x), augment(x)
    a = projector(encoder(u))
    if CASE == 7:
        with torch.no_grad():
            k = target_enc(v)
        loss = moco(a, k)
    else:
        b = projector(encoder(v))
        if CASE == 1:
            loss = -F.cosine_similarity(a, b, dim=1).mean()
        elif CASE == 9:
            loss = barlow(a, b)
        else:
            loss = nt_xent(a, b, temp)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if CASE == 7:
        with torch.no_grad():
            for p, q in zip(target_enc.parameters(), list(encoder.parameters()) + list(projector.parameters())):
                p.mul_(0.95).add_(q, alpha=0.05)
    if step % 50 == 0:
        print("step", step, "loss", round(loss.item(), 4), "knn", round(knn(), 4))
print("METRIC", knn())
