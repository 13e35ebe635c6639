import copy
import dataclasses
import logging
import os
import sys

import numpy as np
import torch
from torch import nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s", stream=sys.stdout)
log = logging.getLogger("freight")


@dataclasses.dataclass
class Config:
    rows: int = 7040
    hidden: int = 160
    depth: int = 3
    batch: int = 64
    epochs: int = 9
    lr: float = 2e-3
    weight_decay: float = 1e-4
    accumulate: int = 1
    ema: float = 0.0
    huber: bool = False
    patience: int = 6
    unit: str = "standard"


CONFIGS = {
    0: Config(),
    1: Config(batch=16, accumulate=4, ema=0.99, huber=True, epochs=7),
    3: Config(unit="cent"),
}


def make_table(n, rng):
    """one row a shipment; returns columns and the price in euro"""
    km = rng.gamma(2.2, 190, n) + 15
    kg = rng.lognormal(5.2, 1.0, n)
    m3 = kg / rng.normal(230, 45, n).clip(90) * rng.lognormal(0, 0.15, n)
    region = rng.integers(0, 8, n)
    fragile = rng.random(n) < 0.18
    express = rng.random(n) < 0.22
    lead = rng.poisson(4, n)
    fuel = 1.5 + 0.2 * np.sin(np.arange(n) / 700) + rng.normal(0, 0.05, n)
    month = rng.integers(1, 13, n)
    region_factor = np.array([1.0, 1.12, 0.93, 1.3, 0.85, 1.05, 1.22, 0.97])[region]
    billed = np.maximum(kg, 330 * m3)
    price = 28 + km * (0.35 + 0.24 * fuel) * region_factor * (billed / 400 + 0.15) ** 0.62
    price = price * (1 + 0.35 * express * np.exp(-lead / 5) + 0.18 * fragile) + 14 * ((month == 12) | (month == 7))
    price = price * rng.lognormal(0, 0.20, n)
    fee = 6 + 0.031 * price * rng.normal(1, 0.03, n)
    cols = [km, np.log(kg), m3, lead, fuel, fragile, express, np.sin(month * np.pi / 6), np.cos(month * np.pi / 6)]
    if CASE == 5:
        cols.append(fee)
    x = np.stack([np.asarray(c, float) for c in cols], 1)
    return np.concatenate([x, np.eye(8)[region]], 1), price


def build(n_in, cfg):
    layers, d = [], n_in
    for _ in range(cfg.depth):
        layers += [nn.Linear(d, cfg.hidden), nn.ReLU()]
        d = cfg.hidden
    return nn.Sequential(*layers, nn.Linear(d, 1))


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        rng = np.random.default_rng(SEED + 5)
        x, price = make_table(cfg.rows, rng)
        perm = rng.permutation(cfg.rows)
        cut = int(0.8 * cfg.rows)
        tr, va = perm[:cut], perm[cut:]
        mu, sd = x[tr].mean(0), x[tr].std(0) + 1e-8
        x = ((x - mu) / sd).clip(-6, 6)
        if cfg.unit == "standard":
            self.offset, self.scale = price[tr].mean(), price[tr].std()
        else:
            self.offset, self.scale = 0.0, 0.01
        y = (price - self.offset) / self.scale
        as_t = lambda a: torch.tensor(a, dtype=torch.float32)
        self.xt, self.yt, self.xv = as_t(x[tr]), as_t(y[tr]), as_t(x[va])
        self.price_v = price[va]
        if CASE != 2:
            self.yt = self.yt.unsqueeze(1)
        self.net = build(x.shape[1], cfg)
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)
        self.sched = torch.optim.lr_scheduler.StepLR(self.opt, step_size=3, gamma=0.4)
        self.shadow = copy.deepcopy(self.net) if cfg.ema else None
        self.step = 0

    def loss(self, out, y):
        if self.cfg.huber:
            return nn.functional.smooth_l1_loss(out, y, beta=0.5)
        return ((out - y) ** 2).mean()

    def after_step(self):
        self.step += 1
        if self.shadow is not None:
            with torch.no_grad():
                for a, b in zip(self.shadow.parameters(), self.net.parameters()):
                    a.mul_(self.cfg.ema).add_(b, alpha=1 - self.cfg.ema)

    def epoch(self):
        self.net.train()
        perm = torch.randperm(len(self.xt))
        seen = []
        acc = self.cfg.accumulate
        for k, idx in enumerate(perm.split(self.cfg.batch)):
            loss = self.loss(self.net(self.xt[idx]), self.yt[idx])
            (loss / acc).backward()
            seen.append(loss.item())
            if (k + 1) % acc == 0:
                self.opt.step()
                if CASE != 6:
                    self.opt.zero_grad()
                if CASE == 4:
                    self.sched.step()
                self.after_step()
                if self.step % 50 == 0:
                    log.info("step %d  loss %.4f  lr %.2e", self.step, np.mean(seen[-8:]), self.opt.param_groups[0]["lr"])
        return float(np.mean(seen))

    @torch.no_grad()
    def validate(self):
        net = self.shadow or self.net
        net.eval()
        p = net(self.xv).squeeze(1).numpy() * self.scale + self.offset
        err = p - self.price_v
        r2 = 1 - (err ** 2).sum() / ((self.price_v - self.price_v.mean()) ** 2).sum()
        mape = np.abs(err / self.price_v).mean()
        return np.sqrt((err ** 2).mean()), mape, r2

    def fit(self):
        best, bad = np.inf, 0
        for e in range(self.cfg.epochs):
            tl = self.epoch()
            if CASE != 4:
                self.sched.step()
            rmse, mape, r2 = self.validate()
            log.info("epoch %d  train %.4f  val rmse %.1f EUR  mape %.3f  r2 %.3f", e, tl, rmse, mape, r2)
            if rmse < best:
                best, bad = rmse, 0
            else:
                bad += 1
                if bad >= self.cfg.patience:
                    log.info("no progress, stopping")
                    break
        log.info("best val rmse %.1f EUR", best)


if __name__ == "__main__":
    torch.manual_seed(SEED)
    Trainer(CONFIGS.get(CASE, Config())).fit()
