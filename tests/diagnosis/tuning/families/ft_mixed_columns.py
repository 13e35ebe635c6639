"""Tabular classification, feature-tokenizer transformer on mixed columns."""
import math
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)

DEFAULTS = dict(rows=3600, d=24, heads=4, depth=2, batch=128, epochs=12, opt="adamw", lr=2e-3, wd=1e-4,
                sched="none", drop=0.0, missing=0.0, act="relu", noise=0.25, accum=1, merchant="emb", pos=0.5)
CONFIGS = {
    0: dict(),
    1: dict(depth=1, d=32),
    2: dict(missing=0.35, epochs=12),
    3: dict(sched="step", lr=3e-3),
    4: dict(merchant="te", noise=1.6),
    5: dict(lr=1e-3, epochs=12),
    6: dict(missing=0.35, act="gelu", epochs=10, drop=0.15, wd=0.02),                       # nan columns hidden by -inf
    7: dict(sched="warmcos", lr=4e-3, drop=0.1, batch=64, epochs=9),
    8: dict(opt="sgd", lr=0.05, batch=100, epochs=20, depth=1),
    9: dict(accum=4, batch=32, lr=2.5e-3, act="gelu", epochs=11),
    10: dict(merchant="te", noise=0.4, wd=0.05, opt="adamw", lr=3e-3),
    11: dict(pos=0.12, rows=6000, epochs=10, batch=150),
}
args = dict(DEFAULTS, **CONFIGS[CASE])

