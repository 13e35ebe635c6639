import os
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
np.random.seed(SEED)

REGRESSION = CASE in (1, 2, 3, 8, 10)


def make_table(n):
    age = np.random.uniform(18, 80, n)
    income = np.exp(np.random.normal(10.3, 0.5, n))
    tenure = np.random.exponential(4.0, n)
    usage = np.random.gamma(2.0, 30.0, n)
    city = np.random.randint(0, 12, n)
    plan = np.random.randint(0, 4, n)
    city_effect = np.random.RandomState(1).randn(12)
    plan_effect = np.array([-1.0, 0.2, 0.5, 1.3])
    s = city_effect[city] + plan_effect[plan] * np.cos((age - 18) / 12) \
        + 0.8 * np.log(income / 30000) * (city % 2 * 2 - 1) - 0.15 * tenure + 0.4 * np.sin(usage / 20)
    num = np.stack([age, income, tenure, usage], 1)
    cat = np.stack([city, plan], 1)
    return num, cat, s


class TabularNet(nn.Module):
    def __init__(self, n_num, hidden=(64, 64), out=1, drop=0.0, bn=False):
        super().__init__()
        self.emb = nn.ModuleList([nn.Embedding(12, 6), nn.Embedding(4, 3)])
        dims = [n_num + 9] + list(hidden)
        layers = []
        for a, b in zip(dims[:-1], dims[1:]):
            layers += [nn.Linear(a, b)]
            if bn:
                layers += [nn.BatchNorm1d(b)]
            layers += [nn.ReLU(), nn.Dropout(drop)]
        self.mlp = nn.Sequential(*layers)
        self.head = nn.Linear(dims[-1], out)

    def forward(self, num, cat):
        e = [emb(cat[:, i]) for i, emb in enumerate(self.emb)]
        return self.head(self.mlp(torch.cat([num] + e, 1)))


def encode(columns):
    """codes by frequency, the most frequent category first"""
    out = np.empty_like(columns)
    for j in range(columns.shape[1]):
        values, counts = np.unique(columns[:, j], return_counts=True)
        code = {v: k for k, v in enumerate(values[np.argsort(-counts, kind="stable")])}
        out[:, j] = [code[v] for v in columns[:, j]]
    return out


def auc(score, y):
    order = np.argsort(score)
    ranks = np.empty(len(score))
    ranks[order] = np.arange(1, len(score) + 1)
    p = y.sum()
    return (ranks[y == 1].sum() - p * (p + 1) / 2) / (p * (len(y) - p))


def main():
    n_train, n_val = 4000, 1000
    if CASE == 6:
        n_train = 300
    num, cat, s = make_table(n_train + n_val)
    noise = np.random.randn(len(s))
    if REGRESSION:
        y = s + 0.3 * noise
        if CASE == 2:
            y = 250000 + 90000 * y
        if CASE == 10:
            y = np.round(500 + 120 * y)
    else:
        level = {4: 2.3, 11: 1.8}.get(CASE, 0.0)
        y = (s + 0.3 * noise > level).astype(np.float64)
        if CASE == 6:
            y = (s + 1.2 * noise > level).astype(np.float64)
        if CASE == 4:
            y = (s + 0.7 * noise > level).astype(np.float64)
        if CASE == 5:
            flip = np.random.rand(n_train) < 0.42
            y[:n_train] = np.where(flip, 1 - y[:n_train], y[:n_train])

    if CASE == 0:
        balance = 2.0 * y - 1 + 0.05 * np.random.randn(len(y))
        balance[n_train:] = 0.05 * np.random.randn(n_val)
        num = np.concatenate([num, balance[:, None]], 1)
    if CASE == 3:
        bad = np.random.rand(n_train) < 0.01
        num[:n_train][bad, 1] = 9999999.0
    mean, std = num[:n_train].mean(0), num[:n_train].std(0)
    if CASE == 3:
        mean, std = np.median(num[:n_train], 0), np.subtract(*np.percentile(num[:n_train], [75, 25], axis=0))
    if CASE == 1:
        x = num
    else:
        x = (num - mean) / std
    if CASE == 7:
        cat = np.concatenate([encode(cat[:n_train]), encode(cat[n_train:])])
    elif CASE == 9:
        cat = encode(cat)

    x = torch.tensor(x, dtype=torch.float32)
    c = torch.tensor(cat)
    t = torch.tensor(y, dtype=torch.float32)
    t_mean, t_std = 0.0, 1.0
    if CASE == 10:
        t_mean, t_std = t[:n_train].mean(), t[:n_train].std()
    train = TensorDataset(x[:n_train], c[:n_train], (t[:n_train] - t_mean) / t_std)
    bs = 64
    epochs = 14
    drop, bn, hidden = 0.0, False, (64, 64)
    if CASE == 6:
        epochs, hidden, bs = 150, (128, 128), 50
    if CASE == 9:
        drop, bn = 0.2, True
    if CASE == 12:
        bs, epochs = 8, 3
    if CASE == 11:
        drop, epochs = 0.3, 9
    loader = DataLoader(train, batch_size=bs, shuffle=True)

    model = TabularNet(x.shape[1], hidden, 1, drop, bn)
    pos_weight = None
    if CASE == 11:
        pos_weight = (1 - t[:n_train]).sum() / t[:n_train].sum()

    if CASE in (3, 8):
        opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    elif CASE == 12:
        opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.5)
    elif CASE == 10:
        opt = torch.optim.Adagrad(model.parameters(), lr=0.05)
    else:
        opt = torch.optim.Adam(model.parameters(), lr=2e-3)

    def loss_fn(out, target):
        if REGRESSION:
            if CASE == 10:
                return F.huber_loss(out[:, 0], target)
            return F.mse_loss(out[:, 0], target)
        return F.binary_cross_entropy_with_logits(out[:, 0], target, pos_weight=pos_weight)

    best, best_epoch = -1e9, -1
    for epoch in range(epochs):
        model.train()
        tot, cnt = 0.0, 0
        for xb, cb, tb in loader:
            out = model(xb, cb)
            loss = loss_fn(out, tb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item() * len(tb)
            cnt += len(tb)
        model.eval()
        with torch.no_grad():
            out = model(x[n_train:], c[n_train:])
            vl = loss_fn(out, (t[n_train:] - t_mean) / t_std).item()
            p = out[:, 0].numpy()
        tv = y[n_train:]
        if REGRESSION:
            pred = p * float(t_std) + float(t_mean)
            score = 1 - ((pred - tv) ** 2).sum() / ((tv - tv.mean()) ** 2).sum()
            msg = "r2 %.3f rmse %.2f" % (score, np.sqrt(((pred - tv) ** 2).mean()))
        else:
            score = auc(p, tv)
            acc = ((p > 0) == (tv > 0.5)).mean()
            recall = ((p > 0) & (tv > 0.5)).sum() / max(1, (tv > 0.5).sum())
            msg = "auc %.3f acc %.3f recall %.3f base %.3f" % (score, acc, recall, max(tv.mean(), 1 - tv.mean()))
        if score > best:
            best, best_epoch = score, epoch
        if epochs <= 20 or epoch % 10 == 9:
            print("epoch %3d train %.4f val %.4f %s (best %.3f at %d)" % (epoch, tot / cnt, vl, msg, best, best_epoch))


if __name__ == "__main__":
    main()
