"""
Tiles out of ten kilns: shrinkage [%], breaking strength [MPa] and glaze tone from 14 process values.
One trunk, three heads, my own robust losses.
"""
import copy
import os

import numpy as np
import torch
from torch import nn

CASE, SEED = int(os.environ.get("CASE", "0")), int(os.environ.get("SEED", "0"))
TARGETS = ["shrinkage", "strength", "tone"]
BATCH = 40
EPOCHS = 16


def simulate(n, seed):
    g = np.random.default_rng(seed)
    fixed = np.random.default_rng(99)
    shift = fixed.normal(0, .7, (10, 14))
    kiln = np.sort(g.integers(0, 10, n))
    x = g.normal(0, 1, (n, 14)) + shift[kiln]
    w = fixed.normal(0, .5, (14, 6))
    h = np.tanh(x @ w)
    a = h[:, 0] + .8 * h[:, 1] * h[:, 2] + .4 * x[:, 3]
    b = h[:, 3] * 1.1 - .9 * h[:, 0] * h[:, 4] + .5 * np.abs(x[:, 5]) - .3 * x[:, 6]
    c = np.sin(1.3 * x[:, 7]) * .8 + h[:, 5] - .6 * h[:, 2] * h[:, 4]
    y = np.stack([a, b, c], 1)
    y += g.normal(0, .3, y.shape) * (1 + .5 * (x[:, [8]] > 1))
    bad = g.random(n) < .02                                     # broken gauge
    y[bad, 1] += g.choice([-6, 6], bad.sum())
    y = y * [1.1, 9.0, .08] + [7.5, 42., .45]
    seen = g.random((n, 3)) < ([1., .7, .4] if CASE == 2 else [1., 1., 1.])
    return x.astype(np.float32), y.astype(np.float32), seen.astype(np.float32), kiln


class Trunk(nn.Module):
    def __init__(self, width=64, p=.1, outputs=1):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(14, width), nn.BatchNorm1d(width), nn.ReLU())
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(p), nn.Linear(width, width))
            for _ in range(2))
        self.heads = nn.ModuleDict({t: nn.Linear(width, outputs) for t in TARGETS})
        self.log_var = nn.Parameter(torch.zeros(3))

    def forward(self, x):
        h = self.trunk(x)
        for b in self.blocks:
            h = h + b(h)
        return {t: head(torch.relu(h)) for t, head in self.heads.items()}


def huber(pred, y, delta=1.):
    e = (pred - y).abs()
    return torch.where(e < delta, .5 * e ** 2, delta * (e - .5 * delta))


def pinball(pred, y, q):
    e = y - pred
    return torch.maximum(q * e, (q - 1) * e)


def target_losses(model, out, y, seen):
    """a list with one scalar a target"""
    losses = []
    for k, t in enumerate(TARGETS):
        if CASE == 5:                                           # three quantiles each
            qs = torch.tensor([.1, .5, .9])
            losses.append(pinball(out[t], y[:, [k]], qs).sum(1).mean())
            continue
        pred = out[t] if CASE == 1 and k == 2 else out[t].squeeze(1)
        e = huber(pred, y[:, k])
        if CASE == 2:
            m = (e * seen[:, k]).sum() / seen[:, k].sum().clamp(min=1)
            losses.append(m * torch.exp(-model.log_var[k]) + .5 * model.log_var[k])
        elif CASE == 6:
            losses.append(e.sum() / 2000)
        elif CASE == 7:
            losses.append(e.sum())
        else:
            losses.append(e.mean())
    return losses


def make_optimizer(model, steps):
    if CASE in (6, 7):
        opt = torch.optim.SGD(model.parameters(), lr=.04 / (BATCH if CASE == 7 else 1), momentum=.9, nesterov=True)
    else:
        decay = [p for n, p in model.named_parameters() if n.endswith("weight") and p.dim() > 1]
        if CASE == 9:
            decay = [p for n, p in model.named_parameters() if n.endswith("weight") and n.split(".")[0] in ("trunk", "heads")]
        rest = [p for n, p in model.named_parameters() if p.dim() == 1 and not any(p is q for q in decay)]
        opt = torch.optim.AdamW([{"params": decay, "weight_decay": .01}, {"params": rest, "weight_decay": 0.}], lr=2e-3)
    return opt, torch.optim.lr_scheduler.CosineAnnealingLR(opt, steps, eta_min=opt.param_groups[0]["lr"] * .02)


