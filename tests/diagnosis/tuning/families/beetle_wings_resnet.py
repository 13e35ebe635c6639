"""Small ResNet on beetle wing-case pictures: 6 species, 24x24 RGB."""
import argparse
import copy
import logging
import math
import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

CASE = int(os.environ.get("CASE", "0"))

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=int(os.environ.get("SEED", "0")))
parser.add_argument("--epochs", type=int, default=6)
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--lr", type=float, default=0.05)
parser.add_argument("--width", type=int, default=8)
parser.add_argument("--bn-momentum", type=float, default=0.1)
parser.add_argument("--n-train", type=int, default=1026)
args = parser.parse_args([])
logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
log = logging.getLogger("beetles")

if CASE == 4:
    args.bn_momentum = 0.001


def wings(n, rng):
    """Spots, stripes and bands over a wing case, random pose and light."""
    yy, xx = np.mgrid[0:24, 0:24] / 23.0 - 0.5
    X = np.zeros((n, 3, 24, 24), np.float32)
    y = rng.integers(0, 6, n)
    for i in range(n):
        a = rng.normal(0, 0.5)
        u = xx * np.cos(a) + yy * np.sin(a) + rng.normal(0, 0.06)
        v = -xx * np.sin(a) + yy * np.cos(a) + rng.normal(0, 0.06)
        wing = 1 / (1 + np.exp(((u / 0.36) ** 2 + (v / 0.46) ** 2 - 1) * 9))
        c = y[i]
        f = rng.uniform(16, 24)
        if c == 0:
            pat = np.cos(f * u)
        elif c == 1:
            pat = np.cos(f * v)
        elif c == 2:
            pat = np.cos(f * u) * np.cos(f * v)
        elif c == 3:
            pat = np.cos(f * np.sqrt(u ** 2 + v ** 2))
        elif c == 4:
            pat = np.cos(f * (u + 0.9 * np.abs(v)))
        else:
            pat = np.sign(np.cos(0.6 * f * u + 1) + np.cos(0.6 * f * v + 1)) * 0.8
        hue = np.array([0.5, 0.3, 0.15]) + rng.normal(0, 0.12, 3)
        bg = rng.uniform(0.2, 0.8) + 0.2 * (rng.normal() * xx + rng.normal() * yy)
        body = hue[:, None, None] * (1 + 0.45 * rng.uniform(0.25, 1) * pat)
        X[i] = wing * body + (1 - wing) * bg
        X[i] += rng.normal(0, 0.09, (3, 24, 24))
    return torch.from_numpy(X), torch.from_numpy(y)


class Block(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        m = args.bn_momentum
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout, momentum=m)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout, momentum=m)
        self.short = None
        if stride != 1 or cin != cout:
            self.short = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout, momentum=m))

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        h = self.bn2(self.conv2(h))
        return F.relu(h + (x if self.short is None else self.short(x)))


