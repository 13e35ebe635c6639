import os
import logging
import argparse
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
log = logging.getLogger("noshow")
CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

ap = argparse.ArgumentParser()
ap.add_argument("--epochs", type=int, default=6)
ap.add_argument("--batch-size", type=int, default=128)
ap.add_argument("--lr", type=float, default=2e-3)
ap.add_argument("--wd", type=float, default=0.1 if CASE == 5 else 1e-5)
args = ap.parse_args([])
torch.manual_seed(SEED)

CARD = {"route": 40, "agent": 120, "weekday": 7, "vehicle": 12}


class Bookings:
    """Booking table; about 12 percent of passengers do not show up."""

    def __init__(self, n, seed):
        r = np.random.default_rng(seed)
        self.cat = np.stack([r.integers(0, k, n) for k in CARD.values()], 1)
        price = np.exp(r.normal(4.2, 0.6, n))
        lead = r.exponential(25, n)
        party = r.integers(1, 7, n)
        cust = r.integers(0, n // 3, n)
        q = np.random.default_rng(77)
        route_w, agent_w = q.normal(0, 1.1, 40), q.normal(0, 1.3, 120)
        grp = q.integers(0, 3, 40)
        day_w = q.normal(0, 0.9, (3, 7))
        veh_w = q.normal(0, 0.7, 12)
        z = (route_w[self.cat[:, 0]] + agent_w[self.cat[:, 1]] + day_w[grp[self.cat[:, 0]], self.cat[:, 2]]
             + veh_w[self.cat[:, 3]] * (party > 2) + 0.022 * (lead - 25) - 0.7 * (np.log(price) - 4.2) - 3.2)
        self.y = (r.random(n) < 1 / (1 + np.exp(-z))).astype(np.float32)
        self.num = np.stack([np.log(price), np.log1p(lead), party], 1).astype(np.float32)
        self.cust = cust
        self.price = price
        if CASE == 2:
            cnt = np.bincount(cust, minlength=n)
            hits = np.bincount(cust, weights=self.y, minlength=n)
            rate = hits[cust] / np.maximum(cnt[cust], 1)
            self.num = np.concatenate([self.num, rate[:, None]], 1).astype(np.float32)
        if CASE == 6:
            self.num = np.stack([price * 1000, lead * 86400, party], 1).astype(np.float32)


class Net(nn.Module):
    def __init__(self, n_num, dim=6):
        super().__init__()
        embs = [nn.Embedding(k, dim, sparse=(CASE == 4)) for k in CARD.values()]
        self.embs = embs if CASE == 1 else nn.ModuleList(embs)
        self.body = nn.Sequential(nn.Linear(dim * len(CARD) + n_num, 64), nn.ReLU(), nn.Dropout(0.1),
                                  nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, cat, num):
        e = [m(cat[:, i]) for i, m in enumerate(self.embs)]
        return self.body(torch.cat(e + [num], 1)).squeeze(1)


def auc(score, y):
    order = np.argsort(score)
    rank = np.empty(len(score))
    rank[order] = np.arange(1, len(score) + 1)
    pos = y.sum()
    return (rank[y == 1].sum() - pos * (pos + 1) / 2) / (pos * (len(y) - pos))


class Trainer:
    def __init__(self):
        full = Bookings(16000, SEED + 1)
        cut = 13000
        self.mean, self.std = full.num[:cut].mean(0), full.num[:cut].std(0)
        if CASE == 6:
            self.mean, self.std = 0.0, 1.0
        num = torch.tensor((full.num - self.mean) / self.std, dtype=torch.float32)
        cat, y = torch.tensor(full.cat), torch.tensor(full.y)
        self.train_set = (cat[:cut], num[:cut], y[:cut])
        self.val_set = (cat[cut:], num[cut:], y[cut:])
        self.net = Net(num.shape[1])
        rate = y[:cut].mean().item()
        self.pos_weight = torch.tensor((1 - rate) / rate)
        if CASE == 4:
            sparse = list(self.net.embs.parameters())
            self.opts = [torch.optim.SparseAdam(sparse, lr=args.lr * 2),
                         torch.optim.AdamW(self.net.body.parameters(), lr=args.lr)]
        else:
            self.opts = [torch.optim.Adam(self.net.parameters(), lr=args.lr, weight_decay=args.wd)]
        log.info("no-show rate %.3f, pos_weight %.2f", rate, self.pos_weight)

    def loss(self, logit, y):
        if CASE == 4:
            p = torch.sigmoid(logit)
            pt = torch.where(y > 0, p, 1 - p)
            bce = F.binary_cross_entropy_with_logits(logit, y, reduction="none")
            alpha = torch.where(y > 0, 0.75, 0.25)
            return (alpha * (1 - pt) ** 2 * bce).mean() * 4
        return F.binary_cross_entropy_with_logits(logit, y, pos_weight=self.pos_weight)

    def batches(self):
        perm = torch.randperm(len(self.train_set[2]))
        for i in range(0, len(perm), args.batch_size):
            idx = perm[i:i + args.batch_size]
            yield [a[idx] for a in self.train_set]

    def evaluate(self):
        self.net.eval()
        with torch.no_grad():
            cat, num, y = self.val_set
            s = self.net(cat, num)
            return self.loss(s, y).item(), auc(s.numpy(), y.numpy())

    def fit(self):
        step = 0
        for ep in range(args.epochs):
            self.net.train()
            for cat, num, y in self.batches():
                if CASE != 3:
                    for o in self.opts:
                        o.zero_grad()
                l = self.loss(self.net(cat, num), y)
                l.backward()
                for o in self.opts:
                    o.step()
                step += 1
                if step % 50 == 0:
                    log.info("step %d loss %.4f", step, l.item())
            vl, va = self.evaluate()
            log.info("epoch %d val loss %.4f auc %.4f", ep, vl, va)


Trainer().fit()
