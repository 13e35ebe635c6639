"""Small CNN that tells six kinds of floor tiles apart (16x16 grey pictures)."""
import os
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader, WeightedRandomSampler

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)
torch.set_num_threads(1)

NAMES = ["rows", "columns", "diagonal", "ring", "cross", "checker"]
SIZE = 16


def draw(kind, rng):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32)
    ph = rng.uniform(0, 6.28)
    fr = rng.uniform(1.0, 1.6)
    cy, cx = rng.uniform(5, 11, 2)
    if kind == 0:
        a = np.sin(yy * fr + ph)
    elif kind == 1:
        a = np.sin(xx * fr + ph)
    elif kind == 2:
        a = np.sin((xx + yy) * fr * 0.7 + ph)
    elif kind == 3:
        r = np.sqrt((yy - cy) ** 2 + (xx - cx) ** 2)
        a = 2 * np.exp(-(r - 4) ** 2) - 1
    elif kind == 4:
        a = 2 * np.maximum(np.exp(-(yy - cy) ** 2), np.exp(-(xx - cx) ** 2)) - 1
    else:
        a = np.sign(np.sin(xx * fr + ph) * np.sin(yy * fr + ph))
    a = 120 + 45 * rng.uniform(0.6, 1.2) * a + rng.normal(0, 38, a.shape)
    return np.clip(a, 0, 255).astype(np.uint8)


def make_split(per_class, seed):
    rng = np.random.RandomState(seed)
    ims, labs = [], []
    for k, n in enumerate(per_class):
        for _ in range(n):
            ims.append(draw(k, rng))
            labs.append(k)
    return np.stack(ims), np.array(labs)


class Tiles(Dataset):
    def __init__(self, ims, labs, transform=None):
        self.ims, self.labs, self.transform = ims, labs, transform

    def __len__(self):
        return len(self.ims)

    def __getitem__(self, i):
        x = torch.from_numpy(self.ims[i]).float()[None]
        if self.transform is not None:
            x = self.transform(x)
        return x, int(self.labs[i])


def to_unit(x):
    return (x / 255.0 - 0.47) / 0.2


class Net(nn.Module):
    def __init__(self, probs=False):
        super().__init__()
        self.c1 = nn.Conv2d(1, 16, 3, padding=1)
        self.b1 = nn.BatchNorm2d(16)
        self.c2 = nn.Conv2d(16, 32, 3, padding=1)
        self.b2 = nn.BatchNorm2d(32)
        self.drop = nn.Dropout(0.3)
        self.fc1 = nn.Linear(32 * 16, 64)
        self.fc2 = nn.Linear(64, len(NAMES))
        self.probs = probs

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.b1(self.c1(x))), 2)
        x = F.max_pool2d(F.relu(self.b2(self.c2(x))), 2)
        x = self.drop(F.relu(self.fc1(x.flatten(1))))
        x = self.fc2(x)
        if self.probs:
            x = F.softmax(x, dim=1)
        return x


def accuracy(net, loader):
    net.eval()
    hit = np.zeros(len(NAMES))
    tot = np.zeros(len(NAMES))
    with torch.no_grad():
        for x, y in loader:
            p = net(x).argmax(1)
            for k in range(len(NAMES)):
                hit[k] += ((p == k) & (y == k)).sum().item()
                tot[k] += (y == k).sum().item()
    return (hit / tot).mean()


per_class = [150] * 6
if CASE == 3:
    per_class = [500, 200, 80, 40, 40, 40]
tr_x, tr_y = make_split(per_class, SEED + 10)
te_x, te_y = make_split([50] * 6, SEED + 99)

if CASE == 10:
    tr_x = tr_x[np.random.permutation(len(tr_x))]
    tr_y = tr_y[np.random.permutation(len(tr_y))]

train_set = Tiles(tr_x, tr_y, to_unit)
test_set = Tiles(te_x, te_y, None if CASE == 8 else to_unit)

bs = 16 if CASE == 2 else 48
if CASE == 3:
    w = 1.0 / np.bincount(tr_y)[tr_y]
    train_loader = DataLoader(train_set, bs, sampler=WeightedRandomSampler(w, len(tr_y)))
else:
    train_loader = DataLoader(train_set, bs, shuffle=(CASE != 7))
test_loader = DataLoader(test_set, 100)

net = Net(probs=(CASE == 4))
crit = nn.CrossEntropyLoss()
EPOCHS = 5 if CASE == 2 else 8
warm = None
if CASE == 1:
    opt = torch.optim.SGD(net.parameters(), lr=0.08, momentum=0.9, weight_decay=5e-4)
    total = EPOCHS * len(train_loader)
    warm = torch.optim.lr_scheduler.LambdaLR(
        opt, lambda s: max(1e-5, s / 40) if s < 40 else 0.5 * (1 + np.cos(np.pi * (s - 40) / (total - 40))))
elif CASE == 6:
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
elif CASE == 9:
    opt = torch.optim.Adam(net.parameters(), lr=0.2)
else:
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)

accum = 3 if CASE == 2 else 1
step = 0
net.train()
for epoch in range(EPOCHS):
    if CASE != 5:
        net.train()
    run = 0.0
    for x, y in train_loader:
        if CASE != 6 and step % accum == 0:
            opt.zero_grad()
        if CASE == 11:
            lam = np.random.beta(0.8, 0.8)
            other = torch.randperm(len(x))
            out = net(lam * x + (1 - lam) * x[other])
            loss = lam * crit(out, y) + (1 - lam) * crit(out, y[other])
        else:
            loss = crit(net(x), y) / accum
        loss.backward()
        step += 1
        if step % accum == 0:
            if CASE == 1:
                torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            opt.step()
        if warm is not None:
            warm.step()
        run += loss.item() * accum
    print(f"epoch {epoch} step {step} loss {run / len(train_loader):.4f} test acc {accuracy(net, test_loader):.3f}")
