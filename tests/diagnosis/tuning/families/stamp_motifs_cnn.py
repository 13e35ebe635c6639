# Which of 8 motifs is on a postage stamp?  20x20 grey pictures, small CNN.
import os, time
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
np.random.seed(SEED)
torch.manual_seed(SEED)
S, K = 20, 8
yy, xx = np.mgrid[0:S, 0:S].astype(np.float32)


def draw(k, r):
    cx, cy = r.uniform(7, 13, 2)
    s = r.uniform(3.5, 6.5)
    a = r.uniform(-0.35, 0.35)
    u = (xx - cx) * np.cos(a) + (yy - cy) * np.sin(a)
    v = -(xx - cx) * np.sin(a) + (yy - cy) * np.cos(a)
    rad = np.hypot(u, v)
    m = [rad < s,                                                # sun
         (np.abs(u) < s * .9) & (np.abs(v) < s * .9),            # house
         np.abs(rad - s) < 1.3,                                  # ring
         (np.abs(u) < 1.4) & (np.abs(v) < s) | (np.abs(v) < 1.4) & (np.abs(u) < s),
         (np.abs(u - v) < 2) & (rad < s) | (np.abs(u + v) < 2) & (rad < s),
         (v > -s) & (v < s) & (np.abs(u) < (v + s) / 2),         # tent
         np.abs(u) + np.abs(v) < s * 1.1,                        # kite
         (np.sin(u * 1.6) > 0) & (rad < s)][k]
    img = m.astype(np.float32) * r.uniform(0.5, 0.95)
    img += 0.15 * np.sin(xx * r.uniform(.1, .6) + r.uniform(0, 6)) + r.normal(0, 0.16, (S, S))
    return img.astype(np.float32)


def make(n, seed):
    r = np.random.RandomState(seed)
    y = np.sort(r.randint(0, K, n))
    return np.stack([draw(k, r) for k in y]), y


class Stamps(Dataset):
    def __init__(self, x, y, augment=False):
        self.x, self.y, self.augment = x, y, augment

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        img = self.x[i]
        if self.augment:
            if np.random.rand() < 0.3:
                img = img[:, ::-1]
            img = np.roll(img, np.random.randint(-2, 3, 2), (0, 1))
            img = img * np.random.uniform(0.6, 1.4) + np.random.randn(S, S) * 0.1
            if np.random.rand() < 0.3:
                r, c = np.random.randint(0, S - 6, 2)
                img = img.copy()
                img[r:r + 6, c:c + 6] = 0
        return torch.from_numpy(np.ascontiguousarray(img, dtype=np.float32))[None], int(self.y[i])


x, y = make(2000, SEED + 10)
if CASE == 1:
    x = x[np.random.permutation(len(x))]
xv, yv = make(600, SEED + 11)

train_dl = DataLoader(Stamps(x, y, augment=(CASE == 0)), batch_size=40, shuffle=CASE not in (3, 5))
val_dl = DataLoader(Stamps(xv, yv), batch_size=200)

features = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(3), nn.Flatten())
head = nn.Sequential(nn.Linear(32 * 9, 64), nn.ReLU(), nn.Dropout(0.25), nn.Linear(64, K))
if CASE == 2:
    head.add_module("prob", nn.Softmax(dim=1))
net = nn.Sequential(features, head)


def accuracy(model, dl):
    model.eval()
    good = n = 0
    with torch.no_grad():
        for a, b in dl:
            good += (model(a).argmax(1) == b).sum().item()
            n += len(b)
    model.train()
    return good / n


def run(model, dl, epochs, lr, tag=""):
    params = [p for p in model.parameters() if p.requires_grad]
    opt = torch.optim.Adam(params, lr=lr)
    for ep in range(epochs):
        t0, run_loss = time.time(), 0.0
        if CASE == 5:
            it = (next(iter(dl)) for _ in range(len(dl)))
        else:
            it = iter(dl)
        for i, (a, b) in enumerate(it):
            opt.zero_grad()
            loss = F.cross_entropy(model(a), b)
            loss.backward()
            opt.step()
            run_loss += loss.item()
            if i % 25 == 24:
                print(f"{tag}[{ep + 1}, {i + 1}] loss {run_loss / 25:.3f}")
                run_loss = 0.0
        print(f"{tag}epoch {ep + 1} val acc {accuracy(model, val_dl):.3f}  ({time.time() - t0:.1f}s)")


if CASE == 4:
    # features learnt on motifs, then only a new head for three coarse groups and few labels
    pre = nn.Sequential(features, nn.Linear(32 * 9, K))
    run(pre, DataLoader(Stamps(x, y), batch_size=40, shuffle=True), 3, 0.004, "source ")
    for p in features.parameters():
        p.requires_grad_(False)
    merged = {0: 0, 6: 0, 1: 1, 2: 0, 3: 2, 4: 2, 5: 1, 7: 2}
    few = np.random.choice(len(x), 600, replace=False)
    y2 = np.array([merged[k] for k in y])
    val_dl = DataLoader(Stamps(xv, np.array([merged[k] for k in yv])), batch_size=200)
    print("trainable", sum(p.numel() for p in net.parameters() if p.requires_grad))
    run(net, DataLoader(Stamps(x[few], y2[few]), batch_size=40, shuffle=True), 8, 0.003, "target ")
else:
    run(net, train_dl, 6, 0.004)
