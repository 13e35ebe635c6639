"""Small noisy data set (protein solubility): early stopping with patience, the best weights are loaded back for the final test."""
import copy
import os
import tempfile
import numpy as np
import torch
import torch.nn as nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))


class EarlyStopping:
    def __init__(self, path, patience=12, delta=1e-4):
        self.path, self.patience, self.delta = path, patience, delta
        self.best, self.bad, self.stop = float("inf"), 0, False

    def step(self, value, model):
        if value < self.best - self.delta:
            self.best, self.bad = value, 0
            torch.save(model.state_dict(), self.path)
            return True
        self.bad += 1
        self.stop = self.bad >= self.patience
        return False


def proteins(n, rng):
    comp = rng.dirichlet(np.full(20, 2.0), n)
    length = rng.lognormal(5.4, .5, n)
    hyd = comp @ np.linspace(-2, 2, 20)
    z = -3.5 * hyd - .8 * (np.log(length) - 5.4) + 6 * comp[:, 3] * (hyd < 0) + 2.5 * (comp[:, 7] > .06) - 1
    y = (z + rng.logistic(0, .5, n) > 0).astype(np.float32)
    return np.c_[comp, np.log(length)].astype(np.float32), y


def run():
    rng = np.random.default_rng(SEED + 8)
    torch.manual_seed(SEED)
    (xa, ya), (xv, yv), (xt, yt) = proteins(800, rng), proteins(500, rng), proteins(1000, rng)
    mu, sd = xa.mean(0), xa.std(0)
    f = lambda a: torch.from_numpy((a - mu) / sd)
    xa, xv, xt = f(xa), f(xv), f(xt)
    ya, yv, yt = map(torch.from_numpy, (ya, yv, yt))
    model = nn.Sequential(nn.Linear(21, 64), nn.ReLU(), nn.Dropout(.4), nn.Linear(64, 32), nn.ReLU(), nn.Dropout(.3), nn.Linear(32, 1))
    opt = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-3)
    bce = nn.BCEWithLogitsLoss()
    with tempfile.TemporaryDirectory() as d:
        es = EarlyStopping(os.path.join(d, "best.pt"))
        for epoch in range(1, 101):
            model.train()
            tot = 0.
            for idx in torch.randperm(len(xa)).split(40):
                opt.zero_grad()
                loss = bce(model(xa[idx])[:, 0], ya[idx])
                loss.backward()
                opt.step()
                tot += loss.item() * len(idx)
            model.eval()
            with torch.no_grad():
                z = model(xv)[:, 0]
                vl, va = bce(z, yv).item(), ((z > 0) == (yv > 0)).float().mean().item()
            mark = "*" if es.step(vl, model) else ""
            print(f"epoch {epoch:3d} train {tot / len(xa):.4f} val {vl:.4f} acc {va:.3f} {mark}")
            if es.stop:
                print("no improvement for", es.patience, "epochs, stopping")
                break
        model.load_state_dict(torch.load(es.path))
    model.eval()
    with torch.no_grad():
        z = model(xt)[:, 0]
        print(f"test with the best weights: loss {bce(z, yt):.4f} acc {((z > 0) == (yt > 0)).float().mean():.4f} (majority {max(yt.mean(), 1 - yt.mean()):.3f})")


run()
