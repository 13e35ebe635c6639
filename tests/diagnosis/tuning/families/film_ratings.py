"""Star ratings (1..5) of films by users; dot-product and MLP recommenders."""
import argparse
import os

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.set_num_threads(1)

args = argparse.Namespace(users=600, films=240, dim=8, per_user=70, epochs=12, batch=256, lr=1e-2, wd=0.0)


def seed_everything(seed):
    np.random.seed(seed)
    torch.manual_seed(seed)


def simulate():
    """user, film, rating triples with raw (large, sparse) ids"""
    U, V = np.random.randn(args.users, 4), np.random.randn(args.films, 4)
    bu, bv = 0.4 * np.random.randn(args.users), 0.5 * np.random.randn(args.films)
    pop = np.random.permutation(args.films) + 5.0
    pop = pop ** -0.4 / (pop ** -0.4).sum()
    uid = np.random.choice(100000, args.users, replace=False)
    fid = np.random.choice(100000, args.films, replace=False)
    rows = []
    for u in range(args.users):
        for f in np.random.choice(args.films, args.per_user, replace=False, p=pop):
            s = 3.4 + bu[u] + bv[f] + 0.5 * U[u] @ V[f] + 0.35 * np.random.randn()
            rows.append((uid[u], fid[f], float(np.clip(round(s), 1, 5))))
    rows = np.array(rows)
    return rows[np.random.permutation(len(rows))]


class Ids:
    def fit(self, col):
        self.map = {int(v): i for i, v in enumerate(dict.fromkeys(col.astype(int)))}
        return self

    def __call__(self, col):
        return np.array([self.map.get(int(v), 0) for v in col])


class DotModel(nn.Module):
    def __init__(self, dim=None, sparse=False, zero=False, squash=False):
        super().__init__()
        d = dim or args.dim
        self.u = nn.Embedding(args.users, d, sparse=sparse)
        self.f = nn.Embedding(args.films, d, sparse=sparse)
        self.ub = nn.Embedding(args.users, 1, sparse=sparse)
        self.fb = nn.Embedding(args.films, 1, sparse=sparse)
        for e in (self.u, self.f):
            nn.init.normal_(e.weight, 0, 0.1)
            if zero:
                nn.init.zeros_(e.weight)
        nn.init.zeros_(self.ub.weight)
        nn.init.zeros_(self.fb.weight)
        self.register_buffer("mean", torch.tensor(3.4))
        self.squash = squash

    def forward(self, u, f):
        out = (self.u(u) * self.f(f)).sum(1) + self.ub(u).squeeze(1) + self.fb(f).squeeze(1)
        if self.squash:
            return torch.sigmoid(out)
        return out + self.mean


class MLPModel(nn.Module):
    def __init__(self, d=8, hidden=64, p=0.1):
        super().__init__()
        self.u, self.f = nn.Embedding(args.users, d), nn.Embedding(args.films, d)
        for e in (self.u, self.f):
            nn.init.normal_(e.weight, std=0.3)
        self.net = nn.Sequential(nn.Linear(3 * d, hidden), nn.ReLU(), nn.Dropout(p), nn.Linear(hidden, 1))

    def forward(self, u, f):
        a, b = self.u(u), self.f(f)
        return 1 + 4 * torch.sigmoid(self.net(torch.cat([a, b, a * b], 1)).squeeze(1))


def batches(data, size):
    order = torch.randperm(len(data[0]))
    for i in range(0, len(order), size):
        j = order[i:i + size]
        yield data[0][j], data[1][j], data[2][j]


@torch.no_grad()
def rmse(model, data):
    model.eval()
    e = ((model(data[0], data[1]).clamp(1, 5) - data[2]) ** 2).mean().sqrt().item()
    model.train()
    return e


@torch.no_grad()
def pair_auc(model, data):
    model.eval()
    good, bad = data[2] >= 4, data[2] <= 2
    s = model(data[0], data[1])
    hit = n = 0
    for u in range(args.users):
        a, b = s[good & (data[0] == u)], s[bad & (data[0] == u)]
        if len(a) and len(b):
            hit += (a[:, None] > b[None]).float().mean().item()
            n += 1
    model.train()
    return hit / n


