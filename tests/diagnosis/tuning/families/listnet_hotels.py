"""Listwise ranking of hotels within a search. One batch = 16 searches; padded hotels are -inf in the softmax."""
import os
from dataclasses import dataclass
import numpy as np
import torch
from torch import nn

CASE = int(os.environ.get("CASE", "0"))

@dataclass
class Config:
    seed: int = int(os.environ.get("SEED", "0"))
    searches: int = 1400
    max_hotels: int = 20
    feats: int = 10
    lr: float = 2e-3
    epochs: int = 14
    batch: int = 16

cfg = Config()
torch.manual_seed(cfg.seed); rs = np.random.RandomState(cfg.seed)
w = rs.randn(cfg.feats)
X = np.zeros((cfg.searches, cfg.max_hotels, cfg.feats), "f4"); M = np.zeros((cfg.searches, cfg.max_hotels), bool); R = np.zeros((cfg.searches, cfg.max_hotels), "f4")
for q in range(cfg.searches):
    n = rs.randint(6, cfg.max_hotels + 1)
    base = rs.randn(cfg.feats) * 1.5                     # level of the search, the same for all hotels in it
    f = rs.randn(n, cfg.feats)
    util = f @ w * 0.5 + 0.8 * np.abs(f[:, 0]) - 0.7 * f[:, 1] * f[:, 2] + rs.gumbel(size=n) * 0.9
    order = (-util).argsort()
    rel = np.zeros(n); rel[order[:1]] = 3; rel[order[1:3]] = 1
    X[q, :n] = f + base; M[q, :n] = True; R[q, :n] = rel
X, M, R = map(torch.from_numpy, (X, M, R))

class Scorer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(2 * d, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1, bias=False))
    def forward(self, x, m):
        mean = (x * m[..., None]).sum(1, keepdim=True) / m.sum(1)[:, None, None]
        s = self.f(torch.cat([x - mean, x], -1)).squeeze(-1)
        return s.masked_fill(~m, -torch.inf)

def listnet(s, rel):
    target = rel / rel.sum(1, keepdim=True)
    logp = s.log_softmax(1)
    return -(target * torch.where(target > 0, logp, torch.zeros_like(logp))).sum(1).mean()

def ndcg(s, rel, k=5):
    gain = (2 ** rel - 1)
    disc = 1 / torch.log2(torch.arange(k) + 2.0)
    got = (gain.gather(1, s.argsort(1, descending=True)[:, :k]) * disc).sum(1)
    ideal = (gain.sort(1, descending=True).values[:, :k] * disc).sum(1)
    return (got / ideal).mean().item()

ntr = 1000
model = Scorer(cfg.feats); opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
print(f"random order nDCG@5 {ndcg(torch.rand(400, cfg.max_hotels).masked_fill(~M[ntr:], -1), R[ntr:]):.3f}")
for ep in range(cfg.epochs):
    losses = []
    for i in torch.randperm(ntr).split(cfg.batch):
        loss = listnet(model(X[i], M[i]), R[i])
        opt.zero_grad(); loss.backward(); opt.step(); losses.append(loss.item())
    with torch.no_grad():
        s = model(X[ntr:], M[ntr:])
        print(f"epoch {ep} listnet {np.mean(losses):.4f} val listnet {listnet(s, R[ntr:]).item():.4f} val nDCG@5 {ndcg(s, R[ntr:]):.3f}")
