import os
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))


class Customers(Dataset):
    """plan, region, device (categorical) and six numeric columns; target: did the customer leave"""

    def __init__(self, n, seed, train=True):
        r = np.random.RandomState(seed)
        plan, region, device = r.randint(0, 5, n), r.randint(0, 20, n), r.randint(0, 8, n)
        num = r.randn(n, 6)
        pe = np.array([-1.2, -0.4, 0.2, 0.7, 1.1])
        re = np.random.RandomState(7).randn(20)
        de = np.random.RandomState(8).randn(8)
        s = pe[plan] + 0.9 * re[region] * (num[:, 0] > 0) + 0.8 * de[device] + 1.2 * num[:, 1] - 0.9 * num[:, 2] * num[:, 3]
        noise = 1.0 if CASE == 2 else 0.4
        s = 2.2 * s / s.std() + noise * r.randn(n)
        rate = 0.04 if CASE in (1, 6) else 0.35
        y = (s > np.quantile(s, 1 - rate)).astype(np.float32)
        fee = np.where(y > 0, np.abs(r.randn(n)) + 0.5, 0.0)
        if CASE == 5:
            num[:, 5] = fee if train else np.abs(r.randn(n)) * (r.rand(n) < 0.5)
        if CASE == 10 and train:
            num[r.rand(n) < 0.0012, 4] = np.nan
        self.cat = torch.tensor(np.stack([plan, region, device], 1))
        self.num = torch.tensor(num, dtype=torch.float32)
        self.y = torch.tensor(y)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.cat[i], self.num[i], self.y[i]


class TabNet(nn.Module):
    def __init__(self, width=64, p=0.1):
        super().__init__()
        self.emb = nn.ModuleList([nn.Embedding(5, 3), nn.Embedding(20, 6), nn.Embedding(8, 4)])
        self.body = nn.Sequential(nn.Linear(19, width), nn.ReLU(), nn.Dropout(p), nn.Linear(width, width), nn.ReLU(), nn.Dropout(p))
        self.out = nn.Linear(width, 1)

    def forward(self, cat, num):
        e = [m(cat[:, i]) for i, m in enumerate(self.emb)]
        z = self.out(self.body(torch.cat(e + [num], 1))).squeeze(1)
        if CASE == 7:
            z = torch.sigmoid(z)
        return z


def report(name, z, y):
    pred = (z > (0.5 if CASE == 7 else 0.0)).float()
    acc = (pred == y).float().mean().item()
    tp = (pred * y).sum().item()
    f1 = 2 * tp / max(1.0, (pred.sum() + y.sum()).item())
    order = z.argsort()
    rank = torch.empty(len(z))
    rank[order] = torch.arange(1, len(z) + 1).float()
    pos = y.sum().item()
    auc = (rank[y > 0].sum().item() - pos * (pos + 1) / 2) / (pos * (len(y) - pos))
    bce = nn.functional.binary_cross_entropy_with_logits(z, y).item()
    print("  %s loss %.3f acc %.3f f1 %.3f auc %.3f" % (name, bce, acc, f1, auc))


def evaluate(model, loader, y=None):
    model.eval()
    zs, ys = [], []
    with torch.no_grad():
        for c, x, t in loader:
            zs.append(model(c, x))
            ys.append(t)
    return torch.cat(zs), torch.cat(ys) if y is None else y


def run():
    torch.manual_seed(SEED)
    n = {11: 250, 3: 6000}.get(CASE, 4000)
    train = Customers(n, SEED + 1)
    test = Customers(1200, SEED + 2, train=False)
    if CASE == 9:
        valid = torch.utils.data.Subset(train, range(0, len(train), 4))
    else:
        valid = Customers(800, SEED + 3, train=CASE == 5)
    if CASE == 4:
        train = torch.utils.data.Subset(train, range(64))
        print("debug run: one batch of 64 rows only")
    dl = DataLoader(train, batch_size={3: 16, 4: 64}.get(CASE, 64), shuffle=True)
    model = TabNet(*{11: (512, 0.0), 9: (384, 0.0), 4: (64, 0.0)}.get(CASE, (64, 0.1)))
    weight = torch.tensor(24.0) if CASE == 1 else None
    crit = nn.BCEWithLogitsLoss(pos_weight=weight)
    lr = 3e-3
    opt = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=100.0 if CASE == 8 else 0.01)
    if CASE == 6:
        opt = torch.optim.SGD(model.parameters(), lr=0.02)
    epochs = {3: 3, 4: 200, 11: 120, 9: 16, 6: 10}.get(CASE, 10)
    for ep in range(epochs):
        model.train()
        tot = 0.0
        for c, x, t in dl:
            loss = crit(model(c, x), t)
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item() * len(t)
        if ep % max(1, epochs // 10) == 0 or ep == epochs - 1:
            print("epoch %d loss %.4f" % (ep, tot / len(train)))
            z, y = evaluate(model, DataLoader(valid, batch_size=200))
            report("valid", z, y)
    z, y = evaluate(model, DataLoader(train if CASE == 4 else test, batch_size=200))
    report("final", z, y)


if __name__ == "__main__":
    run()
