"""Card fraud: 3% positives in the training stream (weighted sampler), evaluation on a class-balanced test set."""
import os
import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader, WeightedRandomSampler

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
np.random.seed(SEED)


def transactions(n, p):
    y = (np.random.rand(n) < p).astype(np.int64)
    amount = np.exp(np.random.normal(3 + 0.9 * y, 1.0))
    hour = np.where(y == 1, np.random.normal(2, 4, n) % 24, np.random.normal(14, 4.5, n) % 24)
    dist = np.random.exponential(5 + 15 * y)
    tries = np.random.poisson(0.3 + 0.9 * y)
    age = np.random.exponential(900 - 300 * y)
    foreign = (np.random.rand(n) < 0.1 + 0.25 * y).astype(float)
    x = np.stack([np.log(amount), np.sin(hour * np.pi / 12), np.cos(hour * np.pi / 12), np.log1p(dist), tries, np.log1p(age), foreign], 1)
    return x.astype(np.float32), y


class Tx(Dataset):
    def __init__(self, x, y):
        self.x, self.y = torch.from_numpy(x), torch.from_numpy(y)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


xtr, ytr = transactions(12000, 0.03)
xte, yte = transactions(60000, 0.03)
pos = np.flatnonzero(yte == 1)
neg = np.random.choice(np.flatnonzero(yte == 0), len(pos), replace=False)
keep = np.concatenate([pos, neg])
xte, yte = xte[keep], yte[keep]
mu, sd = xtr.mean(0), xtr.std(0)
xtr, xte = (xtr - mu) / sd, (xte - mu) / sd
w = np.where(ytr == 1, 0.5 / (ytr == 1).mean(), 0.5 / (ytr == 0).mean())
sampler = WeightedRandomSampler(torch.from_numpy(w), num_samples=6400, replacement=True)
dl = DataLoader(Tx(xtr, ytr), batch_size=128, sampler=sampler)
print("train rows", len(ytr), "fraud share", ytr.mean().round(4), "| test rows", len(yte), "fraud share", yte.mean())

net = nn.Sequential(nn.Linear(7, 24), nn.ReLU(), nn.Dropout(0.2), nn.Linear(24, 12), nn.ReLU(), nn.Linear(12, 1))
opt = torch.optim.Adam(net.parameters(), lr=2e-3, weight_decay=1e-4)
bce = nn.BCEWithLogitsLoss()


def auc(score, y):
    r = np.empty(len(score)); r[np.argsort(score)] = np.arange(1, len(score) + 1)
    n1 = y.sum(); n0 = len(y) - n1
    return (r[y == 1].sum() - n1 * (n1 + 1) / 2) / (n1 * n0)


for epoch in range(8):
    net.train()
    losses = []
    for xb, yb in dl:
        loss = bce(net(xb)[:, 0], yb.float())
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    net.eval()
    with torch.no_grad():
        s = net(torch.from_numpy(xte))[:, 0]
    p = (s > 0).numpy()
    tp, fp = (p & (yte == 1)).sum(), (p & (yte == 0)).sum()
    print(f"epoch {epoch} loss {np.mean(losses):.4f} | balanced test: acc {(p == yte).mean():.4f} recall {tp / (yte == 1).sum():.3f} "
          f"fpr {fp / (yte == 0).sum():.3f} auc {auc(s.numpy(), yte):.4f} test loss {bce(s, torch.from_numpy(yte).float()):.4f}")
