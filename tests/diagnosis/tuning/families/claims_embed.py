"""Which motor insurance claims will be disputed?  Categories are embedded, numbers go in beside them."""
import argparse
import copy
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

parser = argparse.ArgumentParser()
parser.add_argument("--rows", type=int, default=9000)
parser.add_argument("--epochs", type=int, default=8)
parser.add_argument("--batch-size", type=int, default=128)
parser.add_argument("--lr", type=float, default=2e-3)
parser.add_argument("--hidden", type=int, default=64)
parser.add_argument("--pos-weight", type=float, default=8.0)
parser.add_argument("--emb-dropout", type=float, default=0.1)
parser.add_argument("--patience", type=int, default=0)
args = parser.parse_args([])
if CASE == 4:
    args.pos_weight = 1.0
if CASE == 6:
    args.epochs, args.patience, args.emb_dropout, args.lr, args.batch_size = 30, 3, 0.4, 1e-3, 64

torch.manual_seed(SEED)
torch.set_num_threads(1)


def load(n, seed):
    r = np.random.default_rng(seed)
    garage = r.integers(0, 600, n)
    region = r.integers(0, 12, n)
    brand = r.integers(0, 25, n)
    kind = r.choice(5, n, p=[.4, .25, .2, .1, .05])
    g_eff = r.normal(0, 0.5, 600)[garage]
    rb_eff = r.normal(0, 0.8, (12, 5))[region, kind]
    b_eff = r.normal(0, 0.4, 25)[brand]
    amount = np.exp(r.normal(7.5, 0.9, n))
    mileage = r.gamma(3, 30000, n)
    age = r.integers(18, 85, n).astype(float)
    days = r.exponential(9, n)
    year = r.integers(2009, 2024, n).astype(float)
    score = (g_eff + rb_eff + b_eff + 0.9 * (np.log(amount) - 7.5) + 0.8 * (days > 14)
             + 0.6 * np.abs(age - 48) / 15 - 0.5 * (mileage > 120000) + 0.08 * (2016 - year))
    p = 1 / (1 + np.exp(-(1.5 * score - 5.3)))
    y = (r.random(n) < p).astype(np.float32)
    cats = np.stack([garage, region, brand, kind], 1)
    nums = np.stack([amount, mileage, age, days, year], 1)
    return cats, nums, y


cats, nums, y = load(args.rows, 40 + SEED)
n_tr = int(0.75 * len(y))
order = np.random.default_rng(SEED).permutation(len(y))
tr, va = order[:n_tr], order[n_tr:]


def mean_by_garage(garage, target, smoothing=2.0):
    total = np.bincount(garage, weights=target, minlength=600)
    count = np.bincount(garage, minlength=600)
    return (total + smoothing * target.mean()) / (count + smoothing)


rate = mean_by_garage(cats[:, 0], y) if CASE == 5 else mean_by_garage(cats[tr, 0], y[tr])
if CASE == 5:
    nums = np.column_stack([nums, rate[cats[:, 0]]])
else:
    col = rate[cats[:, 0]]
    cnt = np.bincount(cats[tr, 0], minlength=600)[cats[tr, 0]]
    col[tr] = (col[tr] * (cnt + 2) - y[tr]) / (cnt + 1)
    nums = np.column_stack([nums, col])

if CASE != 2:
    nums[:, 0] = np.log1p(nums[:, 0])
    nums = (nums - nums[tr].mean(0)) / nums[tr].std(0)

C = torch.from_numpy(cats).long()
X = torch.from_numpy(nums).float()
Y = torch.from_numpy(y)
print(f"{len(tr)} training rows, {len(va)} validation rows, {100 * y.mean():.1f} % disputed")


class ClaimNet(nn.Module):
    def __init__(self, sizes, n_num, hidden):
        super().__init__()
        self.embs = nn.ModuleList([nn.Embedding(s, min(8, 2 + s // 6)) for s in sizes])
        self.drop = nn.Dropout(args.emb_dropout)
        width = sum(e.embedding_dim for e in self.embs) + n_num
        self.mlp = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Dropout(0.2),
                                 nn.Linear(hidden, hidden // 2), nn.ReLU(), nn.Dropout(0.2),
                                 nn.Linear(hidden // 2, 1))

    def forward(self, c, x):
        e = self.drop(torch.cat([emb(c[:, i]) for i, emb in enumerate(self.embs)], 1))
        out = self.mlp(torch.cat([e, x], 1))
        return out if CASE == 1 else out.squeeze(1)


def weighted_bce(logit, target, w):
    """-[w t log s(z) + (1-t) log(1 - s(z))], written out"""
    return -(w * target * F.logsigmoid(logit) + (1 - target) * F.logsigmoid(-logit)).mean()


def auc(score, label):
    rank = score.argsort().argsort().astype(float) + 1
    pos = label == 1
    return (rank[pos].sum() - pos.sum() * (pos.sum() + 1) / 2) / (pos.sum() * (~pos).sum())


def validate(model):
    model.eval()
    with torch.no_grad():
        z = model(C[va], X[va]).reshape(-1)
        loss = weighted_bce(z, Y[va], args.pos_weight).item()
    pred, t = (z > 0).numpy(), y[va] == 1
    tp = (pred & t).sum()
    recall, precision = tp / max(1, t.sum()), tp / max(1, pred.sum())
    f1 = 2 * recall * precision / max(1e-9, recall + precision)
    return loss, auc(z.numpy(), y[va]), recall, precision, f1


model = ClaimNet([600, 12, 25, 5], X.shape[1], args.hidden)
opt = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=1e-5)
best, best_state, bad, it = -1.0, None, 0, 0
for epoch in range(1, args.epochs + 1):
    model.train()
    perm = tr[torch.randperm(len(tr)).numpy()]
    if CASE == 3:
        opt.zero_grad()
    for s in range(0, len(perm) - args.batch_size + 1, args.batch_size):
        idx = perm[s:s + args.batch_size]
        loss = weighted_bce(model(C[idx], X[idx]), Y[idx], args.pos_weight)
        if CASE != 3:
            opt.zero_grad()
        loss.backward()
        opt.step()
        it += 1
        if it % 25 == 0:
            print(f"it {it} loss {loss.item():.4f}")
    vl, a, rec, prec, f1 = validate(model)
    print(f"epoch {epoch}: val loss {vl:.4f} auc {a:.3f} recall {rec:.3f} precision {prec:.3f} f1 {f1:.3f}")
    if args.patience:
        if a > best:
            best, best_state, bad = a, copy.deepcopy(model.state_dict()), 0
        else:
            bad += 1
            if bad >= args.patience:
                print("no better for", args.patience, "epochs, stopping")
                break
if best_state is not None:
    model.load_state_dict(best_state)
print("final: loss %.4f auc %.3f recall %.3f precision %.3f f1 %.3f" % validate(model))
