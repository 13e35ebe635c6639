"""Will this loan default?  Mixed columns, about one loan in twelve does."""
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(SEED)
torch.manual_seed(SEED)

PURPOSES = ["car", "home", "study", "debts", "travel", "other", "boat"]
REGIONS = [f"R{i:02d}" for i in range(30)]
N = 1000 if CASE == 12 else 8000
_pe, _re = rng.normal(0, 0.8, 7), rng.normal(0, 1.0, 30)


def make_loans(n, regions=None):
    t = {}
    t["income"] = np.exp(rng.normal(10.6, 0.5, n))
    t["amount"] = np.exp(rng.normal(9.3, 0.7, n))
    t["age"] = rng.uniform(19, 75, n)
    t["late"] = rng.poisson(0.7, n).astype(float)
    t["util"] = rng.beta(2, 3, n)
    t["purpose"] = rng.choice(PURPOSES, n, p=[.3, .25, .1, .2, .08, .06, .01])
    t["region"] = rng.choice(regions if regions is not None else REGIONS, n)
    t["advisor"] = np.array([f"A{k:04d}" for k in rng.integers(0, n // 3, n)])
    pi = np.array([_pe[PURPOSES.index(p)] for p in t["purpose"]])
    ri = np.array([_re[REGIONS.index(r)] for r in t["region"]])
    score = (-3.6 + 1.1 * np.log(t["amount"] / t["income"] * 4) + 0.6 * t["late"] + 2.0 * (t["util"] - .4)
             + pi + ri + 0.8 * (t["late"] > 1) * (t["util"] > .5) - 0.015 * (t["age"] - 40))
    t["y"] = (rng.random(n) < 1 / (1 + np.exp(-score))).astype(np.float32)
    t["truth"] = score
    if CASE == 4:
        t["util"][rng.random(n) < 0.35] = np.nan
        t["age"][rng.random(n) < 0.2] = np.nan
    return t


def auc(s, y):
    r = np.argsort(np.argsort(s)) + 1
    p = y.sum()
    return (r[y == 1].sum() - p * (p + 1) / 2) / (p * (len(y) - p))


train_t = make_loans(N)
# hold-out: last quarter, when the first five regions had closed
valid_t = make_loans(4000, REGIONS[5:])

NUM = ["income", "amount", "age", "late", "util"]
stats = {}
for c in NUM:
    v = train_t[c] if CASE == 9 or c in ("age", "late", "util") else np.log(train_t[c])
    stats[c] = (np.nanmean(v), np.nanstd(v))


def numeric(t):
    cols = []
    for c in NUM:
        if CASE == 9:
            cols.append(t[c])
            continue
        v = t[c] if c in ("age", "late", "util") else np.log(t[c])
        v = (v - stats[c][0]) / stats[c][1]
        if CASE == 4:
            cols.append(np.isnan(v).astype(float))
            v = np.nan_to_num(v)
        cols.append(v)
    if CASE == 6:
        means, prior = {}, train_t["y"].mean()
        for a, y in zip(train_t["advisor"], train_t["y"]):
            means.setdefault(a, []).append(y)
        enc = np.array([np.mean(means[a]) if a in means else prior for a in t["advisor"]])
        cols.append((enc - prior) / 0.2)
    return torch.tensor(np.stack(cols, 1), dtype=torch.float32)


def codes(t):
    if CASE == 7:
        p = np.unique(t["purpose"], return_inverse=True)[1]
        r = np.unique(t["region"], return_inverse=True)[1]
    else:
        p = np.searchsorted(sorted(PURPOSES), t["purpose"])
        r = np.searchsorted(REGIONS, t["region"])
    return torch.tensor(np.stack([p, r], 1))


class CreditNet(nn.Module):
    def __init__(self, n_num, width=48):
        super().__init__()
        sparse = CASE == 5
        self.e1, self.e2 = nn.Embedding(7, 4, sparse=sparse), nn.Embedding(30, 6, sparse=sparse)
        act = nn.SELU if CASE == 3 else nn.ReLU
        self.body = nn.Sequential(nn.Linear(n_num + 10, width), act(), nn.Linear(width, width), act(), nn.Linear(width, 1))

    def forward(self, num, cat):
        z = self.body(torch.cat([num, self.e1(cat[:, 0]), self.e2(cat[:, 1])], 1)).squeeze(1)
        return torch.sigmoid(z) if CASE == 8 else z


xn, xc, y = numeric(train_t), codes(train_t), torch.tensor(train_t["y"])
vn, vc, vy = numeric(valid_t), codes(valid_t), valid_t["y"]
if CASE == 11:
    # order of the export
    o = torch.tensor(np.argsort(train_t["y"], kind="stable"))
    xn, xc, y = xn[o], xc[o], y[o]
net = CreditNet(xn.shape[1], 256 if CASE == 12 else 48)
rate = y.mean().item()


def criterion(logit, target):
    if CASE == 1:
        return F.binary_cross_entropy_with_logits(logit, target, pos_weight=torch.tensor((1 - rate) / rate))
    if CASE == 2:
        ce = F.binary_cross_entropy_with_logits(logit, target, reduction="none")
        p = torch.exp(-ce)
        a = torch.where(target > 0, 0.75, 0.25)
        return (a * (1 - p) ** 3 * ce).mean()
    return F.binary_cross_entropy_with_logits(logit, target)


def report(tag):
    net.eval()
    with torch.no_grad():
        s, tr = net(vn, vc), net(xn, xc)
    ll = F.binary_cross_entropy_with_logits(s, torch.tensor(vy)).item()
    net.train()
    print(f"{tag} train auc {auc(tr.numpy(), train_y):.3f} valid auc {auc(s.numpy(), vy):.3f} valid logloss {ll:.4f} "
          f"mean p {torch.sigmoid(s).mean().item():.3f} approved {(s < 0).float().mean().item():.3f}")


train_y = y.numpy()
print(f"{len(y)} loans, default rate {rate:.3f}, auc of the true score {auc(valid_t['truth'], vy):.3f}")

if CASE == 13:
    opt = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=8, history_size=10, line_search_fn="strong_wolfe")
    for it in range(5):
        def closure():
            opt.zero_grad()
            loss = criterion(net(xn, xc), y) + 1e-4 * sum((p ** 2).sum() for p in net.parameters())
            loss.backward()
            return loss
        print(f"lbfgs {it} loss {opt.step(closure).item():.4f}")
        report(f"round {it}")
elif CASE == 12:
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(40):
        for b in torch.randperm(len(y)).split(64):
            loss = criterion(net(xn[b], xc[b]), y[b])
            opt.zero_grad(); loss.backward(); opt.step()
        if epoch % 4 == 3:
            print(f"epoch {epoch} loss {loss.item():.4f}")
            report(f"epoch {epoch}")
else:
    bs, epochs, every = 128, 6, 1
    if CASE == 5:
        emb = [net.e1.weight, net.e2.weight]
        opts = [torch.optim.SparseAdam(emb, lr=1e-2), torch.optim.Adam(net.body.parameters(), lr=2e-3)]
    elif CASE == 10:
        opts = [torch.optim.Adam(net.parameters(), lr=2e-3, weight_decay=0.1)]
    elif CASE == 3:
        bs, epochs = 32, 6
        opts = [torch.optim.RMSprop(net.parameters(), lr=1e-4, momentum=0.9)]
    elif CASE == 11:
        opts = [torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)]
    elif CASE == 0:
        bs, every = 64, 4
        opts = [torch.optim.AdamW(net.parameters(), lr=4e-3)]
    else:
        opts = [torch.optim.AdamW(net.parameters(), lr=2e-3)]
    step = 0
    for epoch in range(epochs):
        order = torch.arange(len(y)) if CASE == 11 else torch.randperm(len(y))
        for b in order.split(bs):
            loss = criterion(net(xn[b], xc[b]), y[b])
            (loss / every).backward()
            step += 1
            if step % every == 0:
                for o in opts:
                    o.step()
                    o.zero_grad()
            if step % 40 == 1:
                print(f"step {step} loss {loss.item():.4f}")
        report(f"epoch {epoch}")
