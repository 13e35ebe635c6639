"""Weave inspection: a small CNN is pretrained on eight weave patterns, stored, and adapted to
   five defect kinds photographed with another camera (few labelled pictures)."""
import os
import tempfile
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
N = 16


def weave(rng, kind):
    y, x = np.mgrid[0:N, 0:N].astype(float)
    px, py = rng.uniform(0, 6.28, 2)
    f = rng.uniform(0.9, 1.3)
    k = kind
    if k == 0:
        p = np.sin(f * x + px) * np.sin(f * y + py)
    elif k == 1:
        p = np.sin(f * (x + y) + px)
    elif k == 2:
        p = np.sin(f * (x - y) + px)
    elif k == 3:
        p = np.sin(f * x + px) + 0.5 * np.sin(2 * f * y + py)
    elif k == 4:
        p = np.sign(np.sin(f * x + px)) * np.sin(f * y + py)
    elif k == 5:
        p = np.sin(f * x + 1.5 * np.sin(0.6 * y + py) + px)
    elif k == 6:
        p = np.sin(f * y + 1.5 * np.sin(0.6 * x + py) + px)
    else:
        p = np.sin(f * np.hypot(x - rng.uniform(0, N), y - rng.uniform(0, N)) + px)
    return p


def source_set(n, seed):
    rng = np.random.RandomState(seed)
    lab = rng.randint(0, 8, n)
    img = np.stack([weave(rng, k) * rng.uniform(0.6, 1.2) + rng.normal(0, 0.5, (N, N)) for k in lab])
    return torch.tensor(img[:, None], dtype=torch.float32), torch.tensor(lab)


def target_set(per_class, seed, noise=0.45):
    """0 sound, 1 broken warp, 2 broken weft, 3 knot, 4 skew"""
    rng = np.random.RandomState(seed)
    imgs, labs = [], []
    for c, m in enumerate(per_class):
        for _ in range(m):
            base = weave(rng, 1 if rng.rand() < 0.5 else 2) if c == 4 else weave(rng, 0)
            a, b = rng.randint(2, N - 3, 2)
            if c == 1:
                base[:, a:a + 2] = np.sin(1.1 * np.arange(N) + rng.uniform(0, 6))[:, None] * 0.4
            elif c == 2:
                base[a:a + 2, :] = np.sin(1.1 * np.arange(N) + rng.uniform(0, 6))[None] * 0.4
            elif c == 3:
                yy, xx = np.mgrid[0:N, 0:N]
                base = base + 1.4 * np.exp(-((yy - a) ** 2 + (xx - b) ** 2) / 5.0)
            img = base * rng.uniform(0.6, 1.2) + rng.normal(0, noise, (N, N))
            imgs.append(img * 1.9 + 2.2)                     # other camera: contrast and offset
            labs.append(c)
    return torch.tensor(np.array(imgs)[:, None], dtype=torch.float32), torch.tensor(labs)


class Backbone(nn.Module):
    def __init__(self, ch=16):
        super().__init__()
        self.block1 = nn.Sequential(nn.Conv2d(1, ch, 3, padding=1), nn.BatchNorm2d(ch), nn.ReLU(), nn.MaxPool2d(2))
        self.block2 = nn.Sequential(nn.Conv2d(ch, 2 * ch, 3, padding=1), nn.BatchNorm2d(2 * ch), nn.ReLU(), nn.MaxPool2d(2))
        self.block3 = nn.Sequential(nn.Conv2d(2 * ch, 4 * ch, 3, padding=1), nn.BatchNorm2d(4 * ch), nn.ReLU())

    def forward(self, x):
        return self.block3(self.block2(self.block1(x))).mean((2, 3))


class Net(nn.Module):
    def __init__(self, classes, p=0.0):
        super().__init__()
        self.backbone = Backbone()
        self.drop = nn.Dropout(p)
        self.fc = nn.Linear(64, classes)

    def forward(self, x):
        return self.fc(self.drop(self.backbone(x)))


def accuracy(model, x, y, classes=5):
    model.eval()
    with torch.no_grad():
        p = model(x).argmax(1)
    rec = [(p[y == c] == c).float().mean().item() for c in range(classes) if (y == c).any()]
    return (p == y).float().mean().item(), rec


