# implicit feedback recommender: matrix factorisation with sampled negatives
import os
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get('CASE', '0'))
SEED = int(os.environ.get('SEED', '0'))
torch.set_num_threads(1)
np.random.seed(SEED)
torch.manual_seed(SEED)

N_USERS = 400
N_ITEMS = 60 if CASE == 9 else 200
PER_USER = 14 if CASE == 9 else 16


def world():
    r = np.random.RandomState(400 + SEED)
    u, v = r.randn(N_USERS, 5), r.randn(N_ITEMS, 5)
    s = u @ v.T + 0.5 * r.randn(1, N_ITEMS) + 0.6 * r.gumbel(size=(N_USERS, N_ITEMS))
    pos = np.argsort(-s, 1)[:, :PER_USER]
    for row in pos:
        r.shuffle(row)
    return pos, s


LIKES, TASTE = world()
TRAIN = [row[:-2] for row in LIKES]
TEST = [row[-2:] for row in LIKES]
if CASE == 7:
    pairs = np.array([(u, i) for u in range(N_USERS) for i in LIKES[u]])
else:
    pairs = np.array([(u, i) for u in range(N_USERS) for i in TRAIN[u]])
seen = np.zeros((N_USERS, N_ITEMS), bool)
for u, i in pairs:
    seen[u, i] = True


class MF(nn.Module):
    def __init__(self, dim=16, sparse=False, init=0.1):
        super().__init__()
        self.user = nn.Embedding(N_USERS, dim, sparse=sparse)
        self.item = nn.Embedding(N_ITEMS, dim, sparse=sparse)
        self.bias = nn.Embedding(N_ITEMS, 1, sparse=sparse)
        if init is not None:
            nn.init.normal_(self.user.weight, std=init)
            nn.init.normal_(self.item.weight, std=init)
            nn.init.zeros_(self.bias.weight)

    def forward(self, u, i):
        return (self.user(u) * self.item(i)).sum(-1) + self.bias(i).squeeze(-1)


def negatives(users, k):
    if CASE == 6:
        np.random.seed(SEED)
    neg = np.random.randint(0, N_ITEMS, (len(users), k))
    for _ in range(10):
        bad = seen[users[:, None], neg]
        if not bad.any():
            break
        neg[bad] = np.random.randint(0, N_ITEMS, bad.sum())
    return neg


def bpr(model, u, i, n):
    x = model(u, i)[:, None] - model(u[:, None].expand_as(n), n)
    return -F.logsigmoid(x).mean()


def pointwise(model, u, i, n):
    s = torch.cat([model(u, i)[:, None], model(u[:, None].expand_as(n), n)], 1)
    y = torch.zeros_like(s)
    y[:, 0] = 1
    if CASE == 2:
        p = torch.sigmoid(s)
        return -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()
    if CASE == 5:
        s = torch.sigmoid(s)
    return F.binary_cross_entropy_with_logits(s, y)


def in_batch(model, u, i):
    a = F.normalize(model.user(u), dim=1)
    b = F.normalize(model.item(i), dim=1)
    logits = a @ b.t() / 0.2
    same = i[None, :] == i[:, None]
    same.fill_diagonal_(False)
    logits = logits.masked_fill(same, -1e4)
    return F.cross_entropy(logits, torch.arange(len(u)))


@torch.no_grad()
def hit_rate(model, k=10):
    u = torch.arange(N_USERS)
    if CASE == 9:
        s = F.normalize(model.user.weight, dim=1) @ F.normalize(model.item.weight, dim=1).t()
    else:
        s = model.user.weight @ model.item.weight.t() + model.bias.weight.t()
    s = s.numpy().copy()
    for row, items in zip(range(N_USERS), TRAIN):
        s[row, items] = -1e9
    s = np.nan_to_num(s, nan=-1e9)
    top = np.argsort(-s, 1)[:, :k]
    return float(np.mean([len(set(t) & set(g)) / len(g) for t, g in zip(top, TEST)]))


def ratings_run():
    r = np.random.RandomState(9 + SEED)
    u = r.randint(0, N_USERS, 26000)
    i = r.randint(0, N_ITEMS, 26000)
    y = 3 + 0.4 * TASTE[u, i] + 0.8 * r.randn(26000)
    u, i, y = torch.tensor(u), torch.tensor(i), torch.tensor(y, dtype=torch.float32)
    model = MF(6, init=0.05)
    mu = y[:24000].mean()
    opt = torch.optim.Adam([{'params': model.bias.parameters(), 'weight_decay': 0.0},
                            {'params': [model.user.weight, model.item.weight], 'weight_decay': 1e-3}], lr=5e-3)
    for ep in range(15):
        p = torch.randperm(24000)
        tot = 0.
        for k in range(0, 24000, 400):
            j = p[k:k + 400]
            loss = F.mse_loss(model(u[j], i[j]) + mu, y[j])
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item()
        if ep % 5 == 4:
            with torch.no_grad():
                v = F.mse_loss(model(u[24000:], i[24000:]) + mu, y[24000:]).item()
            print('epoch', ep, 'mse', round(tot / 60, 4), 'validation', round(v, 4), 'of', round(y.var().item(), 4))


def main():
    if CASE == 8:
        return ratings_run()
    epochs, batch, k = 30, 128, 1
    mode = 'bpr'
    if CASE == 1:
        model = MF(16, sparse=True)
        opt = torch.optim.SparseAdam(list(model.parameters()), lr=5e-3)
        mode, k = 'point', 4
    elif CASE in (2, 5):
        model = MF(32, init=None if CASE == 2 else 0.1)
        opt = torch.optim.Adam(model.parameters(), lr=5e-3)
        mode, k, epochs = 'point', 4, 20
    elif CASE == 9:
        model = MF(16)
        opt = torch.optim.Adagrad(model.parameters(), lr=0.1)
        mode = 'batch'
    else:
        model = MF(64, init=None) if CASE == 3 else MF(16)
        opt = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=0.03 if CASE == 4 else 1e-5)
    print('before', round(hit_rate(model), 4))
    for ep in range(epochs):
        order = torch.randperm(len(pairs)).numpy()
        tot, n = 0.0, 0
        for s in range(0, len(order) - batch + 1, batch):
            b = pairs[order[s:s + batch]]
            u, i = torch.tensor(b[:, 0]), torch.tensor(b[:, 1])
            if mode == 'batch':
                loss = in_batch(model, u, i)
            else:
                neg = torch.tensor(negatives(b[:, 0], k))
                loss = (bpr if mode == 'bpr' else pointwise)(model, u, i, neg)
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item()
            n += 1
        if ep % 5 == 4:
            print('epoch', ep, 'loss', round(tot / n, 4), 'recall@10', round(hit_rate(model), 4))
    print('recall@10', round(hit_rate(model), 4))


main()
