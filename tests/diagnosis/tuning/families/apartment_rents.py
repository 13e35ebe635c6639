import os, logging
from dataclasses import dataclass
import numpy as np
import torch
import torch.nn as nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
import sys
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(levelname)s %(message)s")
log = logging.getLogger("rents")


@dataclass
class Config:
    n: int = 4000
    hidden: int = 64
    lr: float = 3e-3
    weight_decay: float = 1e-4
    batch: int = 100
    epochs: int = 25
    seed: int = SEED


def load(cfg):
    g = np.random.default_rng(cfg.seed)
    area = g.gamma(6, 12, cfg.n) + 15
    rooms = np.clip(np.round(area / 28 + g.normal(0, .6, cfg.n)), 1, 7)
    year = g.integers(1890, 2023, cfg.n)
    dist = g.exponential(4.0, cfg.n)
    floor = g.integers(0, 9, cfg.n)
    lift = (g.random(cfg.n) < .4).astype(float)
    balcony = (g.random(cfg.n) < .5).astype(float)
    district = g.integers(0, 8, cfg.n)
    dprice = np.array([1., 1.1, .9, 1.4, .8, 1.2, 1.05, .95])[district]
    rent = (250 + 11.5 * area * dprice * np.exp(-dist / 18) + 60 * balcony - 35 * floor * (1 - lift)
            + 2.5 * np.maximum(year - 1990, 0)) * np.exp(g.normal(0, .11, cfg.n))
    num = np.stack([area, rooms, year, dist, floor, lift, balcony], 1)
    x = np.concatenate([num, np.eye(8)[district]], 1)
    return x.astype(np.float32), rent.astype(np.float32)


class Standardizer:
    def fit(self, a):
        self.m, self.s = a.mean(0), a.std(0) + 1e-8
        return self

    def __call__(self, a):
        return (a - self.m) / self.s

    def inv(self, a):
        return a * self.s + self.m


def main(cfg):
    torch.manual_seed(cfg.seed)
    x, y = load(cfg)
    ntr = int(.8 * cfg.n)
    xs, ys = Standardizer().fit(x[:ntr]), Standardizer().fit(y[:ntr])
    xtr, ytr = torch.from_numpy(xs(x[:ntr])), torch.from_numpy(ys(y[:ntr]))
    xva, yva = torch.from_numpy(xs(x[ntr:])), y[ntr:]
    net = nn.Sequential(nn.Linear(x.shape[1], cfg.hidden), nn.SiLU(), nn.Linear(cfg.hidden, cfg.hidden), nn.SiLU(), nn.Linear(cfg.hidden, 1))
    opt = torch.optim.AdamW(net.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, cfg.epochs)
    log.info("naive MAE (mean rent): %.1f", np.abs(yva - y[:ntr].mean()).mean())
    for ep in range(cfg.epochs):
        net.train()
        perm = torch.randperm(ntr)
        run = []
        for idx in perm.split(cfg.batch):
            loss = nn.functional.smooth_l1_loss(net(xtr[idx]).squeeze(1), ytr[idx])
            opt.zero_grad(); loss.backward(); opt.step()
            run.append(loss.item())
        sched.step()
        net.eval()
        with torch.no_grad():
            p = ys.inv(net(xva).squeeze(1).numpy())
        mae = np.abs(p - yva).mean()
        r2 = 1 - ((p - yva) ** 2).sum() / ((yva - yva.mean()) ** 2).sum()
        log.info("epoch %d loss %.4f  val MAE %.1f EUR  R2 %.4f  MAPE %.2f%%", ep, np.mean(run), mae, r2, 100 * np.mean(np.abs(p - yva) / yva))


if __name__ == "__main__":
    main(Config())
