"""Heart beat classification on short single-lead windows (5 beat types)."""
import os
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)
torch.set_num_threads(1)

BEATS = ["N", "L", "V", "A", "P"]
LEN = 96


def bump(t, c, w, a):
    return a * np.exp(-0.5 * ((t - c) / w) ** 2)


def one_beat(kind, rng):
    t = np.linspace(0, 1, LEN)
    j = rng.normal(0, 0.012, 3)
    p, q, r, s, tw = 0.15, -0.15, 1.0, -0.25, 0.3
    width, pc = 0.022, 0.25
    if kind == 1:
        width, s = 0.045, -0.05
    elif kind == 2:
        width, p, r, tw = 0.06, 0.0, 1.2, -0.35
    elif kind == 3:
        pc, p = 0.33, 0.10
    elif kind == 4:
        p, q, r, width = 0.0, 0.5, 0.8, 0.04
    x = bump(t, pc + j[0], 0.03, p) + bump(t, 0.44 + j[1], 0.015, q)
    x += bump(t, 0.5 + j[1], width, r) + bump(t, 0.56 + j[1], 0.02, s)
    x += bump(t, 0.75 + j[2], 0.06, tw)
    x = x * rng.uniform(0.8, 1.25) + rng.normal(0, 0.06, LEN)
    x += 0.1 * np.sin(2 * np.pi * (t * rng.uniform(0.3, 1.0) + rng.uniform()))
    return x


def recordings(n, rng, freq):
    y = rng.choice(5, size=n, p=freq)
    x = np.stack([one_beat(k, rng) for k in y])
    x = 512 + 180 * x          # raw ADC counts
    return x.astype(np.float32), y.astype(np.int64)


class Block(nn.Module):
    def __init__(self, cin, cout, momentum):
        super().__init__()
        self.conv = nn.Conv1d(cin, cout, 5, padding=2)
        self.bn = nn.BatchNorm1d(cout, momentum=momentum)

    def forward(self, x):
        return F.max_pool1d(F.relu(self.bn(self.conv(x))), 2)


class BeatNet(nn.Module):
    def __init__(self, momentum=0.1, probs=False):
        super().__init__()
        self.features = nn.Sequential(Block(1, 16, momentum), Block(16, 24, momentum), Block(24, 32, momentum))
        self.drop = nn.Dropout(0.2)
        self.head = nn.Linear(32 * (LEN // 8), 5)
        self.probs = probs

    def forward(self, x):
        h = self.features(x.unsqueeze(1)).flatten(1)
        out = self.head(self.drop(h))
        return F.softmax(out, dim=1) if self.probs else out


class Trainer:
    def __init__(self, model, opt, train_dl, val_dl, sched=None, weight=None, accum=1, clip=None,
                 smoothing=0.0, bf16=False, per_batch=False, mode_each_epoch=True):
        self.model, self.opt, self.train_dl, self.val_dl = model, opt, train_dl, val_dl
        self.sched, self.accum, self.clip, self.bf16 = sched, accum, clip, bf16
        self.per_batch, self.mode_each_epoch = per_batch, mode_each_epoch
        self.crit = nn.CrossEntropyLoss(weight=weight, label_smoothing=smoothing)

    def validate(self):
        self.model.eval()
        hit, tot = np.zeros(5), np.zeros(5)
        with torch.no_grad():
            for x, y in self.val_dl:
                p = self.model(x).argmax(1)
                for k in range(5):
                    hit[k] += ((p == k) & (y == k)).sum().item()
                    tot[k] += (y == k).sum().item()
        return hit.sum() / tot.sum(), np.mean(hit / np.maximum(tot, 1))

    def fit(self, epochs):
        self.model.train()
        for ep in range(epochs):
            if self.mode_each_epoch:
                self.model.train()
            total, n = 0.0, 0
            self.opt.zero_grad()
            for i, (x, y) in enumerate(self.train_dl):
                with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.bf16):
                    loss = self.crit(self.model(x), y)
                (loss / self.accum).backward()
                if (i + 1) % self.accum == 0:
                    if self.clip:
                        nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
                    self.opt.step()
                    self.opt.zero_grad()
                    if self.sched is not None and self.per_batch:
                        self.sched.step()
                total += loss.item()
                n += 1
            if self.sched is not None and not self.per_batch:
                self.sched.step()
            acc, bal = self.validate()
            print(f"epoch {ep} loss {total / n:.4f} val_acc {acc:.3f} balanced {bal:.3f}")


def main():
    rng = np.random.default_rng(SEED + 11)
    freq = [0.6, 0.12, 0.12, 0.08, 0.08]
    xtr, ytr = recordings(2400, rng, freq)
    xva, yva = recordings(600, rng, freq)
    mean, std = xtr.mean(), xtr.std()
    xtr = (xtr - mean) / std
    if CASE != 4:
        xva = (xva - mean) / std
    else:
        xva = xva / 1024.0

    if CASE == 8:
        order = rng.permutation(len(xtr))
        xtr = xtr[order]
    xtr, ytr, xva, yva = map(torch.from_numpy, (xtr, ytr, xva, yva))

    bs, epochs = 32, 6
    sampler, weight = None, None
    if CASE == 0:
        counts = torch.bincount(ytr, minlength=5).float()
        sampler = WeightedRandomSampler((1.0 / counts)[ytr], len(ytr))
    if CASE == 5:
        counts = torch.bincount(ytr, minlength=5).float()
        weight = counts.sum() / (5 * counts)
        bs, epochs = 8, 3
    train_dl = DataLoader(TensorDataset(xtr, ytr), batch_size=bs, shuffle=sampler is None, sampler=sampler)
    val_dl = DataLoader(TensorDataset(xva, yva), batch_size=200)

    model = BeatNet(momentum=1e-5 if CASE == 3 else 0.1, probs=(CASE == 1))

    if CASE == 9:
        # features come from an earlier study, only the classifier is fitted here
        warm = torch.optim.Adam(model.parameters(), lr=2e-3)
        Trainer(model, warm, train_dl, val_dl).fit(3)
        for p in model.features.parameters():
            p.requires_grad_(False)
        model.features.eval()
        model.head.reset_parameters()
        opt = torch.optim.Adam(model.head.parameters(), lr=2e-3)
        Trainer(model, opt, train_dl, val_dl).fit(4)
        return

    opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4)
    kw = {}
    if CASE == 2:
        opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        kw = dict(sched=torch.optim.lr_scheduler.OneCycleLR(opt, 0.08, total_steps=epochs * len(train_dl), pct_start=0.4),
                  per_batch=True, clip=0.5)
    elif CASE == 6:
        kw = dict(sched=torch.optim.lr_scheduler.StepLR(opt, step_size=2, gamma=0.5), per_batch=True)
    elif CASE == 7:
        kw = dict(mode_each_epoch=False)
    elif CASE == 10:
        model.features = nn.Sequential(Block(1, 16, 0.1), Block(16, 24, 0.1), Block(24, 32, 0.1))
        model.head = nn.Linear(32 * (LEN // 8), 5)
    elif CASE == 11:
        opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
        kw = dict(accum=4, smoothing=0.1, bf16=True)
        epochs = 4
    else:
        kw = dict(sched=torch.optim.lr_scheduler.StepLR(opt, step_size=4, gamma=0.3))
    if weight is not None:
        kw["weight"] = weight
    Trainer(model, opt, train_dl, val_dl, **kw).fit(epochs)


main()
