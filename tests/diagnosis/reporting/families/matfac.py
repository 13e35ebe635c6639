import os
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import TensorDataset, DataLoader

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)

U, I, K = 300, 200, 4
tu, ti = torch.randn(U, K), torch.randn(I, K)
bu, bi = 0.5 * torch.randn(U), 0.5 * torch.randn(I)
n = 4000 if CASE == 6 else 14000
users, items = torch.randint(0, U, (n,)), torch.randint(0, I, (n,))
if CASE == 9:
    items = (torch.rand(n) ** 3 * I).long()
sigma = 0.8 if CASE == 7 else 0.3
clean = (tu[users] * ti[items]).sum(1) / 2 + bu[users] + bi[items] + 3.5
ratings = clean + sigma * torch.randn(n)
cut = int(n * 0.85)


class MF(nn.Module):
    def __init__(self, dim, std, sparse=False):
        super().__init__()
        self.u = nn.Embedding(U, dim, sparse=sparse)
        self.i = nn.Embedding(I, dim, sparse=sparse)
        self.ub = nn.Embedding(U, 1, sparse=sparse)
        self.ib = nn.Embedding(I, 1, sparse=sparse)
        self.mean = 3.5
        for e in (self.u, self.i):
            nn.init.normal_(e.weight, std=std)
        for e in (self.ub, self.ib):
            nn.init.zeros_(e.weight)

    def forward(self, u, i):
        s = (self.u(u) * self.i(i)).sum(1) + self.ub(u).squeeze(1) + self.ib(i).squeeze(1)
        return s.float() + self.mean


dim, std = 8, 0.3
if CASE == 2:
    std = 6.0
if CASE == 6:
    dim = 48
if CASE == 7:
    dim = 4
if CASE == 8:
    std = 1e-3
model = MF(dim, std, sparse=CASE == 0)
batch, epochs = 256, 20
if CASE == 0:
    opt = torch.optim.SparseAdam(list(model.parameters()), lr=0.01)
elif CASE in (3, 4, 5, 10):
    lr = {3: 2e-5, 4: 0.4, 5: 4.0, 10: 4.0}[CASE]
    opt = torch.optim.SGD(model.parameters(), lr=lr)
else:
    opt = torch.optim.Adam(model.parameters(), lr=0.03 if CASE == 7 else 0.01, weight_decay={6: 0.0, 7: 2e-4}.get(CASE, 1e-5))
if CASE in (4, 10):
    for e in (model.u, model.i):
        nn.init.normal_(e.weight, std=0.7)
if CASE == 4:
    model.to(torch.bfloat16)
if CASE == 6:
    epochs = 50
if CASE == 7:
    epochs = 20
target = ratings.unsqueeze(1) if CASE == 1 else ratings
train = DataLoader(TensorDataset(users[:cut], items[:cut], target[:cut]), batch, shuffle=True)


def rmse():
    with torch.no_grad():
        p = model(users[cut:], items[cut:])
        return F.mse_loss(p, ratings[cut:]).sqrt().item()


for epoch in range(epochs):
    total = 0.0
    for u, i, r in train:
        p = model(u, i)
        if CASE == 5:
            loss = ((p - r) ** 2).sum()
        else:
            loss = ((p - r) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    if epoch % 5 == 4:
        print("epoch", epoch, "train %.4f" % (total / len(train)), "test rmse %.4f" % rmse())
print("METRIC", rmse() / sigma if CASE == 7 else rmse())
