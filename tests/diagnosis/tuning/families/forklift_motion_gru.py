#!/usr/bin/env python3
# What is the forklift doing?  Six-axis motion sensor on the mast, windows of 2 s, five activities.
import dataclasses
import logging
import math
import os
import sys

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)s %(message)s")
log = logging.getLogger("forklift")
CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
ACTIVITIES = ("idle", "drive", "lift", "lower", "turn")


@dataclasses.dataclass
class Config:
    arch: str = "gru"
    hidden: int = 32
    lr: float = 4e-3
    optim: str = "adamw"
    momentum: float = 0.9
    epochs: int = 14
    batch: int = 48
    clip: float = 0.0
    smoothing: float = 0.0
    dropout: float = 0.1
    jitter: float = 0.0
    balance: bool = False
    folds: int = 1


CONFIGS = {
    3: dict(arch="cnn", optim="sgd", lr=0.08, smoothing=0.1),
    6: dict(arch="bigru", clip=5.0, lr=3e-3, epochs=10),
    7: dict(folds=3, epochs=8, lr=8e-3, hidden=24),
    8: dict(optim="sgd", lr=0.06, clip=0.01),
    9: dict(optim="sgd", lr=0.06),
    10: dict(jitter=0.5, dropout=0.4, balance=True),
}


def record(rng, activity, windows=12, length=48, hop=12):
    """one recording of one truck, cut in overlapping windows"""
    n = length + hop * (windows - 1)
    t = np.arange(n) / 24.0
    f = rng.uniform(0.8, 1.25)
    x = np.zeros((n, 6))
    ph = rng.uniform(0, 6.28, 8)
    eng = rng.uniform(.3, .6)
    x[:, 2] += eng * np.sin(2 * np.pi * 6.5 * f * t + ph[0])
    if activity == 1:
        x[:, 0] += .8 * np.sin(2 * np.pi * .7 * f * t + ph[1])
        x[:, 2] += .5 * np.sin(2 * np.pi * 3 * f * t + ph[2])
    elif activity == 2:
        s = (t * .9 * f + ph[3]) % 1.0                          # slow up, quick back
        x[:, 1] += 1.6 * (s - .5)
        x[:, 4] += .4 * np.sin(2 * np.pi * 1.8 * f * t + ph[4])
    elif activity == 3:
        s = (t * .9 * f + ph[3]) % 1.0
        x[:, 1] += -1.6 * (s - .5)
        x[:, 4] += .4 * np.sin(2 * np.pi * 1.8 * f * t + ph[4])
    elif activity == 4:
        x[:, 0] += .5 * np.sin(2 * np.pi * .7 * f * t + ph[1])
        x[:, 5] += .9 * np.sin(2 * np.pi * .5 * f * t + ph[5])
    q, _ = np.linalg.qr(np.eye(6) + rng.normal(0, .1, (6, 6)))
    q *= np.sign(np.diag(q))
    x = x @ q * rng.uniform(.6, 1.3) + rng.normal(0, .2, 6)
    drift = np.cumsum(rng.normal(0, .015, (n, 6)), 0)
    x = x + drift + rng.normal(0, .3, (n, 6))
    return np.stack([x[i * hop:i * hop + length] for i in range(windows)])


def load():
    rng = np.random.default_rng(7 + SEED)
    probs = [.2] * 5 if CASE != 10 else [.38, .3, .12, .1, .1]
    xs, ys, rec = [], [], []
    for r in range(180):
        a = rng.choice(5, p=probs)
        w = record(rng, a)
        xs.append(w)
        ys += [a] * len(w)
        rec += [r] * len(w)
    return np.concatenate(xs).astype(np.float32), np.array(ys), np.array(rec)