def point(out):
    return torch.stack([out[t][:, 1 if out[t].shape[1] == 3 else 0] for t in TARGETS], 1)


def predict(models, x, kiln):
    """kiln by kiln, as the plant does it"""
    res = np.zeros((len(x), 3))
    with torch.no_grad():
        for k in range(10):
            rows = np.flatnonzero(kiln == k)
            for m in models:
                if CASE != 8:
                    m.eval()
                res[rows] += point(m(x[rows])).numpy() / len(models)
    return res


def scores(p, y):
    """robust R2 (median based) and usual R2 for each target"""
    ok = np.abs(y - np.median(y, 0)) < 4 * y.std(0)
    return [1 - ((p[:, k] - y[:, k])[ok[:, k]] ** 2).mean() / y[ok[:, k], k].var() for k in range(3)]


def train(x, y, seen, kiln, val, mu, sd, tag=""):
    model = Trunk(outputs=3 if CASE == 5 else 1, p=.3 if CASE in (0, 8) else .1)
    steps = EPOCHS * (len(x) // BATCH)
    opt, sched = make_optimizer(model, steps)
    if CASE == 10:
        average = [p.detach() for p in model.parameters()]
    elif CASE == 11:
        average = [p.detach().clone() for p in model.parameters()]
    for epoch in range(EPOCHS):
        model.train()
        perm = torch.randperm(len(x))
        tot = np.zeros(3)
        for i in range(0, len(x) - BATCH + 1, BATCH):
            idx = perm[i:i + BATCH]
            out = model(x[idx])
            losses = target_losses(model, out, y[idx], seen[idx])
            if CASE in (3, 11):
                for k, l in enumerate(losses):                  # one target after another
                    if CASE == 3 or k == 0:
                        opt.zero_grad()
                    l.backward(retain_graph=k < 2)
            else:
                opt.zero_grad()
                sum(losses).backward()
            opt.step()
            sched.step()
            if CASE in (10, 11):
                with torch.no_grad():
                    for a, p in zip(average, model.parameters()):
                        a.mul_(.9).add_(p, alpha=.1)
            tot += [l.item() for l in losses]
        if epoch % 4 == 3:
            p = predict([model], val[0], val[2]) * sd + mu
            print(tag + f"epoch {epoch + 1:2d} losses " + " ".join(f"{v:.4f}" for v in tot / (len(x) // BATCH))
                  + "  val R2 " + " ".join(f"{t} {s:.3f}" for t, s in zip(TARGETS, scores(p, val[1]))), flush=True)
    if CASE in (10, 11):
        final = copy.deepcopy(model)
        with torch.no_grad():
            for p, a in zip(final.parameters(), average):
                p.copy_(a)
        return final
    return model


if __name__ == "__main__":
    torch.manual_seed(SEED)
    x, y, seen, kiln = simulate(2000, SEED + 1)
    xv, yv, _, kv = simulate(500, SEED + 1001)
    xt, yt, _, kt = simulate(1000, SEED + 2001)
    m, s = x.mean(0), x.std(0)
    x, xv, xt = (torch.from_numpy((a - m) / s) for a in (x, xv, xt))
    mu, sd = np.median(y, 0), y.std(0)
    if CASE == 4:
        mu, sd = np.zeros(3, np.float32), np.ones(3, np.float32)
    z, seen = torch.from_numpy((y - mu) / sd), torch.from_numpy(seen)
    models = []
    if CASE == 7:                                               # bagging
        for r in range(2):
            pick = torch.randint(0, len(x), (len(x),))
            models.append(train(x[pick], z[pick], seen[pick], kiln[pick.numpy()], (xv, yv, kv), mu, sd, f"bag {r} "))
    else:
        models.append(train(x, z, seen, kiln, (xv, yv, kv), mu, sd))
    p = predict(models, xt, kt) * sd + mu
    print("test R2: " + "  ".join(f"{t} {v:.3f}" for t, v in zip(TARGETS, scores(p, yt))))
