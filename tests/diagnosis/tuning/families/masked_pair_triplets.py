"""Watermark retrieval with batch-hard triplets: masks of positive and negative pairs inside each batch, evaluation on classes never seen in training."""
import os
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))


def batch_hard(emb, lab, margin):
    d2 = (emb.pow(2).sum(1)[:, None] + emb.pow(2).sum(1)[None] - 2 * emb @ emb.t()).clamp_min(1e-8)
    d = d2.sqrt()
    same = lab[:, None] == lab[None]
    eye = torch.eye(len(lab), dtype=torch.bool)
    pos = d.masked_fill(~(same & ~eye), 0.0).max(1)[0]
    neg = d.masked_fill(same, float("inf")).min(1)[0]
    return F.softplus((pos - neg + margin) * 4).mean() / 4, (pos > neg).float().mean()


class PKSampler:
    def __init__(self, labels, p, k, n, rng):
        self.by = {c: np.flatnonzero(labels == c) for c in np.unique(labels)}
        self.p, self.k, self.n, self.rng = p, k, n, rng

    def __iter__(self):
        for _ in range(self.n):
            cs = self.rng.choice(list(self.by), self.p, replace=False)
            yield np.concatenate([self.rng.choice(self.by[c], self.k, replace=False) for c in cs])


def make(classes, per, rng):
    D = 40
    base = rng.normal(0, 1, (classes, 10))
    A = np.random.default_rng(7).normal(0, 1, (10, D)) / 3
    N = np.random.default_rng(8).normal(0, 1, (6, D)) / 2.2
    y = np.repeat(np.arange(classes), per)
    z = base[y] + .3 * rng.normal(0, 1, (len(y), 10))
    x = np.tanh(z @ A) + 1.2 * np.tanh(rng.normal(0, 1, (len(y), 6)) @ N) + .15 * rng.normal(0, 1, (len(y), D))
    return x.astype(np.float32), y


@torch.no_grad()
def recall_at_1(net, x, y):
    net.eval()
    e = net(x)
    net.train()
    s = e @ e.t()
    s.fill_diagonal_(-2)
    return (y[s.argmax(1)] == y).float().mean().item()


def main():
    rng = np.random.default_rng(SEED + 3)
    torch.manual_seed(SEED)
    xtr, ytr = make(60, 25, rng)
    xte, yte = make(40, 10, rng)
    mu, sd = xtr.mean(0), xtr.std(0)
    X, Y = torch.from_numpy((xtr - mu) / sd), torch.from_numpy(ytr)
    XT, YT = torch.from_numpy((xte - mu) / sd), torch.from_numpy(yte)

    class Embed(nn.Module):
        def __init__(self):
            super().__init__()
            self.f = nn.Sequential(nn.Linear(40, 128), nn.ReLU(), nn.Dropout(.1), nn.Linear(128, 24))

        def forward(self, x):
            return F.normalize(self.f(x), dim=1)

    net = Embed()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    raw = F.normalize(XT, dim=1); s = raw @ raw.t(); s.fill_diagonal_(-2)
    print(f"recall@1 on raw features {(YT[s.argmax(1)] == YT).float().mean():.3f}, chance {9 / 399:.3f}")
    for i, idx in enumerate(PKSampler(ytr, 12, 5, 500, rng), 1):
        loss, viol = batch_hard(net(X[idx]), Y[idx], 0.2)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if i % 25 == 0:
            print(f"iter {i} triplet loss {loss.item():.4f} violating anchors {viol:.2f}")
        if i % 100 == 0:
            print(f"  new classes: recall@1 {recall_at_1(net, XT, YT):.4f}   training classes {recall_at_1(net, X, Y):.4f}")


main()
