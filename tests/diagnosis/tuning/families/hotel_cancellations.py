import os
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader, WeightedRandomSampler

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))


@dataclass
class Config:
    n_bookings: int = 9000
    batch_size: int = 96
    epochs: int = 9
    lr: float = 2e-3
    dropout: float = 0.1
    emb_dim: int = 4
    cards: tuple = (60, 40, 12, 5)
    hidden: tuple = (64, 32)
    threshold: float = 0.5
    seed: int = SEED
    smooth: float = 0.0
    balance: bool = False
    log_every: int = 100


def load_bookings(cfg):
    """Numeric table, categorical table (agent, country, month, room) and the label 'cancelled'."""
    rng = np.random.default_rng(cfg.seed + 7)
    n = cfg.n_bookings
    lead = rng.gamma(1.3, 60, n)
    nights = rng.poisson(3, n) + 1
    adults = rng.integers(1, 4, n)
    price = rng.lognormal(4.5, 0.35, n)
    previous = rng.poisson(0.3, n)
    requests = rng.poisson(0.8, n)
    num = np.stack([lead, nights, adults, price, previous, requests], 1)
    cats = np.stack([rng.integers(0, c, n) for c in cfg.cards], 1)
    agent_eff = rng.normal(0, 1.3, cfg.cards[0])
    country_eff = rng.normal(0, 1.0, cfg.cards[1])
    month_eff = 0.5 * np.sin(np.arange(cfg.cards[2]) / 12 * 2 * np.pi)
    room_lead = rng.normal(0.8, 0.5, cfg.cards[3])
    z = (agent_eff[cats[:, 0]] + country_eff[cats[:, 1]] + month_eff[cats[:, 2]]
         + room_lead[cats[:, 3]] * (np.log1p(lead) - 3.8)
         + 0.5 * np.minimum(previous, 3) - 0.55 * requests + 0.9 * (np.log(price) - 4.5))
    z = z * 1.15 - 2.3
    y = (rng.random(n) < 1 / (1 + np.exp(-z))).astype(np.int64)
    # a few sheets arrive without a price
    missing = rng.random(n) < 0.004
    missing[: n // 3] = False
    num[missing, 3] = np.nan
    return num.astype(np.float32), cats, y


def clean(num, cats, y):
    ok = ~np.isnan(num).any(axis=1)
    num = num[ok]
    if CASE == 2:
        cats, y = cats[: len(num)], y[: len(num)]
    else:
        cats, y = cats[ok], y[ok]
    num = num.copy()
    num[:, 0] = np.log1p(num[:, 0])
    num[:, 3] = np.log(num[:, 3])
    return num, cats, y


class Bookings(Dataset):
    def __init__(self, num, cats, y):
        self.num = torch.from_numpy(num)
        self.cats = torch.from_numpy(cats)
        self.y = torch.from_numpy(y).float()

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.num[i], self.cats[i], self.y[i]


class CancelNet(nn.Module):
    def __init__(self, cfg, n_num):
        super().__init__()
        tables = [nn.Embedding(c, cfg.emb_dim) for c in cfg.cards]
        blocks, d = [], n_num + cfg.emb_dim * len(cfg.cards)
        for h in cfg.hidden:
            blocks += [nn.Linear(d, h), nn.ReLU(), nn.Dropout(cfg.dropout)]
            d = h
        self.tables = tables if CASE == 1 else nn.ModuleList(tables)
        self.body = nn.Sequential(*blocks)
        self.out = nn.Linear(d, 1)

    def forward(self, num, cats):
        e = [t(cats[:, j]) for j, t in enumerate(self.tables)]
        h = self.body(torch.cat([num] + e, 1))
        z = self.out(h).squeeze(1)
        if CASE == 4:
            return torch.sigmoid(z)
        return z


def auc(score, y):
    order = np.argsort(score, kind="stable")
    rank = np.empty(len(y))
    rank[order] = np.arange(1, len(y) + 1)
    pos = y == 1
    return (rank[pos].sum() - pos.sum() * (pos.sum() + 1) / 2) / (pos.sum() * (~pos).sum())


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        torch.manual_seed(cfg.seed)
        num, cats, y = clean(*load_bookings(cfg))
        rng = np.random.default_rng(cfg.seed)
        idx = rng.permutation(len(y))
        a, b = idx[: int(0.75 * len(y))], idx[int(0.75 * len(y)):]
        mu, sd = num[a].mean(0), num[a].std(0)
        num = (num - mu) / sd
        self.train_set = Bookings(num[a], cats[a], y[a])
        self.val_set = Bookings(num[b], cats[b], y[b])
        self.model = CancelNet(cfg, num.shape[1])
        self.opt = torch.optim.Adam(self.model.parameters(), lr=cfg.lr, weight_decay=1e-5)
        self.loader = self.make_loader(y[a])
        self.crit = nn.BCEWithLogitsLoss()

    def make_loader(self, y):
        if not self.cfg.balance:
            return DataLoader(self.train_set, self.cfg.batch_size, shuffle=True)
        counts = np.bincount(y)
        class_w = 1.0 / counts
        w = class_w if CASE == 3 else class_w[y]
        sampler = WeightedRandomSampler(torch.as_tensor(w), num_samples=len(y), replacement=True)
        return DataLoader(self.train_set, self.cfg.batch_size, sampler=sampler)

    def loss(self, z, y):
        s = self.cfg.smooth
        return self.crit(z, y * (1 - s) + 0.5 * s)

    def fit(self):
        step = 0
        for epoch in range(self.cfg.epochs):
            self.model.train()
            for num, cats, y in self.loader:
                loss = self.loss(self.model(num, cats), y)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                step += 1
                if step % self.cfg.log_every == 0:
                    print(f"[{step:5d}] loss={loss.item():.4f}")
            self.validate(epoch)

    @torch.no_grad()
    def validate(self, epoch):
        self.model.eval()
        z = self.model(self.val_set.num, self.val_set.cats)
        y = self.val_set.y
        p = torch.sigmoid(z).numpy()
        yy = y.numpy().astype(int)
        hit = (p > self.cfg.threshold).astype(int)
        tpr = hit[yy == 1].mean()
        tnr = 1 - hit[yy == 0].mean()
        print(f"epoch {epoch}: val_loss={self.crit(z, y).item():.4f} auc={auc(p, yy):.4f} "
              f"acc={(hit == yy).mean():.4f} bal_acc={(tpr + tnr) / 2:.4f}")


if __name__ == "__main__":
    cfg = Config()
    if CASE in (3, 5):
        cfg = Config(balance=True, smooth=0.1, dropout=0.5, epochs=10, hidden=(128, 64))
    Trainer(cfg).fit()
