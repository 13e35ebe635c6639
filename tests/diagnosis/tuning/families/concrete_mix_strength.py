"""Predict 28-day compressive strength (kPa) of concrete from the mix sheet."""
import os
import math
import numpy as np
import torch
from torch import nn
from torch.optim.lr_scheduler import ExponentialLR

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(100 + SEED)
torch.manual_seed(SEED)


def make_mixes(n, plants):
    cement = rng.uniform(180, 520, n)
    slag = np.where(rng.random(n) < 0.5, rng.uniform(0, 220, n), 0.0)
    flyash = np.where(rng.random(n) < 0.4, rng.uniform(0, 160, n), 0.0)
    water = rng.uniform(130, 230, n)
    plast = np.where(rng.random(n) < 0.7, rng.gamma(4.0, 2.0, n), 0.0)
    coarse = rng.normal(970, 75, n)
    fine = rng.normal(770, 80, n)
    temp = rng.normal(17, 7, n)
    plant = rng.integers(0, len(plants), n)
    binder = cement + 0.75 * slag + 0.45 * flyash
    wb = water * (1 - 0.012 * np.minimum(plast, 14)) / binder
    s = 92000 * np.exp(-2.3 * wb)
    s = s * (1 - 0.006 * np.abs(temp - 20)) + 5000 * np.tanh((coarse / fine - 1.25) * 3)
    s = s + plants[plant] + rng.normal(0, 3600, n)
    X = np.stack([cement, slag, flyash, water, plast, coarse, fine, temp], 1)
    return X.astype(np.float32), plant, np.maximum(s, 2000).astype(np.float32)


def plant_means(plant, y, n_plants, smooth=1.0):
    prior = y.mean()
    out = np.full(n_plants, prior, dtype=np.float32)
    for p in np.unique(plant):
        m = plant == p
        out[p] = (y[m].sum() + smooth * prior) / (m.sum() + smooth)
    return out


def mlp(d, out=1, width=64):
    return nn.Sequential(nn.Linear(d, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
                         nn.Linear(width, out))


def r2(p, t):
    return 1.0 - ((p - t) ** 2).sum() / ((t - t.mean()) ** 2).sum()


def batches(n, bs, generator):
    order = torch.randperm(n, generator=generator)
    for i in range(0, n - bs + 1, bs):
        yield order[i:i + bs]


def single_split():
    n_plants = 900 if CASE in (2, 6) else 24
    plants = rng.normal(0, 3500, n_plants)
    X, plant, y = make_mixes(2600, plants)
    idx = rng.permutation(len(X))
    tr, va = idx[:2000], idx[2000:]

    # historical mean strength of the plant is a feature of the sheet
    if CASE == 2:
        hist = plant_means(plant, y, n_plants)
    else:
        hist = plant_means(plant[tr], y[tr], n_plants)
    feats = np.concatenate([X, hist[plant][:, None]], 1)
    mu, sd = feats[tr].mean(0), feats[tr].std(0)
    feats = torch.from_numpy((feats - mu) / sd)
    scale = (0.0, 1.0) if CASE == 4 else (float(y[tr].mean()), float(y[tr].std()))
    t = torch.from_numpy((y - scale[0]) / scale[1])

    net = mlp(feats.shape[1])
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    sched = ExponentialLR(opt, gamma=0.94)
    g = torch.Generator().manual_seed(SEED)
    xtr, ttr = feats[tr], t[tr]
    xva = feats[va]
    step = 0
    for epoch in range(40):
        net.train()
        run = []
        for b in batches(len(tr), 64, g):
            pred = net(xtr[b])
            target = ttr[b]
            if CASE != 1:
                pred = pred[:, 0]
            err = pred - target
            loss = (err ** 2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            if CASE == 3:
                sched.step()
            step += 1
            run.append(loss.item())
            if step % 100 == 0:
                print(f"step {step} loss {loss.item():.4f}")
        if CASE != 3:
            sched.step()
        net.eval()
        with torch.no_grad():
            p = net(xva)[:, 0].numpy() * scale[1] + scale[0]
        print(f"epoch {epoch + 1} train {np.mean(run):.4f} val MAE {np.abs(p - y[va]).mean():.0f} kPa  R2 {r2(p, y[va]):.3f}")

    # the sheets of the next month
    Xn, pn, yn = make_mixes(800, plants)
    fn = torch.from_numpy((np.concatenate([Xn, hist[pn][:, None]], 1) - mu) / sd)
    with torch.no_grad():
        p = net(fn)[:, 0].numpy() * scale[1] + scale[0]
    print(f"next month: MAE {np.abs(p - yn).mean():.0f} kPa  R2 {r2(p, yn):.3f}")


def five_folds():
    """Mean and spread for each mix, five folds, out-of-fold coverage at the end."""
    plants = rng.normal(0, 3500, 24)
    X, plant, y = make_mixes(2200, plants)
    onehot = np.eye(24, dtype=np.float32)[plant]
    folds = np.array_split(rng.permutation(len(X)), 5)
    oof_mu, oof_sd = np.zeros(len(X)), np.zeros(len(X))
    for k, va in enumerate(folds):
        tr = np.concatenate([f for j, f in enumerate(folds) if j != k])
        mu, sd = X[tr].mean(0), X[tr].std(0)
        Z = torch.from_numpy(np.concatenate([(X - mu) / sd, onehot], 1))
        ym, ys = y[tr].mean(), y[tr].std()
        T = torch.from_numpy((y - ym) / ys)
        torch.manual_seed(SEED * 10 + k)
        net = mlp(Z.shape[1], out=2, width=48)
        opt = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=1e-3)
        g = torch.Generator().manual_seed(k)
        for epoch in range(10):
            tot, nb = 0.0, 0
            for b in batches(len(tr), 64, g):
                i = tr[b.numpy()]
                m, logv = net(Z[i]).unbind(1)
                logv = logv.clamp(-6, 3)
                nll = 0.5 * (logv + (T[i] - m) ** 2 / logv.exp())
                nll = nll.mean()
                opt.zero_grad(set_to_none=True)
                nll.backward()
                opt.step()
                tot, nb = tot + nll.item(), nb + 1
            if epoch % 5 == 4:
                print(f"fold {k} epoch {epoch + 1} nll {tot / nb:.4f}")
        with torch.no_grad():
            m, logv = net(Z[va]).unbind(1)
        oof_mu[va] = m.numpy() * ys + ym
        oof_sd[va] = np.exp(0.5 * logv.clamp(-6, 3).numpy()) * ys
        print(f"fold {k} R2 {r2(oof_mu[va], y[va]):.3f}")
    inside = np.abs(y - oof_mu) < 1.645 * oof_sd
    print(f"out of fold: R2 {r2(oof_mu, y):.3f}, 90% interval holds {inside.mean():.3f}")


if __name__ == "__main__":
    if CASE == 5:
        five_folds()
    else:
        single_split()
