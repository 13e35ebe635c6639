"""Pollen images. Pretraining on 8 common species, then fine-tuning on 4 rare ones with 40 images each: first the head alone, then everything with a small rate for the body."""
import os
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED + 21)
spec = np.random.default_rng(5)
# lobes, lobe depth, radius, ring frequency
SPECIES = [(int(l), float(d), float(r), float(f)) for l, d, r, f in zip([0, 3, 4, 5, 0, 3, 6, 4, 0, 3, 5, 6], spec.uniform(.12, .3, 12), spec.uniform(6, 8.5, 12), [1.2, 1.2, 1.2, 1.2, 2.2, 2.2, 2.2, 2.2, 1.7, 1.7, 1.7, 1.7])]


def grains(classes, per):
    yy, xx = np.mgrid[:22, :22] - 10.5
    X, Y = [], []
    for k, c in enumerate(classes):
        l, d, r, f = SPECIES[c]
        for _ in range(per):
            dy, dx = rng.uniform(-1.5, 1.5, 2)
            rad, ang = np.hypot(yy - dy, xx - dx), np.arctan2(yy - dy, xx - dx)
            edge = r * rng.uniform(.9, 1.1) * (1 + d * np.cos(l * ang + rng.uniform(0, 6.3)) * (l > 0))
            im = 1 / (1 + np.exp(2 * (rad - edge))) * (.6 + .4 * np.cos(rad * f + rng.uniform(-.6, .6)))
            X.append(im + .2 * rng.standard_normal(im.shape)); Y.append(k)
    return torch.tensor(np.stack(X)[:, None], dtype=torch.float32), torch.tensor(Y)


def make_body():
    return nn.Sequential(nn.Conv2d(1, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(24, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten())


def test(body, head, x, y):
    body.eval(); head.eval()
    with torch.no_grad():
        z = head(body(x))
    return f"loss {F.cross_entropy(z, y):.4f} acc {(z.argmax(1) == y).float().mean():.4f}"


def fit(name, body, head, opt, x, y, xt, yt, epochs, bs, body_train):
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs, eta_min=0.0)
    for e in range(1, epochs + 1):
        body.train(body_train)
        head.train()
        s = 0.0
        for j in torch.randperm(len(x)).split(bs):
            if body_train:
                f = body(x[j])
            else:
                with torch.no_grad():
                    f = body(x[j])
            loss = F.cross_entropy(head(f), y[j])
            opt.zero_grad(); loss.backward(); opt.step()
            s += loss.item() * len(j)
        sched.step()
        if e % max(1, epochs // 4) == 0:
            print(f"[{name}] epoch {e} train {s / len(x):.4f} test {test(body, head, xt, yt)}")


body, head = make_body(), nn.Linear(128, 8)
x, y = grains(range(8), 140)
xt, yt = grains(range(8), 40)
fit("pretrain", body, head, torch.optim.Adam([*body.parameters(), *head.parameters()], lr=4e-3), x, y, xt, yt, 8, 32, True)

x, y = grains(range(8, 12), 40)
xt, yt = grains(range(8, 12), 80)
head = nn.Linear(128, 4)
fit("head only", body, head, torch.optim.Adam(head.parameters(), lr=3e-3), x, y, xt, yt, 14, 20, False)
opt = torch.optim.Adam([{"params": body.parameters(), "lr": 2e-4}, {"params": head.parameters(), "lr": 1e-3}])
fit("all", body, head, opt, x, y, xt, yt, 10, 20, True)