# ---------------------------------------------------------------- table
CATS = {"plan": 4, "region": 9, "device": 15, "merchant": 120}
N = args["rows"]
num = rng.normal(size=(N, 5)) * np.array([1.0, 30.0, 0.02, 4.0, 1.0]) + np.array([0.0, 120.0, 0.5, -3.0, 0.0])
cat = {k: rng.integers(0, c, size=N) for k, c in CATS.items()}
if args["merchant"] == "te":
    CATS = dict(CATS, merchant=N // 2)
    cat["merchant"] = rng.integers(0, N // 2, size=N)
std = (num - num.mean(0)) / num.std(0)
eff = {k: rng.normal(size=c) for k, c in CATS.items()}
slope = rng.normal(size=CATS["device"])
score = 1.2 * eff["plan"][cat["plan"]] + 0.8 * eff["region"][cat["region"]] + slope[cat["device"]] * std[:, 0] \
    + np.sin(2 * std[:, 1]) + 0.6 * std[:, 2] * std[:, 3]
if args["merchant"] == "emb":
    score = score + 1.6 * eff["merchant"][cat["merchant"]]
score = score + args["noise"] * rng.normal(size=N)
y = (score > np.quantile(score, 1 - args["pos"])).astype(np.int64)
# categories arrive as strings
cat = {k: np.array(["%s_%03d" % (k[:2], (v * 7919) % 10007) for v in col]) for k, col in cat.items()}

perm = rng.permutation(N)
n_tr = int(0.75 * N)
tr, te = perm[:n_tr], perm[n_tr:]


def encode_columns(tr, te):
    ctr, cte = [], []
    for k in cat:
        if k == "merchant" and args["merchant"] == "te":
            continue
        if CASE == 1:
            levels = np.unique(cat[k][tr])
            a = np.searchsorted(levels, cat[k][tr])
            seen, first = np.unique(cat[k][te], return_index=True)
            order = {s: i for i, s in enumerate(seen[np.argsort(first)])}
            b = np.array([order[s] for s in cat[k][te]])
        else:
            levels = np.unique(cat[k])
            a = np.searchsorted(levels, cat[k][tr])
            b = np.searchsorted(levels, cat[k][te])
        ctr.append(a)
        cte.append(b)
    return np.stack(ctr, 1), np.stack(cte, 1)


def mean_by_level(keys, target, query, prior, weight):
    tot, cnt = {}, {}
    for k, t in zip(keys, target):
        tot[k] = tot.get(k, 0.0) + t
        cnt[k] = cnt.get(k, 0) + 1
    return np.array([(tot.get(k, 0.0) + prior * weight) / (cnt.get(k, 0) + weight) for k in query])


Ctr, Cte = encode_columns(tr, te)
mu, sd = num[tr].mean(0), num[tr].std(0)
Xtr, Xte = (num[tr] - mu) / sd, (num[te] - mu) / sd
if args["merchant"] == "te":
    m, prior = cat["merchant"], y[tr].mean()
    if CASE == 4:
        rate = mean_by_level(m, y, m, prior, 1.0)
        etr, ete = rate[tr], rate[te]
    else:
        etr = np.zeros(len(tr))
        for f in range(5):                       # out of fold
            inside = np.arange(len(tr)) % 5 == f
            etr[inside] = mean_by_level(m[tr[~inside]], y[tr[~inside]], m[tr[inside]], prior, 3.0)
        ete = mean_by_level(m[tr], y[tr], m[te], prior, 3.0)
    es, ed = etr.mean(), etr.std()
    Xtr = np.concatenate([Xtr, ((etr - es) / ed)[:, None]], 1)
    Xte = np.concatenate([Xte, ((ete - es) / ed)[:, None]], 1)

Mtr = rng.random(Xtr.shape) < args["missing"]
Mte = rng.random(Xte.shape) < args["missing"]
Xtr[Mtr], Xte[Mte] = 0.0, 0.0


def to_set(X, C, M, t):
    return TensorDataset(torch.tensor(X, dtype=torch.float32), torch.tensor(C), torch.tensor(M), torch.tensor(t))


train_set, test_set = to_set(Xtr, Ctr, Mtr, y[tr]), to_set(Xte, Cte, Mte, y[te])
cards = [CATS[k] for k in CATS if not (k == "merchant" and args["merchant"] == "te")]


# ---------------------------------------------------------------- model
class Tokenizer(nn.Module):
    def __init__(self, n_num, cards, d):
        super().__init__()
        self.w = nn.Parameter(torch.randn(n_num, d) / math.sqrt(d))
        self.b = nn.Parameter(torch.zeros(n_num, d))
        self.cls = nn.Parameter(torch.randn(1, 1, d) / math.sqrt(d))
        tables = [nn.Embedding(c, d) for c in cards]
        for t in tables:
            nn.init.normal_(t.weight, std=d ** -0.5)
        self.tables = tables if CASE == 0 else nn.ModuleList(tables)

    def forward(self, x, c):
        toks = [self.cls.expand(len(x), -1, -1), x.unsqueeze(-1) * self.w + self.b]
        toks += [t(c[:, i]).unsqueeze(1) for i, t in enumerate(self.tables)]
        return torch.cat(toks, 1)


class Block(nn.Module):
    def __init__(self, d, heads, drop, act):
        super().__init__()
        self.h = heads
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv = nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, d)
        self.ff = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU() if act == "gelu" else nn.ReLU(), nn.Dropout(drop), nn.Linear(2 * d, d))

    def forward(self, z, hide):
        B, T, D = z.shape
        q, k, v = self.qkv(self.n1(z)).view(B, T, 3, self.h, D // self.h).permute(2, 0, 3, 1, 4)
        a = q @ k.transpose(-1, -2) / math.sqrt(D // self.h)
        a = a.masked_fill(hide[:, None, None, :], float("-inf")).softmax(-1)
        z = z + self.out((a @ v).transpose(1, 2).reshape(B, T, D))
        return z + self.ff(self.n2(z))


class FTTransformer(nn.Module):
    def __init__(self, n_num, cards, d, heads, depth, drop, act):
        super().__init__()
        self.n_num, self.n_cat = n_num, len(cards)
        self.tok = Tokenizer(n_num, cards, d)
        self.blocks = nn.ModuleList(Block(d, heads, drop, act) for _ in range(depth))
        self.norm = nn.LayerNorm(d)
        self.head = nn.Linear(d, 2)

    def forward(self, x, c, missing):
        B = len(x)
        keep = torch.cat([torch.ones(B, 1, dtype=torch.bool), ~missing, torch.ones(B, self.n_cat, dtype=torch.bool)], 1)
        if CASE == 2:
            hide = keep.clone()
            hide[:, 0] = False
        else:
            hide = ~keep
        z = self.tok(x, c)
        for blk in self.blocks:
            z = blk(z, hide)
        return self.head(F.relu(self.norm(z[:, 0])))


model = FTTransformer(Xtr.shape[1], cards, args["d"], args["heads"], args["depth"], args["drop"], args["act"])
if args["opt"] == "sgd":
    optimizer = torch.optim.SGD(model.parameters(), lr=args["lr"], momentum=0.9, weight_decay=args["wd"])
else:
    optimizer = torch.optim.AdamW(model.parameters(), lr=args["lr"], weight_decay=args["wd"])

loader = DataLoader(train_set, batch_size=args["batch"], shuffle=True, drop_last=True)
total = args["epochs"] * len(loader) // args["accum"]
scheduler = None
if args["sched"] == "step":
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=4, gamma=0.5)
elif args["sched"] == "warmcos":
    warm = total // 10
    scheduler = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda s: s / warm if s < warm else 0.5 * (1 + math.cos(math.pi * (s - warm) / max(1, total - warm))))
weight = torch.tensor([1.0, (1 - args["pos"]) / args["pos"]]) if args["pos"] < 0.3 else None


def evaluate():
    model.eval()
    with torch.no_grad():
        x, c, m, t = test_set.tensors
        logits = model(x, c, m)
        loss = F.cross_entropy(logits, t, weight=weight).item()
        pred = logits.argmax(1)
        acc = np.mean([(pred[t == k] == k).float().mean().item() for k in (0, 1)])
    model.train()
    return loss, acc


step = 0
for epoch in range(args["epochs"]):
    running = 0.0
    for it, (x, c, m, t) in enumerate(loader):
        loss = F.cross_entropy(model(x, c, m), t, weight=weight) / args["accum"]
        if CASE == 5:
            optimizer.zero_grad
        elif it % args["accum"] == 0:
            optimizer.zero_grad()
        loss.backward()
        running += loss.item() * args["accum"]
        if (it + 1) % args["accum"] == 0:
            optimizer.step()
            step += 1
            if scheduler is not None:
                scheduler.step()
    vl, va = evaluate()
    print("epoch %2d step %4d train %.4f test %.4f bal-acc %.3f" % (epoch, step, running / len(loader), vl, va))
