"""Who will like which bottle?  Tasting-club scores, user and wine embeddings."""
import os
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(1000 + SEED)
torch.manual_seed(SEED)

N_USERS, N_WINES, PER_USER = 600, 350, 42


def tastings(per_user=PER_USER, pull=0.55, spread=4):
    """user, wine, day, score (1..10 in half points)"""
    taste = rng.normal(size=(N_USERS, 4))
    style = rng.normal(size=(N_WINES, 4))
    harsh = rng.normal(0, 0.6, N_USERS)
    quality = rng.normal(0, 0.8, N_WINES)
    popular = rng.zipf(1.6, N_WINES).clip(max=60).astype(float) + spread
    popular /= popular.sum()
    rows = []
    for u in range(N_USERS):
        n = int(rng.integers(per_user - 15, per_user + 15))
        wines = rng.choice(N_WINES, n, replace=False, p=popular)
        day = np.sort(rng.integers(0, 700, n))
        s = 6.3 + harsh[u] + quality[wines] + pull * style[wines] @ taste[u] + 0.0004 * day
        s = s + rng.normal(0, 0.75, n)
        s = np.clip(np.round(s * 2) / 2, 1, 10)
        rows.append(np.stack([np.full(n, u), wines, day, s], 1))
    return np.concatenate(rows)


def with_experience(table):
    """adds: how far along in their own history a taster was (0..1)"""
    key = table[:, 3] if CASE == 4 else table[:, 2]
    table = table[np.lexsort((key, table[:, 0]))]
    counts = np.bincount(table[:, 0].astype(int), minlength=N_USERS)
    pos = np.concatenate([np.arange(c) / max(c - 1, 1) for c in counts])
    return np.concatenate([table, pos[:, None]], 1)


class Tasters(nn.Module):
    def __init__(self, dim=12):
        super().__init__()
        self.user = nn.Embedding(N_USERS, dim)
        self.wine = nn.Embedding(N_WINES, dim)
        self.user_bias = nn.Embedding(N_USERS, 1)
        self.wine_bias = nn.Embedding(N_WINES, 1)
        self.experience = nn.Linear(1, 1)
        self.mu = nn.Parameter(torch.tensor(6.0))
        std = 1.0 if CASE == 5 else 0.08
        nn.init.normal_(self.user.weight, 0, std)
        nn.init.normal_(self.wine.weight, 0, std)
        nn.init.zeros_(self.user_bias.weight)
        nn.init.zeros_(self.wine_bias.weight)

    def forward(self, u, w, e):
        p, q = self.user(u), self.wine(w)
        bias = self.user_bias(u) + self.wine_bias(w) + self.experience(e[:, None])
        return self.mu + (p * q).sum(1) + bias[:, 0]


def scores():
    data = with_experience(tastings())
    perm = rng.permutation(len(data))
    cut = int(0.85 * len(data))
    train, test = data[perm[:cut]], data[perm[cut:]]

    def cols(d):
        return (torch.from_numpy(d[:, :2]).long(), torch.from_numpy(d[:, 4]).float(),
                torch.from_numpy(d[:, 3]).float())

    uw, exp, y = cols(train)
    uw_t, exp_t, y_t = cols(test)
    base = float((y_t - y.mean()).pow(2).mean().sqrt())
    print(f"{len(y)} training scores, {len(y_t)} held out; rmse of the mean {base:.3f}")

    net = Tasters()
    decay = 3e-5
    if CASE == 2:
        groups = [{"params": [net.mu, *net.experience.parameters()]},
                  {"params": net.user.parameters()},
                  {"params": list(net.user_bias.parameters()) + list(net.wine_bias.parameters())}]
    else:
        groups = net.parameters()
    if CASE == 3:
        decay = 3e-2
    opt = torch.optim.Adam(groups, lr=8e-3, weight_decay=decay)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=9)
    bs, step = 256, 0
    for epoch in range(9):
        order = torch.randperm(len(y))
        t0 = time.time()
        a, b = uw[order], exp[order]
        c = y if CASE == 1 else y[order]
        run = 0.0
        net.train()
        for k in range(0, len(y), bs):
            pairs = a[k:k + bs]
            pred = net(pairs[:, 0], pairs[:, 1], b[k:k + bs])
            loss = F.mse_loss(pred, c[k:k + bs])
            reg = net.user(pairs[:, 0]).pow(2).mean() + net.wine(pairs[:, 1]).pow(2).mean()
            opt.zero_grad()
            (loss + 0.15 * reg).backward()
            opt.step()
            step += 1
            run += loss.item()
            if step % 40 == 0:
                print(f"  step {step:4d}  mse {loss.item():.3f}")
        sched.step()
        net.eval()
        with torch.no_grad():
            err = net(uw_t[:, 0], uw_t[:, 1], exp_t) - y_t
        print(f"epoch {epoch}  train mse {run / (len(y) / bs):.3f}  held-out rmse {err.pow(2).mean().sqrt():.3f} "
              f"mae {err.abs().mean():.3f}  ({time.time() - t0:.1f}s)")


