# Self-supervised features for photos of knitted swatches, then a linear probe on a few labels.
import os
import math
import copy
import random
import argparse
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

ap = argparse.ArgumentParser()
ap.add_argument("--epochs", type=int, default=8)
ap.add_argument("--batch", type=int, default=64)
ap.add_argument("--tau", type=float, default=0.2)
ap.add_argument("--lr", type=float, default=2e-3)
ap.add_argument("--wd", type=float, default=1e-4 if CASE != 4 else 50.0)
args = ap.parse_args([])

SIZE, CLASSES = 20, 6


def set_seed(s):
    random.seed(s)
    np.random.seed(s)
    torch.manual_seed(s)


def swatch(kind, rng):
    y, x = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32)
    ph, f = rng.uniform(0, 6.28, 2), rng.uniform(0.85, 1.2)
    if kind == 0:
        img = np.sin(f * y + ph[0])
    elif kind == 1:
        img = np.sin(f * x + ph[0])
    elif kind == 2:
        img = np.sin(f * x + ph[0]) * np.sin(f * y + ph[1])
    elif kind == 3:
        img = np.sin(f * 0.7 * (x + y) + ph[0])
    elif kind == 4:
        img = np.sin(f * 0.7 * (x - y) + ph[0])
    else:
        img = np.sin(f * x + 1.5 * np.sin(0.8 * y + ph[1]) + ph[0])
    grad = rng.uniform(-1, 1) * (x / SIZE - .5) + rng.uniform(-1, 1) * (y / SIZE - .5)
    img = rng.uniform(0.5, 1.0) * img + 2.5 * grad + rng.uniform(-1.2, 1.2) + 0.75 * rng.standard_normal(img.shape)
    return img.astype(np.float32)


def make(n, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, CLASSES, n)
    return np.stack([swatch(k, rng) for k in labels]), labels


def augment(img):
    """shift, flip of the yarn's sign is not used: only crop, brightness, contrast, noise"""
    if CASE == 1:
        set_seed(SEED)
    dy, dx = np.random.randint(0, 5, 2)
    out = img[dy:dy + 16, dx:dx + 16]
    out = out * np.random.uniform(0.6, 1.5) + np.random.uniform(-1.2, 1.2)
    ramp = np.linspace(-1.3, 1.3, 16, dtype=np.float32)
    out = out + np.random.uniform(-1, 1) * ramp[None] + np.random.uniform(-1, 1) * ramp[:, None]
    out = out + 0.4 * np.random.randn(16, 16)
    return torch.from_numpy(out.astype(np.float32))[None]


class TwoViews(Dataset):
    def __init__(self, images):
        self.images = images

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return augment(self.images[i]), augment(self.images[i])


class Encoder(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.Conv2d(32, dim, 3, stride=2, padding=1), nn.BatchNorm2d(dim), nn.ReLU(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, 32))

    def forward(self, x):
        h = self.body(x)
        return h, self.head(h)


def nt_xent(z1, z2, tau):
    n = len(z1)
    z = F.normalize(torch.cat([z1, z2]), dim=1)
    sim = z @ z.t() / tau
    sim.fill_diagonal_(-1e9)
    if CASE == 3:
        target = torch.arange(2 * n) ^ 1
    else:
        target = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(sim, target)


def alignment(z1, z2):
    return F.cosine_embedding_loss(z1, z2, torch.ones(len(z1)))


class MoCo:
    """momentum encoder and a queue of negatives"""

    def __init__(self, q, size=512, m=0.98):
        self.k = copy.deepcopy(q)
        for p in self.k.parameters():
            p.requires_grad = False
        self.queue = F.normalize(torch.randn(size, 32), dim=1)
        self.ptr, self.m = 0, m

    @torch.no_grad()
    def keys(self, q, x):
        for pk, pq in zip(self.k.parameters(), q.parameters()):
            pk.mul_(self.m).add_(pq, alpha=1 - self.m)
        return F.normalize(self.k(x)[1], dim=1)

    def loss(self, q, x1, x2, tau):
        k = self.keys(q, x2)
        z = F.normalize(q(x1)[1], dim=1)
        logits = torch.cat([(z * k).sum(1, keepdim=True), z @ self.queue.t()], 1) / tau
        idx = (self.ptr + torch.arange(len(k))) % len(self.queue)
        self.queue[idx] = k
        self.ptr = int((self.ptr + len(k)) % len(self.queue))
        return F.cross_entropy(logits, torch.zeros(len(k), dtype=torch.long))


@torch.no_grad()
def features(enc, images):
    enc.eval()
    x = torch.from_numpy(images[:, 2:18, 2:18])[:, None]
    h = torch.cat([enc(c)[0] for c in x.split(256)])
    enc.train()
    return h


def linear_probe(enc, tr, te):
    h, ht = features(enc, tr[0]), features(enc, te[0])
    mu, sd = h.mean(0), h.std(0) + 1e-6
    h, ht = (h - mu) / sd, (ht - mu) / sd
    y, yt = torch.as_tensor(tr[1]), torch.as_tensor(te[1])
    clf = nn.Linear(h.shape[1], CLASSES)
    opt = torch.optim.LBFGS(clf.parameters(), lr=0.5, max_iter=40)

    def closure():
        opt.zero_grad()
        loss = F.cross_entropy(clf(h), y) + 1e-2 * clf.weight.pow(2).sum()
        loss.backward()
        return loss

    opt.step(closure)
    return (clf(ht).argmax(1) == yt).float().mean().item()


if __name__ == "__main__":
    set_seed(SEED)
    unlabelled, _ = make(1024, SEED + 1)
    few, test = make(150, SEED + 2), make(600, SEED + 3)
    enc = Encoder()
    print("probe on the random encoder: %.3f" % linear_probe(enc, few, test))
    moco = MoCo(enc) if CASE == 5 else None
    loader = DataLoader(TwoViews(unlabelled), batch_size=args.batch, shuffle=True, drop_last=True)
    opt = torch.optim.AdamW(enc.parameters(), lr=args.lr, weight_decay=args.wd)
    total = args.epochs * len(loader)
    sched = torch.optim.lr_scheduler.LambdaLR(
        opt, lambda s: min(1, (s + 1) / 10) * (0.5 + 0.5 * math.cos(math.pi * s / total)))
    step = 0
    for epoch in range(args.epochs):
        losses = []
        for v1, v2 in loader:
            if moco is not None:
                loss = moco.loss(enc, v1, v2, args.tau)
            elif CASE == 2:
                loss = alignment(enc(v1)[1], enc(v2)[1])
            else:
                _, z = enc(torch.cat([v1, v2]))
                loss = nt_xent(*z.chunk(2), args.tau)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            step += 1
            losses.append(loss.item())
        print(f"epoch {epoch + 1:2d} step {step} loss {np.mean(losses):.4f}")
        if (epoch + 1) % 4 == 0:
            print("   linear probe accuracy %.3f" % linear_probe(enc, few, test))
