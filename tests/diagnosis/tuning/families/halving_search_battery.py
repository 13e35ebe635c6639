"""Successive halving over 9 configurations; some of them are poor on purpose and are dropped early."""
import os, math, random, logging, sys
import torch
from torch import nn

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)s %(message)s")
CASE = int(os.environ.get("CASE", "0")); SEED = int(os.environ.get("SEED", "0"))
random.seed(SEED); torch.manual_seed(SEED)

def cells(n):
    cyc, temp, rate, depth = torch.rand(n) * 1500, 25 + 10 * torch.randn(n), 0.2 + 2 * torch.rand(n), torch.rand(n)
    cap = 100 - 0.012 * cyc * (1 + ((temp - 25) / 18) ** 2) * rate ** .5 * (0.4 + depth) - 3 * torch.sigmoid((cyc - 1100) / 60)
    return torch.stack([cyc / 750 - 1, (temp - 25) / 10, rate - 1.2, depth * 2 - 1], 1), (cap + 1.0 * torch.randn(n))

x, y = cells(3000)
mean, std = y[:2000].mean(), y[:2000].std()
t = (y - mean) / std
parts = {"train": (x[:2000], t[:2000]), "val": (x[2000:2500], t[2000:2500]), "test": (x[2500:], t[2500:])}

class Trial:
    def __init__(self, tid, cfg):
        self.tid, self.cfg = tid, cfg
        act = {"relu": nn.ReLU, "tanh": nn.Tanh}[cfg["act"]]
        self.net = nn.Sequential(nn.Linear(4, cfg["width"]), act(), nn.Linear(cfg["width"], cfg["width"]), act(), nn.Linear(cfg["width"], 1))
        self.opt = torch.optim.Adam(self.net.parameters(), lr=cfg["lr"])
    def advance(self, epochs):
        x, t = parts["train"]
        for _ in range(epochs):
            for i in torch.randperm(2000).split(self.cfg["bs"]):
                loss = (self.net(x[i])[:, 0] - t[i]).pow(2).mean()
                self.opt.zero_grad(); loss.backward(); self.opt.step()
        self.train_loss = loss.item()
        return self.score("val")
    @torch.no_grad()
    def score(self, part):
        x, t = parts[part]
        return (self.net(x)[:, 0] - t).pow(2).mean().item()

grid = [dict(lr=lr, width=w, bs=bs, act=random.choice(["relu", "tanh"])) for lr, w, bs in
        [(1e-5, 32, 100), (1e-4, 64, 100), (1e-3, 64, 50), (3e-3, 64, 100), (1e-2, 32, 100), (1e-1, 32, 100), (3e-1, 16, 50), (3e-3, 8, 200), (1e-3, 96, 100)]]
alive = [Trial(i, c) for i, c in enumerate(grid)]
budget = 3
for rung in range(3):
    scored = []
    for tr in alive:
        v = tr.advance(budget)
        logging.info("rung %d trial %d %s train %.4f val %.4f", rung, tr.tid, tr.cfg, tr.train_loss, v)
        scored.append((v, tr.tid, tr))
    scored.sort()
    alive = [s[2] for s in scored[:max(1, len(scored) // 3)]]
    logging.info("rung %d keeps %s", rung, [a.tid for a in alive])
    budget *= 3
best = alive[0]
logging.info("best %s test R2 %.4f", best.cfg, 1 - best.score("test") / parts["test"][1].var().item())
