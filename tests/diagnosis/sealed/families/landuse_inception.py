"""Land use from small aerial tiles, tiny inception net."""
import os
import random
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)
torch.set_num_threads(1)

CLASSES = ["ploughed", "roofs", "heath", "vines", "gardens", "forest"]
SIZE, CROP = 24, 20
MEAN = np.array([0.42, 0.47, 0.40], np.float32)
STD = np.array([0.17, 0.16, 0.17], np.float32)


def tile(k, rng):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32)
    base = rng.uniform(0.35, 0.6, 3).astype(np.float32)
    if k % 3 == 0:
        a = rng.uniform(0, np.pi)
        t = 0.22 * np.sign(np.sin(1.1 * (xx * np.cos(a) + yy * np.sin(a)) + rng.uniform(0, 6)))
    elif k % 3 == 1:
        t = np.kron(rng.uniform(-0.35, 0.35, (6, 6)), np.ones((4, 4)))
    else:
        t = rng.normal(0, 0.3, (SIZE, SIZE))
        t = (t + np.roll(t, 1, 0) + np.roll(t, 1, 1) + np.roll(np.roll(t, 1, 0), 1, 1)) / 2
    w = rng.uniform(1.0, 1.3), rng.uniform(0.35, 0.6)
    tint = np.array([w[0], w[1], 0.8] if k < 3 else [w[1], w[0], 0.8], np.float32)
    img = base + t[:, :, None] * tint + rng.normal(0, 0.08, (SIZE, SIZE, 3))
    return (np.clip(img, 0, 1) * 255).astype(np.uint8)


def make(n, seed, p=None):
    rng = np.random.RandomState(seed)
    y = rng.choice(len(CLASSES), n, p=p)
    return np.stack([tile(k, rng) for k in y]), y.astype(np.int64)


class Tiles(Dataset):
    def __init__(self, x, y, train):
        self.x, self.y, self.train = x, y, train

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        img = self.x[i].astype(np.float32) / 255.0
        if self.train:
            if CASE == 9:
                torch.manual_seed(SEED)
            r, c = torch.randint(0, SIZE - CROP + 1, (2,)).tolist()
            flip = torch.rand(1).item() < 0.5
            gain = 0.8 + 0.4 * torch.rand(1).item()
            img = img[r:r + CROP, c:c + CROP]
            if flip:
                img = img[:, ::-1]
            img = img * gain
            img = (img - MEAN) / STD
        else:
            o = (SIZE - CROP) // 2
            img = img[o:o + CROP, o:o + CROP]
            if CASE != 3:
                img = (img - MEAN) / STD
        img = np.ascontiguousarray(img, dtype=np.float32)
        if CASE == 6:
            img = img.reshape(3, CROP, CROP)
        else:
            img = img.transpose(2, 0, 1)
        return torch.tensor(img), int(self.y[i])


class Unit(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        q = o // 4
        self.b1 = nn.Conv2d(i, q, 1)
        self.b3 = nn.Conv2d(i, 2 * q, 3, padding=1)
        self.b5 = nn.Sequential(nn.Conv2d(i, q, 1), nn.ReLU(), nn.Conv2d(q, q, 5, padding=2))
        self.bn = nn.BatchNorm2d(4 * q, momentum=0.1)

    def forward(self, x):
        return F.relu(self.bn(torch.cat([self.b1(x), self.b3(x), self.b5(x)], 1)))


class Net(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2))
        self.u1 = Unit(width, 2 * width)
        self.u2 = Unit(2 * width, 2 * width)
        self.drop = nn.Dropout(0.25)
        self.fc = nn.Linear(2 * width, len(CLASSES))

    def forward(self, x):
        x = self.u1(self.stem(x))
        x = self.u2(F.max_pool2d(x, 2))
        x = self.fc(self.drop(x.mean((2, 3))))
        if CASE == 4:
            return F.softmax(x, dim=1)
        return x


def evaluate(net, loader):
    net.eval()
    hit = n = 0
    per = np.zeros((len(CLASSES), 2))
    with torch.no_grad():
        for xb, yb in loader:
            p = net(xb).argmax(1)
            hit += (p == yb).sum().item()
            n += len(yb)
            for a, b in zip(p.tolist(), yb.tolist()):
                per[b] += (a == b, 1)
    return hit / n, per[:, 0] / np.maximum(per[:, 1], 1)


def main():
    epochs, bs = 7, 32
    p = None
    if CASE == 10:
        p = [0.48, 0.3, 0.08, 0.06, 0.04, 0.04]
    xtr, ytr = make(576, 100 + SEED, p)
    xte, yte = make(300, 900 + SEED)
    train = DataLoader(Tiles(xtr, ytr, True), bs, shuffle=True, drop_last=True)
    test = DataLoader(Tiles(xte, yte, False), 120)
    net = Net()
    weight = None
    if CASE == 10:
        cnt = np.bincount(ytr, minlength=len(CLASSES))
        weight = torch.tensor(len(ytr) / (len(CLASSES) * cnt), dtype=torch.float32).clamp(max=4.0)
        epochs = 9
    smooth = 0.15 if CASE == 7 else 0.0
    loss_fn = nn.CrossEntropyLoss(weight=weight, label_smoothing=smooth)
    if CASE == 8:
        opt = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=0.02)
        epochs = 11
        warm, total = 3 * len(train), epochs * len(train)
        sched = torch.optim.lr_scheduler.LambdaLR(
            opt, lambda s: (s + 1) / warm if s < warm else 0.5 + 0.5 * np.cos(np.pi * (s - warm) / (total - warm)))
    else:
        lr = 0.05
        if CASE == 11:
            lr = 0.25
        opt = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9, weight_decay=1e-4)
        if CASE in (1, 2):
            sched = torch.optim.lr_scheduler.StepLR(opt, step_size=3, gamma=0.3)
        else:
            sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs * len(train))
    if CASE == 5:
        net.fc = nn.Linear(net.fc.in_features, len(CLASSES))
        net.u2 = Unit(24, 24)

    net.train()
    for ep in range(epochs):
        if CASE != 12:
            net.train()
        tot = 0.0
        for it, (xb, yb) in enumerate(train):
            if CASE == 7:
                lam = float(np.random.beta(0.4, 0.4))
                perm = torch.randperm(len(yb))
                out = net(lam * xb + (1 - lam) * xb[perm])
                loss = lam * loss_fn(out, yb) + (1 - lam) * loss_fn(out, yb[perm])
            else:
                out = net(xb)
                loss = loss_fn(out, yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            if CASE not in (2,):
                sched.step()
            tot += loss.item()
            if it % 10 == 0:
                print(f"epoch {ep} it {it} loss {loss.item():.4f} lr {opt.param_groups[0]['lr']:.2e}")
            if CASE == 12 and it == 9:
                evaluate(net, test)
        if CASE == 2:
            sched.step()
        acc, _ = evaluate(net, test)
        print(f"== epoch {ep} train loss {tot / len(train):.4f} test acc {acc:.3f}")
    acc, per = evaluate(net, test)
    print("final acc %.3f" % acc, dict(zip(CLASSES, per.round(2))))


if __name__ == "__main__":
    main()
