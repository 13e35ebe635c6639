"""Rent of flats from a table: categorical columns through embeddings, numbers scaled, one output.
No Dataset class, mini-batches are slices of a permutation."""
import os
import time

import numpy as np
import torch
import torch.nn as nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
np.random.seed(SEED)
torch.manual_seed(SEED)

N_TRAIN, N_TEST = 3000, 800
CARDS = {"district": 24, "kind": 6, "heating": 4, "agency": 40}


def load_table(n, rng, world):
    cat = np.stack([rng.integers(0, c, n) for c in CARDS.values()], 1)
    area = rng.gamma(6.0, 12.0, n) + 15
    year = rng.integers(1890, 2022, n).astype(float)
    floor = rng.integers(0, 12, n).astype(float)
    dist = rng.exponential(4000.0, n)
    num = np.stack([area, year, floor, dist], 1)
    sqm = 11 + world["district"][cat[:, 0]] + world["kind"][cat[:, 1]] - 1.8 * np.log1p(dist / 1500)
    sqm = sqm + 1.4 * np.cos((year - 1890) / 30.0) + 0.12 * floor * (cat[:, 1] % 2)
    rent = area * sqm.clip(3) + world["heating"][cat[:, 2]] * 30 + rng.normal(0, 30, n)
    return cat, num, rent


def make_data():
    rng = np.random.default_rng(SEED + 100)
    world = {k: rng.normal(0, 2.0, c) for k, c in CARDS.items()}
    return load_table(N_TRAIN, rng, world), load_table(N_TEST, rng, world)


class FlatNet(nn.Module):
    def __init__(self, hidden=(64, 32), norm=True, act=nn.ReLU, drop=0.0):
        super().__init__()
        self.embeds = nn.ModuleList([nn.Embedding(c, min(8, (c + 1) // 2)) for c in CARDS.values()])
        width = sum(e.embedding_dim for e in self.embeds) + 4
        layers = []
        for h in hidden:
            layers.append(nn.Linear(width, h))
            if norm:
                layers.append(nn.BatchNorm1d(h))
            if CASE != 10:
                layers.append(act())
            if drop:
                layers.append(nn.Dropout(drop))
            width = h
        self.body = nn.Sequential(*layers)
        self.out = nn.Linear(width, 1)

    def forward(self, cat, num):
        e = torch.cat([emb(cat[:, i]) for i, emb in enumerate(self.embeds)], 1)
        y = self.out(self.body(torch.cat([e, num], 1)))
        return y if CASE == 5 else y.squeeze(1)


def rmse(model, cat, num, rent, unscale):
    model.eval()
    with torch.no_grad():
        p = unscale(model(cat, num).reshape(-1))
    model.train()
    return ((p - rent) ** 2).mean().sqrt().item()


def run():
    (cat, num, rent), (tcat, tnum, trent) = make_data()
    mu, sd = num.mean(0), num.std(0)
    if CASE == 7:
        mu, sd = np.zeros(4), np.ones(4)
    num, tnum = (num - mu) / sd, (tnum - mu) / sd
    ym, ys = rent.mean(), rent.std()
    if CASE == 6:
        ym, ys = 0.0, 1.0
    target = (rent - ym) / ys
    if CASE == 3:
        # a few contracts with typing errors, handled by a robust loss
        wrong = np.random.choice(N_TRAIN, 60, replace=False)
        target[wrong] = target[wrong] + np.random.choice([-1, 1], 60) * 8
    as_t = lambda a: torch.tensor(a, dtype=torch.float32)
    cat, tcat = torch.tensor(cat), torch.tensor(tcat)
    num, tnum, target, trent = as_t(num), as_t(tnum), as_t(target), as_t(trent)
    unscale = lambda p: p * ys + ym

    kw = dict()
    if CASE in (7, 8):
        kw["norm"] = False
    if CASE == 2:
        kw.update(norm=False, act=nn.SiLU)
    model = FlatNet(**kw)
    loss_fn = nn.SmoothL1Loss() if CASE == 3 else nn.MSELoss()
    epochs, bs, lr = 18, 100, 5e-3
    if CASE == 1:
        bs = 32
        epochs = 14
    steps = (N_TRAIN + bs - 1) // bs
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    per_step = True
    plateau = sched = None
    use_cycle = CASE not in (1, 2, 4, 8, 9)
    if CASE == 1:
        opt = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9)
        sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=2 * steps, T_mult=2)
    elif CASE == 2:
        opt = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-2)
        plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.3, patience=1)
    elif CASE == 4:
        sched = torch.optim.lr_scheduler.MultiStepLR(opt, [10, 14, 16], gamma=0.3)
        per_step = False
    elif CASE == 9:
        sched = torch.optim.lr_scheduler.StepLR(opt, step_size=5, gamma=0.5)
    elif CASE == 8:
        opt = torch.optim.SGD(model.parameters(), lr=1e-5, momentum=0.9)
    elif CASE == 11:
        opt = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=5.0)

    if use_cycle:
        sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=lr, total_steps=epochs * steps)
    base = ((trent - trent.mean()) ** 2).mean().sqrt().item()
    print(f"mean predictor rmse {base:.1f}")
    t0, best = time.time(), float("inf")
    for ep in range(epochs):
        perm = torch.randperm(N_TRAIN)
        acc = 0.0
        for s in range(0, N_TRAIN, bs):
            i = perm[s:s + bs]
            pred = model(cat[i], num[i])
            loss = loss_fn(pred, target[i])
            opt.zero_grad()
            loss.backward()
            opt.step()
            if sched is not None and per_step:
                sched.step()
            acc += loss.item() * len(i)
        if sched is not None and not per_step:
            sched.step()
        r = rmse(model, tcat, tnum, trent, unscale)
        if plateau is not None:
            plateau.step(r)
        best = min(best, r)
        if ep % 4 == 0 or ep == epochs - 1:
            print(f"ep {ep:3d} loss {acc / N_TRAIN:.4f} test rmse {r:.1f} lr {opt.param_groups[0]['lr']:.2e} ({time.time() - t0:.0f}s)")
    print(f"best rmse {best:.1f}  final {r:.1f}  of mean predictor {base:.1f}")


if __name__ == "__main__":
    import warnings
    warnings.filterwarnings("ignore")
    run()