class ResNet(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        w = args.width
        self.stem = nn.Sequential(nn.Conv2d(3, w, 3, 1, 1, bias=False), nn.BatchNorm2d(w, momentum=args.bn_momentum), nn.ReLU())
        self.layer1 = Block(w, w, 1)
        self.layer2 = Block(w, 2 * w, 2)
        self.layer3 = Block(2 * w, 4 * w, 2)
        self.drop = nn.Dropout(0.3)
        self.fc = nn.Linear(4 * w, n_out)

    def features(self, x):
        return self.layer3(self.layer2(self.layer1(self.stem(x)))).mean((2, 3))

    def forward(self, x):
        return self.fc(self.drop(self.features(x)))


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    hit = n = 0
    for x, y in loader:
        hit += (model(x).argmax(1) == y).sum().item()
        n += len(y)
    return hit / n


def augment(x):
    if torch.rand(()) < 0.5:
        x = x.flip(3)
    return x * (1 + 0.1 * torch.randn(len(x), 1, 1, 1))


def data(n_train):
    rng = np.random.default_rng(args.seed + 40)
    xt, yt = wings(n_train, rng)
    xv, yv = wings(500, rng)
    xs, ys = wings(500, rng)
    mean, std = xt.mean((0, 2, 3), keepdim=True), xt.std((0, 2, 3), keepdim=True)
    norm = lambda x: (x - mean) / std
    return (norm(xt), yt), (norm(xv), yv), (norm(xs), ys)


def supervised():
    train, val, test = data(args.n_train)
    model = ResNet(6)
    tl = DataLoader(TensorDataset(*train), args.batch, shuffle=True)
    vl, sl = DataLoader(TensorDataset(*val), 250), DataLoader(TensorDataset(*test), 250)
    opt = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=5e-4, nesterov=True)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.epochs * len(tl))
    best, step = -1.0, 0
    ckpt = os.path.join(tempfile.mkdtemp(), "best.pt")
    for epoch in range(args.epochs):
        if epoch == 0 or CASE != 2:
            model.train()
        for x, y in tl:
            loss = F.cross_entropy(model(augment(x)), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            step += 1
            if step % 50 == 0:
                log.info("step %d loss %.4f lr %.4f", step, loss.item(), sched.get_last_lr()[0])
        acc = accuracy(model, vl)
        log.info("epoch %d val acc %.4f", epoch, acc)
        if acc > best:
            best = acc
            if CASE == 1:
                weights = {k: p.detach().clone() for k, p in model.named_parameters()}
            else:
                weights = model.state_dict()
            torch.save({"epoch": epoch, "weights": weights}, ckpt)
    final = ResNet(6)
    state = torch.load(ckpt)
    final.load_state_dict(state["weights"], strict=False)
    log.info("best val %.4f (epoch %d); test acc of the saved model %.4f", best, state["epoch"], accuracy(final, sl))


def pretrain_then_finetune():
    """Genus first (many specimens are labelled down to the genus only), then species with few labels."""
    (xt, yt), val, test = data(1500)
    model = ResNet(3)
    opt = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=5e-4)
    step = 0
    for epoch in range(3):
        for idx in torch.randperm(len(xt)).split(args.batch):
            loss = F.cross_entropy(model(augment(xt[idx])), yt[idx] // 2)
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            if step % 30 == 0:
                log.info("genus step %d loss %.4f", step, loss.item())

    few = slice(0, 600)
    xt, yt = xt[few], yt[few]
    vl, sl = DataLoader(TensorDataset(*val), 250), DataLoader(TensorDataset(*test), 250)
    model.fc = nn.Linear(model.fc.in_features, 6)
    for p in model.parameters():
        p.requires_grad = False
    for p in model.fc.parameters():
        p.requires_grad = True
    opt = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9, weight_decay=5e-4)
    for epoch in range(9):
        if epoch == 2:
            for part in (model.stem, model.layer1, model.layer2, model.layer3):
                if CASE == 3:
                    part.requires_grad = True
                else:
                    part.requires_grad_(True)
            log.info("backbone unfrozen")
        model.train()
        for idx in torch.randperm(len(xt)).split(args.batch):
            loss = F.cross_entropy(model(augment(xt[idx])), yt[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            if step % 30 == 0:
                log.info("step %d loss %.4f", step, loss.item())
        log.info("epoch %d val acc %.4f", epoch, accuracy(model, vl))
    log.info("test acc %.4f", accuracy(model, sl))


def mixed_with_average():
    train, val, test = data(1024)
    model = ResNet(6)
    shadow = copy.deepcopy(model)
    for p in shadow.parameters():
        p.requires_grad_(False)
    vl, sl = DataLoader(TensorDataset(*val), 250), DataLoader(TensorDataset(*test), 250)
    tl = DataLoader(TensorDataset(*train), 64, shuffle=True, drop_last=True)
    opt = torch.optim.AdamW(model.parameters(), lr=8e-3, weight_decay=0.02)
    total, warm = 8 * len(tl), 25
    sched = torch.optim.lr_scheduler.LambdaLR(
        opt, lambda s: (s + 1) / warm if s < warm else 0.5 * (1 + math.cos(math.pi * (s - warm) / (total - warm))))
    step = 0
    for epoch in range(8):
        model.train()
        for x, y in tl:
            lam = float(np.random.beta(0.4, 0.4))
            perm = torch.randperm(len(x))
            xm = augment(lam * x + (1 - lam) * x[perm])
            r, c = np.random.randint(0, 18, 2)
            xm[:, :, r:r + 6, c:c + 6] = 0
            out = model(xm)
            loss = (lam * F.cross_entropy(out, y, label_smoothing=0.1)
                    + (1 - lam) * F.cross_entropy(out, y[perm], label_smoothing=0.1))
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            opt.step()
            sched.step()
            step += 1
            d = min(0.97, (step + 1) / (step + 10))
            with torch.no_grad():
                for a, b in zip(shadow.parameters(), model.parameters()):
                    a.mul_(d).add_(b, alpha=1 - d)
                for a, b in zip(shadow.buffers(), model.buffers()):
                    a.copy_(b)
            if step % 40 == 0:
                log.info("step %d mixed loss %.4f", step, loss.item())
        log.info("epoch %d val acc: raw %.4f averaged %.4f", epoch, accuracy(model, vl), accuracy(shadow, vl))
    log.info("test acc averaged %.4f", accuracy(shadow, sl))


if __name__ == "__main__":
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)
    if CASE in (3, 6):
        pretrain_then_finetune()
    elif CASE == 5:
        mixed_with_average()
    else:
        supervised()