def pretrain(path):
    x, y = source_set(2500, 10 + SEED)
    xv, yv = source_set(300, 20 + SEED)
    net = Net(8)
    opt = torch.optim.Adam(net.parameters(), lr=4e-3)
    for step in range(1, 101):
        i = torch.randint(0, len(x), (48,))
        loss = F.cross_entropy(net(x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 25 == 0:
            print(f"[pretrain] step {step} loss {loss.item():.3f} val acc {accuracy(net, xv, yv, 8)[0]:.3f}", flush=True)
            net.train()
    state = net.state_dict()
    if CASE == 1:
        state = {"module." + k: v for k, v in state.items()}
    torch.save({"model": state, "classes": 8}, path)


def load_pretrained(path, classes, p=0.0):
    ck = torch.load(path)
    net = Net(classes, p)
    own = {k: v for k, v in ck["model"].items() if not k.startswith("fc.")}
    net.load_state_dict(own, strict=False)
    return net


def batches(n, size, shuffle=True):
    order = torch.randperm(n) if shuffle else torch.arange(n)
    for k in range(0, n - size + 1, size):
        yield order[k:k + size]


def normalise(x, stat):
    return (x - stat[0]) / stat[1]


def finetune(path):
    counts = {10: [400, 12, 12, 12, 12], 11: [300, 40, 40, 40, 40]}.get(CASE, [100] * 5)
    x, y = target_set(counts, 30 + SEED)
    xv, yv = target_set([40] * 5 if CASE == 11 else ([120, 4, 4, 4, 4] if CASE == 10 else [40] * 5), 40 + SEED)
    if CASE not in (5, 9):
        stat = (x.mean(), x.std())
        x, xv = normalise(x, stat), normalise(xv, stat)

    epochs, size, lr, weight = 10, 25, 1e-3, None
    net = load_pretrained(path, 5, p=0.5 if CASE == 6 else 0.0)

    if CASE in (1, 2, 3):
        for p_ in net.backbone.parameters():
            p_.requires_grad_(False)
    if CASE == 2:
        opt = torch.optim.Adam(filter(lambda q: q.requires_grad, net.parameters()), lr=1e-2)
        net.fc = nn.Linear(64, 5)
    elif CASE in (1, 3):
        opt = torch.optim.Adam(net.fc.parameters(), lr=1e-2)
    elif CASE == 4:
        for p_ in net.parameters():
            p_.requires_grad = False
        net.fc = nn.Linear(64, 5)
        for block in (net.backbone.block2, net.backbone.block3):
            block.requires_grad = True
        opt = torch.optim.Adam([{"params": net.fc.parameters()}, {"params": net.backbone.parameters(), "lr": 2e-3}], lr=5e-3)
    elif CASE == 8:
        opt = torch.optim.SGD(net.parameters(), lr=1.0, momentum=0.9)
    elif CASE == 7:
        opt = torch.optim.SGD(net.parameters(), lr=0.03, momentum=0.9)
    elif CASE == 6:
        opt = torch.optim.Adam([{"params": net.backbone.parameters(), "lr": 6e-4}, {"params": net.fc.parameters(), "lr": 5e-3}])
    else:
        opt = torch.optim.Adam(net.parameters(), lr=lr)
    if CASE == 5:
        for m in net.modules():
            if isinstance(m, nn.BatchNorm2d):
                m.momentum = 0.0
    if CASE == 11:
        weight = torch.tensor(counts, dtype=torch.float32).pow(-0.8)
        weight = weight / weight.mean()

    total = epochs * (len(x) // size)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, total)
    for ep in range(epochs):
        net.train()
        if CASE == 3:
            net.backbone.eval()
        tot, hit = 0.0, 0
        for i in batches(len(x), size, shuffle=CASE != 7):
            xb = x[i]
            if CASE in (6, 11):                               # flips, shifts, noise
                if torch.rand(1) < 0.5:
                    xb = xb.flip(3) if torch.rand(1) < 0.5 else xb.flip(2)
                xb = torch.roll(xb, tuple(torch.randint(-2, 3, (2,)).tolist()), (2, 3)) + 0.1 * torch.randn_like(xb)
            out = net(xb)
            loss = F.cross_entropy(out, y[i], weight=weight, label_smoothing=0.1 if CASE == 6 else 0.0)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            tot += loss.item() * len(i)
            hit += (out.argmax(1) == y[i]).sum().item()
        n = len(x) // size * size
        acc, rec = accuracy(net, xv, yv)
        line = f"[finetune] epoch {ep} loss {tot / n:.4f} train acc {hit / n:.3f} val acc {acc:.3f}"
        if CASE == 11:
            line += " recall " + " ".join("%.2f" % r for r in rec)
        print(line, flush=True)
    return net


def main():
    torch.manual_seed(SEED)
    np.random.seed(SEED)
    t0 = time.time()
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "weave.pt")
        pretrain(path)
        finetune(path)
    print("done in %.1f s" % (time.time() - t0))


if __name__ == "__main__":
    main()
