"""
Will a parcel be late?  Category embeddings + numeric columns, binary target (about one in five is late).

usage: python parcel_late_mlp.py [--epochs 8] [--lr 3e-3] ...
"""
import argparse
import copy
import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

CATS = {"carrier": 6, "depot": 40, "postcode": 300, "weekday": 7, "service": 4}


def make_table(n, seed):
    r = np.random.default_rng(seed)
    eff = np.random.default_rng(4242)
    depot_eff = eff.normal(0, .9, 40)
    depot_car = eff.normal(0, .8, (40, 6))
    post_eff = eff.normal(0, .8, 300)
    day_eff = np.array([.5, .1, 0, -.1, .4, .9, .2])
    t = {"carrier": r.integers(0, 6, n), "weekday": r.integers(0, 7, n), "service": r.choice(4, n, p=[.5, .3, .15, .05])}
    t["postcode"] = np.minimum((r.pareto(1.1, n) * 25).astype(int), 299)
    t["depot"] = (t["postcode"] // 8 + r.integers(0, 3, n)) % 40
    t["grams"] = r.lognormal(7.2, 1.0, n)
    t["km"] = r.gamma(2., 110., n)
    t["hour"] = r.uniform(6, 22, n)
    t["queue"] = r.poisson(30, n).astype(float)
    z = (-2.6 + depot_eff[t["depot"]] + depot_car[t["depot"], t["carrier"]] + post_eff[t["postcode"]] + day_eff[t["weekday"]]
         + np.array([.2, 0, -.5, -1.2])[t["service"]] + .9 * (t["km"] / 220 - 1) + .35 * (np.log(t["grams"]) - 7.2)
         + 1.1 * np.maximum(t["hour"] - 17, 0) / 2 + .04 * (t["queue"] - 30))
    t["late"] = (r.random(n) < 1 / (1 + np.exp(-1.25 * z))).astype(np.float32)
    t["grams"][r.random(n) < .03] = np.nan
    return t


class Parcels(Dataset):
    num_cols = ["grams", "km", "hour", "queue"]

    def __init__(self, table, stats=None, rate=None):
        x = np.stack([table[c] for c in self.num_cols], 1).astype(np.float64)
        cat = np.stack([table[c] for c in CATS], 1)
        ok = ~np.isnan(x).any(1)
        x, cat = x[ok], cat[ok]
        self.y = torch.from_numpy(table["late"][ok] if CASE != 1 else table["late"][:ok.sum()])
        x[:, 0] = np.log(x[:, 0])
        if CASE == 6:
            if rate is None:
                s = np.bincount(cat[:, 2] * 40 + cat[:, 1], weights=self.y.numpy(), minlength=12000)
                m = np.bincount(cat[:, 2] * 40 + cat[:, 1], minlength=12000)
                rate = np.where(m > 0, s / np.maximum(m, 1), self.y.mean().item())
            x = np.concatenate([x, rate[cat[:, 2] * 40 + cat[:, 1]][:, None]], 1)
        self.rate = rate
        self.stats = stats if stats is not None else (x.mean(0), x.std(0))
        self.x = torch.tensor((x - self.stats[0]) / self.stats[1], dtype=torch.float32)
        self.cat = torch.from_numpy(cat)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.cat[i], self.y[i]


def collate(rows):
    x, c, y = zip(*rows)
    return torch.stack(x), torch.stack(c), torch.stack(y)


class CatEmbeddings(nn.Module):
    def __init__(self, sizes, dims, p):
        super().__init__()
        tables = [nn.Embedding(s, d) for s, d in zip(sizes, dims)]
        self.tables = tables if CASE == 4 else nn.ModuleList(tables)
        for t in self.tables:
            nn.init.normal_(t.weight, 0, .05)
        self.drop = nn.Dropout(p)

    def forward(self, cat):
        return self.drop(torch.cat([t(cat[:, k]) for k, t in enumerate(self.tables)], 1))


class LateNet(nn.Module):
    def __init__(self, n_num, hidden, p):
        super().__init__()
        dims = [min(16, (s + 3) // 2) for s in CATS.values()]
        self.emb = CatEmbeddings(CATS.values(), dims, p)
        d = sum(dims) + n_num
        if CASE == 5:
            self.body = nn.Sequential(nn.Linear(d, hidden), nn.GELU(), nn.Dropout(.3), nn.Linear(hidden, hidden // 2), nn.GELU())
            self.head = nn.Linear(hidden // 2, 1)
        else:
            self.body = nn.Sequential(nn.Linear(d, hidden), nn.ReLU(), nn.Dropout(p), nn.Linear(hidden, hidden), nn.ReLU())
            self.head = nn.Linear(hidden, 1)

    def forward(self, x, cat):
        return self.head(self.body(torch.cat([x, self.emb(cat)], 1))).squeeze(1)


def auc(score, y):
    order = np.argsort(score, kind="stable")
    rank = np.empty(len(score))
    rank[order] = np.arange(1, len(score) + 1)
    pos = y > .5
    return (rank[pos].sum() - pos.sum() * (pos.sum() + 1) / 2) / (pos.sum() * (~pos).sum())


@torch.no_grad()
def evaluate(nets, ds):
    logit = 0
    for net in nets:
        net.eval()
        logit = logit + net(ds.x, ds.cat) / len(nets)
    p = torch.sigmoid(logit)
    y = ds.y
    hit = (p > .5) & (y > .5)
    f1 = 2 * hit.sum().item() / max(1, ((p > .5).sum() + y.sum()).item())
    return F.binary_cross_entropy(p.clamp(1e-6, 1 - 1e-6), y).item(), auc(p.numpy(), y.numpy()), f1


def focal(logit, y, gamma=1.5):
    ce = F.binary_cross_entropy_with_logits(logit, y, reduction="none")
    return (ce * (1 - torch.exp(-ce)) ** gamma).mean() * 2.5


def fit(args, train, val):
    net = LateNet(train.dataset.x.shape[1] if isinstance(train, Subset) else train.x.shape[1], args.hidden, args.dropout)
    loader = DataLoader(train, args.batch, shuffle=CASE != 3, collate_fn=collate)
    full = train.dataset if isinstance(train, Subset) else train
    pos_weight = None
    if CASE in (0, 9):
        n1 = full.y.sum()
        n0 = len(full) - n1
        pos_weight = n0 / n1 if CASE == 0 else n1 / n0
    opt = torch.optim.Adam([{"params": [q for n, q in net.named_parameters() if "emb" not in n]},
                            {"params": list(net.emb.parameters()), "lr": args.lr * args.emb_lr}] if CASE != 4
                           else net.parameters(), lr=args.lr)
    best, best_loss, wait = None, 1e9, 0
    for epoch in range(args.epochs):
        net.train()
        tot = n = 0
        for x, cat, y in loader:
            logit = net(x, cat)
            loss = focal(logit, y) if CASE == 10 else F.binary_cross_entropy_with_logits(logit, y, pos_weight=pos_weight)
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot, n = tot + loss.item() * len(y), n + len(y)
        vl, va, vf = evaluate([net], val)
        print(f"epoch {epoch:2d} train {tot / n:.4f} val logloss {vl:.4f} auc {va:.4f} f1 {vf:.3f}", flush=True)
        if vl < best_loss:
            best_loss, wait = vl, 0
            if CASE == 8:
                best = net.state_dict()
            elif CASE == 2:
                best = os.path.join(args.tmp, "best.pt")
                torch.save(net.state_dict(), best)
            else:
                best = copy.deepcopy(net.state_dict())
        else:
            wait += 1
            if wait >= args.patience:
                print("no improvement, stop")
                break
    net.load_state_dict(torch.load(best) if isinstance(best, str) else best)
    return net


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rows", type=int, default=6000)
    ap.add_argument("--epochs", type=int, default={8: 30, 2: 30, 5: 4}.get(CASE, 8))
    ap.add_argument("--patience", type=int, default=12 if CASE in (2, 8) else 3)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--lr", type=float, default=3e-3)
    ap.add_argument("--emb-lr", type=float, default=.4 if CASE == 7 else 1.)
    ap.add_argument("--hidden", type=int, default=64)
    ap.add_argument("--dropout", type=float, default=.05 if CASE in (2, 8) else .2)
    args = ap.parse_args([])
    torch.manual_seed(SEED)
    table = make_table(args.rows, 11 + SEED)
    if CASE in (3, 7):
        order = np.lexsort((table["hour"], table["weekday"], table["late"])) if CASE == 3 else np.argsort(table["hour"], kind="stable")
        table = {k: v[order] for k, v in table.items()}
    train = Parcels(table)
    val = Parcels(make_table(1500, 500 + SEED), train.stats, train.rate)
    test = Parcels(make_table(3000, 900 + SEED), train.stats, train.rate)
    print(f"{len(train)} rows, {train.y.mean():.3f} late")
    with tempfile.TemporaryDirectory() as args.tmp:
        if CASE == 5:
            idx = np.random.default_rng(SEED).permutation(len(train)) % 3
            nets = [fit(args, Subset(train, np.flatnonzero(idx != k).tolist()), val) for k in range(3)]
        else:
            nets = [fit(args, train, val)]
    l, a, f = evaluate(nets, test)
    print(f"test: logloss {l:.4f} auc {a:.4f} f1 {f:.3f}")


if __name__ == "__main__":
    main()