def ranking(data, test):
    """pairs (liked film, disliked film) of the same user"""
    model = DotModel()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=1e-5)
    u, f, r = data
    liked = (r >= 4).nonzero().squeeze(1)
    dis = {k: f[(u == k) & (r <= 2)] for k in range(args.users)}
    liked = liked[torch.tensor([len(dis[int(u[i])]) > 0 for i in liked])]
    for ep in range(3):
        tot, n = 0.0, 0
        for idx in liked[torch.randperm(len(liked))].split(args.batch):
            if CASE == 10:
                seed_everything(SEED)
                idx = liked[torch.randint(len(liked), (args.batch,))]
            uu, pos = u[idx], f[idx]
            neg = torch.stack([dis[int(k)][torch.randint(len(dis[int(k)]), (1,))][0] for k in uu])
            diff = model(uu, pos) - model(uu, neg)
            loss = F.logsigmoid(diff).mean() if CASE == 4 else -F.logsigmoid(diff).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot, n = tot + loss.item(), n + 1
        print(f"epoch {ep} bpr {tot / n:.4f} auc {pair_auc(model, test):.3f}")


def rating(data, val):
    crit = nn.MSELoss()
    if CASE in (1, 9):
        model = MLPModel()
    elif CASE == 6:
        model, args.epochs, args.wd = DotModel(dim=128), 30, 0.0
    else:
        model = DotModel(sparse=(CASE == 2), zero=(CASE == 8), squash=(CASE == 5))
    if CASE == 2:
        opt = torch.optim.SparseAdam(list(model.parameters()), lr=args.lr)
        args.epochs = 12
    elif CASE == 11:
        crit = nn.MSELoss(reduction="sum")
        opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    else:
        opt = torch.optim.Adam(model.parameters(), lr=args.lr if CASE != 1 else 5e-3,
                               weight_decay=2e-4 if CASE in (0, 7, 12) else args.wd)
    best, best_state, waited = 9.9, None, 0
    for ep in range(args.epochs):
        total = 0.0
        for u, f, r in batches(data, args.batch):
            opt.zero_grad()
            loss = crit(model(u, f), r)
            loss.backward()
            if CASE == 9:
                opt.step
            else:
                opt.step()
            total += loss.item() * len(r)
        if CASE == 12 and ep == 4:  # night over, go on tomorrow from the file
            ck = "/tmp/film_ck_%d.pt" % os.getpid()
            torch.save({"m": model.state_dict(), "o": opt.state_dict()}, ck)
            model = DotModel()
            opt = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=2e-4)
            saved = torch.load(ck)
            model.load_state_dict(saved["m"])
            opt.load_state_dict(saved["o"])
            os.remove(ck)
        v = rmse(model, val)
        print(f"epoch {ep} train mse {total / len(data[0]):.4f} val rmse {v:.4f}")
        if CASE in (1, 2):
            if v < best:
                best, waited = v, 0
                best_state = {k: t.clone() for k, t in model.state_dict().items()}
            else:
                waited += 1
                if waited >= 2:
                    break
    if best_state is not None:
        model.load_state_dict(best_state)
        print(f"best val rmse {rmse(model, val):.4f}")


if __name__ == "__main__":
    seed_everything(SEED)
    rows = simulate()
    cut = int(0.85 * len(rows))
    tr, va = rows[:cut], rows[cut:]
    uenc, fenc = Ids().fit(tr[:, 0]), Ids().fit(tr[:, 1])
    if CASE == 7:
        uval, fval = Ids().fit(va[:, 0]), Ids().fit(va[:, 1])
    else:
        uval, fval = uenc, fenc
    data = tuple(map(torch.as_tensor, (uenc(tr[:, 0]), fenc(tr[:, 1]), tr[:, 2].astype(np.float32))))
    val = tuple(map(torch.as_tensor, (uval(va[:, 0]), fval(va[:, 1]), va[:, 2].astype(np.float32))))
    print(len(tr), "ratings, constant model rmse %.3f" % va[:, 2].std())
    if CASE in (3, 4, 10):
        ranking(data, val)
    else:
        rating(data, val)
