"""Recommender: matrix factorisation on implicit feedback, sampled negatives, leave-one-out HR@10 / NDCG@10."""
import os
import time

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
np.random.seed(SEED)
torch.set_num_threads(1)


class Config:
    n_users, n_items, dim = 300, 240, 16
    num_ng = 4
    batch = 512
    epochs = 14
    lr = 0.01
    loss = "bce"
    opt = "adam"
    reg = 0.0
    init_std = 0.05
    sparse = False
    deep = False


cfg = Config()
if CASE == 1:
    cfg.loss = "mse"
elif CASE == 3:
    cfg.loss, cfg.dim, cfg.init_std, cfg.num_ng, cfg.epochs = "bpr", 400, 1.0, 1, 4
elif CASE == 5:
    cfg.reg = 0.05
elif CASE == 6:
    cfg.loss, cfg.opt, cfg.lr = "bce_sum", "sgd", 1.0
elif CASE == 7:
    cfg.loss, cfg.num_ng, cfg.init_std, cfg.lr, cfg.epochs = "bpr", 1, 0.005, 0.004, 24
elif CASE == 8:
    cfg.sparse, cfg.opt = True, "sparse"
elif CASE == 9:
    cfg.opt, cfg.lr = "sgd", 60.0
elif CASE == 12:
    cfg.deep, cfg.lr, cfg.init_std = True, 0.01, 0.3


def make_interactions(c):
    r = np.random.RandomState(SEED + 11)
    u = r.randn(c.n_users, 5)
    v = r.randn(c.n_items, 5)
    pop = r.gumbel(0, 0.6, c.n_items)
    score = 1.6 * u @ v.T + pop + r.gumbel(0, 1, (c.n_users, c.n_items))
    pos = [np.argsort(-score[k])[: r.randint(12, 28)] for k in range(c.n_users)]
    train, test = [], []
    for k, items in enumerate(pos):
        items = r.permutation(items)
        test.append(items[0])
        train += [(k, i) for i in (items if CASE == 10 else items[1:])]
    return np.array(train), np.array(test), [set(p.tolist()) for p in pos]


train, test_items, seen = make_interactions(cfg)
mat = np.zeros((cfg.n_users, cfg.n_items), bool)
mat[train[:, 0], train[:, 1]] = True
sampler = np.random.RandomState(SEED + 5)


def sample_negatives(users, k):
    rs = np.random.RandomState(SEED) if CASE == 4 else sampler
    neg = rs.randint(0, cfg.n_items, (len(users), k))
    for _ in range(4):
        bad = mat[users[:, None], neg]
        neg[bad] = rs.randint(0, cfg.n_items, bad.sum())
    return neg


class MF(nn.Module):
    def __init__(self, c, n_users=None):
        super().__init__()
        self.user = nn.Embedding(n_users or c.n_users, c.dim, sparse=c.sparse)
        self.item = nn.Embedding(c.n_items, c.dim, sparse=c.sparse)
        self.item_bias = nn.Embedding(c.n_items, 1, sparse=c.sparse)
        self.deep = c.deep
        if c.deep:
            self.mlp = nn.Sequential(nn.Linear(2 * c.dim, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 16), nn.ReLU())
            self.out = nn.Linear(16 + c.dim, 1)
        self.reset(c)

    def reset(self, c):
        for e in (self.user, self.item):
            nn.init.normal_(e.weight, 0, c.init_std)
        nn.init.zeros_(self.item_bias.weight)

    def forward(self, u, i):
        pu, qi = self.user(u), self.item(i)
        if self.deep:
            h = torch.cat([self.mlp(torch.cat([pu, qi], -1)), pu * qi], -1)
            return self.out(h).squeeze(-1) + self.item_bias(i).squeeze(-1)
        if CASE == 1:
            return (pu * qi).sum(-1, keepdim=True) + self.item_bias(i)
        return (pu * qi).sum(-1) + self.item_bias(i).squeeze(-1)


def make_opt(model):
    if cfg.opt == "sgd":
        return torch.optim.SGD(model.parameters(), lr=cfg.lr)
    if cfg.opt == "sparse":
        return torch.optim.SparseAdam(list(model.parameters()), lr=cfg.lr)
    return torch.optim.Adam(model.parameters(), lr=cfg.lr, weight_decay=cfg.reg)


if CASE == 11:
    model = MF(cfg, n_users=200)
    optimizer = make_opt(model)
    # the log of the second month has new users in it
    bigger = nn.Embedding(cfg.n_users, cfg.dim)
    nn.init.normal_(bigger.weight, 0, cfg.init_std)
    with torch.no_grad():
        bigger.weight[:200] = model.user.weight
    model.user = bigger
else:
    model = MF(cfg)
    optimizer = make_opt(model)


def compute_loss(users, pos):
    neg = sample_negatives(users, cfg.num_ng)
    u, p, n = torch.from_numpy(users), torch.from_numpy(pos), torch.from_numpy(neg)
    if cfg.loss == "bpr":
        diff = model(u, p) - model(u, n[:, 0])
        if CASE == 3:
            return -torch.log(torch.sigmoid(diff)).mean()
        return -F.logsigmoid(diff).mean()
    items = torch.cat([p.unsqueeze(1), n], 1)
    labels = torch.zeros(items.shape)
    labels[:, 0] = 1
    if CASE == 2:
        uu = u.repeat(1 + cfg.num_ng)
    else:
        uu = u.repeat_interleave(1 + cfg.num_ng)
    pred = model(uu, items.reshape(-1))
    labels = labels.reshape(-1)
    if cfg.loss == "mse":
        return F.mse_loss(pred, labels)
    return F.binary_cross_entropy_with_logits(pred, labels, reduction="sum" if cfg.loss == "bce_sum" else "mean")


@torch.no_grad()
def evaluate():
    model.eval()
    users = torch.arange(cfg.n_users)
    s = model(users.repeat_interleave(cfg.n_items), torch.arange(cfg.n_items).repeat(cfg.n_users)).reshape(cfg.n_users, -1)
    hide = torch.from_numpy(mat.copy())
    hide[users, torch.from_numpy(test_items)] = False
    s = s.masked_fill(hide, float("-inf"))
    target = s[users, torch.from_numpy(test_items)].unsqueeze(1)
    rank = (s > target).sum(1) if torch.isfinite(target).all() else torch.full((cfg.n_users,), 10 ** 6)
    hit = rank < 10
    ndcg = (hit.float() / torch.log2(rank.float() + 2)).mean().item()
    model.train()
    return hit.float().mean().item(), ndcg


pop_rank = mat.sum(0).argsort()[::-1][:10]
print("most popular HR@10 %.3f" % np.isin(test_items, pop_rank).mean())
t0 = time.time()
for epoch in range(cfg.epochs):
    order = np.random.permutation(len(train))
    run, n = 0.0, 0
    for b in range(0, len(order), cfg.batch // 2):
        rows = train[order[b:b + cfg.batch // 2]]
        model.zero_grad()
        loss = compute_loss(rows[:, 0], rows[:, 1])
        loss.backward()
        optimizer.step()
        run += loss.item()
        n += 1
    hr, ndcg = evaluate()
    print(f"epoch {epoch:2d} ({n} steps) loss {run / n:.4f} HR {hr:.3f} NDCG {ndcg:.3f} {time.time() - t0:.1f}s", flush=True)
