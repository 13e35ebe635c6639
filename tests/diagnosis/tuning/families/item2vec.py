# item2vec: skip-gram with negative sampling on shopping baskets
import os
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset, IterableDataset

CASE = int(os.environ.get("CASE", 5))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)
rng = np.random.RandomState(SEED)

N_ITEMS, N_GROUPS, DIM, K = 240, 12, 24, 5
group = rng.randint(0, N_GROUPS, N_ITEMS)
pop = 1.0 / (1 + rng.permutation(N_ITEMS)) ** 0.6
pop /= pop.sum()


def make_pairs(n):
    """two items of the same basket: mostly one group, sometimes anything"""
    a = rng.choice(N_ITEMS, n, p=pop)
    b = np.empty(n, dtype=np.int64)
    anything = rng.rand(n) < 0.15
    for g in range(N_GROUPS):
        w = np.where(group == g, pop, 0)
        m = group[a] == g
        b[m] = rng.choice(N_ITEMS, m.sum(), p=w / w.sum())
    b[anything] = rng.choice(N_ITEMS, anything.sum(), p=pop)
    return torch.from_numpy(a), torch.from_numpy(b)


class SGNS(nn.Module):
    def __init__(self, sparse=False):
        super().__init__()
        self.inp = nn.Embedding(N_ITEMS, DIM, sparse=sparse)
        self.ctx = nn.Embedding(N_ITEMS, DIM, sparse=sparse)
        if CASE == 2:
            nn.init.zeros_(self.inp.weight)
            nn.init.zeros_(self.ctx.weight)
        else:
            nn.init.uniform_(self.inp.weight, -0.5 / DIM ** 0.5, 0.5 / DIM ** 0.5)
            nn.init.uniform_(self.ctx.weight, -0.5 / DIM ** 0.5, 0.5 / DIM ** 0.5)

    def forward(self, a, others):
        return torch.einsum("bd,bkd->bk", self.inp(a), self.ctx(others)).float()


class MF(nn.Module):
    """factorisation with a popularity bias that stays fixed"""
    def __init__(self):
        super().__init__()
        self.u = nn.Parameter(torch.randn(N_ITEMS, DIM) * 0.1)
        self.v = nn.Parameter(torch.randn(N_ITEMS, DIM) * 0.1)
        self.bias = nn.Parameter(torch.tensor(np.log(pop), dtype=torch.float32) * 0.2, requires_grad=False)

    def forward(self, a, others):
        return (self.u[a][:, None] * self.v[others]).sum(-1) + self.bias[others]


NEG = torch.tensor(pop, dtype=torch.float32) ** 0.75


def negatives(n, k=K):
    return torch.multinomial(NEG, n * k, replacement=True).view(n, k)


def auc(model, a, b):
    """held-out pairs against random items"""
    with torch.no_grad():
        neg = torch.from_numpy(np.random.RandomState(1).randint(0, N_ITEMS, (len(a), 20)))
        s = model(a, torch.cat([b[:, None], neg], 1))
        return ((s[:, :1] > s[:, 1:]).float() + 0.5 * (s[:, :1] == s[:, 1:]).float()).mean().item()


class Stream(IterableDataset):
    def __iter__(self):
        for i in torch.randperm(len(A)).tolist():
            yield A[i], B[i]


A, B = make_pairs(24000)
VA, VB = make_pairs(3000)
BS = 256
model = MF() if CASE == 8 else SGNS(sparse=CASE == 6)
if CASE == 4:
    model = model.to(torch.bfloat16)

if CASE == 6:
    opt = torch.optim.SparseAdam(list(model.parameters()), lr=0.01)
    loader = DataLoader(Stream(), batch_size=BS)
else:
    loader = DataLoader(TensorDataset(A, B), batch_size=BS, shuffle=True)
    if CASE == 4:
        opt = torch.optim.Adam(model.parameters(), lr=4e-4)
    elif CASE == 7:
        opt = torch.optim.SGD(model.parameters(), lr=30.0)
    elif CASE == 9:
        opt = torch.optim.Adagrad(model.parameters(), lr=0.2)
    elif CASE == 8:
        opt = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=0.02)
    else:
        opt = torch.optim.Adam(model.parameters(), lr=0.01)

bce = nn.BCELoss()
EPOCHS = 20 if CASE == 4 else 4
step = 0
it = None
for epoch in range(EPOCHS):
    run = 0.0
    for i in range((len(A) + BS - 1) // BS):
        if i == 0:
            it = iter(loader)
        if CASE == 3:
            a, b = A[:BS], B[:BS]
        else:
            a, b = next(it)
        if CASE == 9 and epoch >= 2:
            # harder negatives: the best scored of many
            with torch.no_grad():
                cand = negatives(len(a), 12)
                top = model(a, cand).topk(3, 1).indices
            neg = torch.cat([cand.gather(1, top), negatives(len(a), 2)], 1)
        elif CASE == 10:
            neg = negatives(len(a), 20)
        else:
            neg = negatives(len(a))
        score = model(a, torch.cat([b[:, None], neg], 1))
        label = torch.zeros_like(score)
        label[:, 0] = 1
        if CASE == 1:
            loss = F.binary_cross_entropy_with_logits(torch.sigmoid(score), label)
        elif CASE == 8:
            loss = -F.logsigmoid(score[:, :1] - score[:, 1:]).mean() + 1e-4 * (model.u[a] ** 2).sum(1).mean()
        elif CASE == 10:
            loss = bce(torch.sigmoid(score), label)
        else:
            loss = -(F.logsigmoid(score[:, 0]) + F.logsigmoid(-score[:, 1:]).sum(1)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        run += float(loss)
        step += 1
    print(f"epoch {epoch} ({step} steps) loss {run / (i + 1):.4f}  held-out auc {auc(model, VA, VB):.4f}")
print("METRIC %.4f" % auc(model, VA, VB))