def favourites():
    """Implicit version: only 'liked it' pairs, ranking loss, sampled negatives."""
    data = tastings(per_user=75, pull=0.8, spread=30)
    liked = data[data[:, 3] >= 7.0][:, :2].astype(np.int64)
    seen = np.zeros((N_USERS, N_WINES), bool)
    seen[liked[:, 0], liked[:, 1]] = True
    hold = np.zeros(len(liked), bool)
    for u in range(N_USERS):
        mine = np.flatnonzero(liked[:, 0] == u)
        if len(mine) >= 4:
            hold[rng.choice(mine, 2, replace=False)] = True
    train, test = torch.from_numpy(liked[~hold]), torch.from_numpy(liked[hold])
    train_seen = torch.zeros(N_USERS, N_WINES, dtype=torch.bool)
    train_seen[train[:, 0], train[:, 1]] = True
    pop = train_seen.sum(0).float()

    users = nn.Embedding(N_USERS, 10, sparse=True)
    wines = nn.Embedding(N_WINES, 10, sparse=True)
    prior = nn.Parameter(torch.zeros(N_WINES))
    for e in (users, wines):
        nn.init.normal_(e.weight, 0, 0.1)
    sparse_opt = torch.optim.SparseAdam(list(users.parameters()) + list(wines.parameters()), lr=1.5e-2)
    dense_opt = torch.optim.SGD([prior], lr=4.0)

    def recall(score, k=20):
        score = score.masked_fill(train_seen, float("-inf"))
        top = score.topk(k, dim=1).indices
        return (top[test[:, 0]] == test[:, 1:2]).any(1).float().mean().item()

    print(f"likes {len(train)}  held out {len(test)}  popularity recall@20 "
          f"{recall(pop.expand(N_USERS, -1)):.3f}  random {20 / N_WINES:.3f}")
    step = 0
    for epoch in range(10):
        for idx in torch.randperm(len(train)).split(256):
            u, pos = train[idx].unbind(1)
            neg = torch.randint(0, N_WINES, pos.shape)
            clash = train_seen[u, neg]
            neg[clash] = torch.randint(0, N_WINES, (int(clash.sum()),))
            hu = users(u)
            diff = (hu * (wines(pos) - wines(neg))).sum(1) + prior[pos] - prior[neg]
            loss = -F.logsigmoid(diff).mean() + 0.04 * (hu.pow(2).mean() + wines(pos).pow(2).mean() + wines(neg).pow(2).mean())
            sparse_opt.zero_grad()
            dense_opt.zero_grad()
            loss.backward()
            sparse_opt.step()
            dense_opt.step()
            step += 1
        with torch.no_grad():
            r = recall(users.weight @ wines.weight.t() + prior)
        print(f"epoch {epoch:2d} step {step} bpr {loss.item():.3f} recall@20 {r:.3f}")


if __name__ == "__main__":
    if CASE == 6:
        favourites()
    else:
        scores()
