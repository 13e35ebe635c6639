"""Grade green coffee beans (5 grades) from 14 measurements of the sorting line."""
import os
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED + 11)

GRADES = ["AA", "AB", "C", "PB", "reject"]
PRIOR = np.array([0.30, 0.27, 0.20, 0.13, 0.10])


def make_beans(n, rng):
    """every grade is a mixture of a few origins; sensors see a warped, noisy version"""
    g = np.random.default_rng(77)
    centres = g.normal(0, 1.25, (5, 3, 8))
    mix = g.normal(0, 0.6, (8, 14))
    y = rng.choice(5, n, p=PRIOR)
    origin = rng.integers(0, 3, n)
    z = centres[y, origin] + rng.normal(0, 0.95, (n, 8))
    x = z @ mix + 0.35 * np.sin(2 * z[:, :1]) + rng.normal(0, 0.35, (n, 14))
    x[:, 3] = np.exp(0.5 * x[:, 3])
    x[:, 9] = 40 + 12 * x[:, 9]
    return x.astype(np.float32), y.astype(np.int64)


def build(hidden=96, p=0.15):
    return nn.Sequential(
        nn.Linear(14, hidden), nn.ReLU(), nn.Dropout(p),
        nn.Linear(hidden, hidden), nn.ReLU(), nn.Dropout(p),
        nn.Linear(hidden, 5),
    )


def shuffled(a):
    return a[rng.permutation(len(a))]


def epoch_arrays(x, y):
    if CASE == 4:
        return shuffled(x), shuffled(y)
    order = rng.permutation(len(x))
    return x[order], y[order]


def criterion(logits, target):
    return F.nll_loss(F.log_softmax(logits, dim=1), target)


@torch.no_grad()
def score(net, x, y):
    net.eval()
    out = net(torch.from_numpy(x))
    loss = F.cross_entropy(out, torch.from_numpy(y)).item()
    pred = out.argmax(1).numpy()
    recalls = [float((pred[y == c] == c).mean()) for c in range(5)]
    return loss, float((pred == y).mean()), recalls


def single_run():
    x, y = make_beans(6000, rng)
    cut = 4800
    mean, std = x[:cut].mean(0), x[:cut].std(0)
    x = (x - mean) / std
    xtr, ytr, xva, yva = x[:cut], y[:cut], x[cut:], y[cut:]
    net = build(p=0.92 if CASE == 1 else 0.15)
    opt = torch.optim.Adam(net.parameters(), lr=2e-3, weight_decay=0.3 if CASE == 2 else 1e-5)
    bs, step = 64, 0
    for epoch in range(14):
        net.train()
        xs, ys = epoch_arrays(xtr, ytr)
        total = 0.0
        for i in range(0, len(xs) - bs + 1, bs):
            xb, yb = torch.from_numpy(xs[i:i + bs]), torch.from_numpy(ys[i:i + bs])
            opt.zero_grad()
            loss = criterion(net(xb), yb)
            if CASE == 5:
                loss.backward
            else:
                loss.backward()
            opt.step()
            total += loss.item()
            step += 1
        vl, va, rec = score(net, xva, yva)
        print(f"epoch {epoch + 1:2d} step {step} train loss {total / (len(xs) // bs):.4f} "
              f"val loss {vl:.4f} val acc {va:.3f}")
    print("recall per grade:", " ".join(f"{g}={r:.2f}" for g, r in zip(GRADES, rec)))


def cross_validation(folds=4):
    """balanced weights, smoothed labels, linear warm-up; a fresh net for every fold"""
    x, y = make_beans(4000, rng)
    part = rng.integers(0, folds, len(x))
    accs = []
    for k in range(folds):
        tr, va = part != k, part == k
        m, s = x[tr].mean(0), x[tr].std(0)
        xt, yt = torch.from_numpy((x[tr] - m) / s), torch.from_numpy(y[tr])
        w = len(yt) / (5 * torch.bincount(yt, minlength=5).float())
        ce = nn.CrossEntropyLoss(weight=w, label_smoothing=0.1)
        net = build(hidden=128, p=0.4)
        opt = torch.optim.SGD(net.parameters(), lr=0.08, momentum=0.9, nesterov=True, weight_decay=1e-4)
        warm = torch.optim.lr_scheduler.LambdaLR(opt, lambda t: min(1.0, (t + 1) / 80))
        for epoch in range(9):
            net.train()
            run = 0.0
            chunks = torch.randperm(len(xt)).split(48)
            for idx in chunks:
                loss = ce(net(xt[idx]), yt[idx])
                opt.zero_grad(set_to_none=True)
                loss.backward()
                opt.step()
                warm.step()
                run += loss.item()
            if epoch % 4 == 0:
                print(f"fold {k} epoch {epoch} loss {run / len(chunks):.4f}")
        vl, acc, rec = score(net, (x[va] - m) / s, y[va])
        accs.append(np.mean(rec))
        print(f"fold {k}: acc {acc:.3f} balanced acc {accs[-1]:.3f}")
    print(f"balanced accuracy {np.mean(accs):.3f} +- {np.std(accs):.3f}")


if __name__ == "__main__":
    if CASE == 3:
        cross_validation()
    else:
        single_run()