class Net(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.arch = cfg.arch
        self.front = nn.Sequential(nn.Conv1d(6, 10, 7, stride=2, padding=3), nn.ReLU())
        self.drop = nn.Dropout(cfg.dropout)
        if cfg.arch == "cnn":
            self.body = nn.Sequential(nn.Conv1d(10, 32, 5, padding=2), nn.BatchNorm1d(32), nn.ReLU(), nn.MaxPool1d(2),
                                      nn.Conv1d(32, 32, 5, padding=2), nn.BatchNorm1d(32), nn.ReLU(),
                                      nn.AdaptiveAvgPool1d(1), nn.Flatten())
            width = 32
        else:
            bi = cfg.arch == "bigru"
            opts = {} if CASE == 0 else {"batch_first": True}
            self.rnn = nn.GRU(10, cfg.hidden, bidirectional=bi, **opts)
            width = cfg.hidden * (2 if bi else 1)
            if bi:
                self.score = nn.Linear(width, 1)
        self.out = nn.Linear(width, len(ACTIVITIES))

    def forward(self, x):                                   # x: batch, time, axis
        h = self.front(x.transpose(1, 2))
        if self.arch == "cnn":
            return self.out(self.drop(self.body(h)))
        if CASE == 2:
            h = (h - h.data.mean(2, keepdim=True)).data
        seq, _ = self.rnn(h.transpose(1, 2))
        if self.arch == "bigru":
            w = self.score(seq).softmax(1)
            pooled = (w * seq).sum(1)
        else:
            pooled = seq[:, -1]
        return self.out(self.drop(pooled))


class Trainer:
    def __init__(self, cfg, train, val):
        self.cfg = cfg
        self.model = Net(cfg)
        self.criterion = nn.CrossEntropyLoss(label_smoothing=cfg.smoothing)
        x, y = train
        if cfg.balance:
            w = 1.0 / torch.bincount(y, minlength=5).float()[y]
            self.loader = DataLoader(TensorDataset(x, y), cfg.batch, sampler=WeightedRandomSampler(w, len(y)))
        else:
            self.loader = DataLoader(TensorDataset(x, y), cfg.batch, shuffle=CASE != 4, drop_last=True)
        self.val = val
        self.optimizer = self.configure_optimizer()
        total = cfg.epochs * len(self.loader)
        warm = 20
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda s: min(1., (s + 1) / warm) * (.05 + .95 * .5 * (1 + math.cos(math.pi * min(1., s / total)))))

    def configure_optimizer(self):
        p = self.model.parameters()
        if self.cfg.optim == "sgd":
            return torch.optim.SGD(p, lr=self.cfg.lr, momentum=self.cfg.momentum)
        return torch.optim.AdamW(p, lr=self.cfg.lr, weight_decay=0.02)

    def step(self, x, y):
        if self.cfg.jitter:
            x = x * (1 + self.cfg.jitter * (torch.rand(len(x), 1, 6) - .5)) + self.cfg.jitter * torch.randn(len(x), 1, 6) \
                + .6 * self.cfg.jitter * torch.randn_like(x)
        loss = self.criterion(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        if self.cfg.clip > 0:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.cfg.clip)
        self.optimizer.step()
        if CASE == 9:
            lr = self.optimizer.param_groups[0]["lr"]
            self.optimizer = self.configure_optimizer()
            self.scheduler.optimizer = self.optimizer
            self.optimizer.param_groups[0].update(lr=lr, initial_lr=self.cfg.lr)
        self.scheduler.step()
        return loss.item()

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        pred = torch.cat([self.model(b) for b in self.val[0].split(64)]).argmax(1)
        y = self.val[1]
        recall = [(pred[y == k] == k).float().mean().item() for k in range(5) if (y == k).any()]
        return (pred == y).float().mean().item(), float(np.mean(recall))

    def fit(self):
        per_epoch = len(self.loader)
        for epoch in range(self.cfg.epochs):
            self.model.train()
            total = 0.0
            for _ in range(per_epoch) if CASE == 4 else [0]:
                batches = [next(iter(self.loader))] if CASE == 4 else self.loader
                for x, y in batches:
                    total += self.step(x, y)
            acc, bal = self.validate()
            if epoch % 2 == 1 or epoch == self.cfg.epochs - 1:
                log.info("epoch %2d  loss %.4f  val acc %.3f  mean recall %.3f", epoch + 1, total / per_epoch, acc, bal)
        return bal


def main():
    torch.manual_seed(SEED)
    cfg = Config(**CONFIGS.get(CASE, {}))
    x, y, rec = load()
    scores = []
    for fold in range(cfg.folds):
        if CASE == 5:
            held = np.zeros(len(y), bool)
            held[np.random.default_rng(SEED).permutation(len(y))[:len(y) // 4]] = True
        else:
            held = rec % 4 == fold
        mu, sd = x[~held].mean((0, 1)), x[~held].std((0, 1))
        z = torch.from_numpy((x - mu) / sd)
        t = torch.from_numpy(y)
        trainer = Trainer(cfg, (z[~held], t[~held]), (z[held], t[held]))
        scores.append(trainer.fit())
        log.info("fold %d: mean recall %.3f", fold, scores[-1])
    log.info("mean recall over %d fold(s): %.3f", len(scores), np.mean(scores))


if __name__ == "__main__":
    main()
