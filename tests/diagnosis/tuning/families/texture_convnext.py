# Texture classification with a tiny ConvNeXt / Inception net on procedurally generated patches.
import math
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import LambdaLR, StepLR, ExponentialLR

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
np.random.seed(SEED)
rng = np.random.RandomState(SEED + 100)

SIZE = 20
CLASSES = ["grating_fine", "grating_coarse", "checker", "rings", "blobs", "dots"]
K = len(CLASSES)


# --------------------------------------------------------------------------- data
def texture(c):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32)
    th = rng.uniform(0, np.pi)
    u = np.cos(th) * xx + np.sin(th) * yy
    v = -np.sin(th) * xx + np.cos(th) * yy
    ph = rng.uniform(0, 2 * np.pi, 2)
    if c == 0:
        t = np.sin(2 * np.pi * u / rng.uniform(3.0, 4.2) + ph[0])
    elif c == 1:
        t = np.sin(2 * np.pi * u / rng.uniform(5.0, 7.5) + ph[0])
    elif c == 2:
        p = rng.uniform(5.0, 7.5)
        t = np.sign(np.sin(2 * np.pi * u / p + ph[0]) * np.sin(2 * np.pi * v / p + ph[1]))
    elif c == 3:
        cx, cy = rng.uniform(2, SIZE - 2, 2)
        t = np.sin(2 * np.pi * np.hypot(xx - cx, yy - cy) / rng.uniform(4.0, 6.0) + ph[0])
    elif c == 4:
        z = rng.randn(SIZE, SIZE)
        f = np.fft.fft2(z)
        fx = np.fft.fftfreq(SIZE)[:, None]
        fy = np.fft.fftfreq(SIZE)[None, :]
        t = np.real(np.fft.ifft2(f * np.exp(-(fx ** 2 + fy ** 2) * 60)))
        t = t / (t.std() + 1e-6)
    else:
        t = -0.4 * np.ones((SIZE, SIZE))
        for _ in range(rng.randint(10, 18)):
            x, y = rng.randint(0, SIZE, 2)
            t[max(0, y - 1):y + 1, max(0, x - 1):x + 1] = 1.6
    base = rng.uniform(0.3, 0.7, (3, 1, 1))
    amp = rng.uniform(0.10, 0.2) * rng.choice([-1, 1]) * rng.uniform(0.5, 1.0, (3, 1, 1))
    img = base + amp * t[None] + (0.14 if CASE in (4, 8) else 0.09) * rng.randn(3, SIZE, SIZE)
    return np.clip(img * 255, 0, 255).astype(np.uint8)


def build(n_per_class):
    xs, ys, ts = [], [], []
    n_total = sum(n_per_class)
    for c in range(K):
        for _ in range(n_per_class[c]):
            xs.append(texture(c))
            ys.append(c)
    xs, ys = np.stack(xs), np.array(ys)
    if CASE == 4:
        ts = np.arange(n_total) / n_total           # capture time, scaled to the length of the session
    else:
        ts = rng.uniform(0, 1, n_total)
    return xs, ys, ts.astype(np.float32)


counts = [200] * K
if CASE == 11:
    counts = [500, 300, 150, 150, 80, 60]
train_x, train_y, train_t = build(counts)
test_x, test_y, test_t = build([50] * K)

MEAN = torch.tensor([0.5, 0.5, 0.5]).view(1, 3, 1, 1)
STD = torch.tensor([0.17, 0.17, 0.17]).view(1, 3, 1, 1)


def to_input(x, t=None):
    x = (torch.from_numpy(x).float() / 255 - MEAN) / STD
    if t is not None:
        plane = torch.from_numpy(t).view(-1, 1, 1, 1).expand(-1, 1, SIZE, SIZE)
        x = torch.cat([x, plane * 2 - 1], 1)
    return x


USE_TIME = CASE in (4, 8)


def batches(bs, train=True):
    n = len(train_y)
    order = np.random.RandomState(torch.randint(0, 2 ** 31 - 1, (1,)).item()).permutation(n)
    if CASE == 5:
        starts = np.random.permutation(n // bs)     # reading blocks in random order keeps the disk reads contiguous
        chunks = [np.arange(s * bs, (s + 1) * bs) for s in starts]
    else:
        chunks = [order[i:i + bs] for i in range(0, n - bs + 1, bs)]
    for idx in chunks:
        x = to_input(train_x[idx], train_t[idx] if USE_TIME else None)
        yield x, torch.from_numpy(train_y[idx])


def augment(x, y):
    if torch.rand(1).item() < 0.5:
        x = x.flip(2)
    x = torch.rot90(x, int(torch.randint(0, 4, (1,))), (2, 3))
    if CASE in (0, 10):
        # every picture goes in twice: as it is and mirrored
        x = torch.cat([x, x.flip(3)], 0)
        y = y.repeat_interleave(2) if CASE == 0 else y.repeat(2)
    return x, y


# --------------------------------------------------------------------------- models
class LayerNorm2d(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class Block(nn.Module):
    def __init__(self, dim, ls=1e-2, act=nn.GELU):
        super().__init__()
        self.dw = nn.Conv2d(dim, dim, 5, padding=2, groups=dim)
        self.norm = nn.LayerNorm(dim)
        self.up = nn.Linear(dim, 3 * dim)
        self.act = act()
        self.down = nn.Linear(3 * dim, dim)
        self.gamma = nn.Parameter(ls * torch.ones(dim))

    def forward(self, x):
        h = self.dw(x).permute(0, 2, 3, 1)
        h = self.gamma * self.down(self.act(self.up(self.norm(h))))
        return x + h.permute(0, 3, 1, 2)


class TinyConvNeXt(nn.Module):
    def __init__(self, in_ch=3, dims=(24, 48), depths=(1, 2), ls=0.3, act=nn.GELU, drop=0.0):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(in_ch, dims[0] // 2, 3, padding=1, bias=False), nn.BatchNorm2d(dims[0] // 2), nn.GELU(),
            nn.Conv2d(dims[0] // 2, dims[0], 3, padding=1, bias=False), nn.BatchNorm2d(dims[0]), nn.GELU(),
            nn.MaxPool2d(2))
        stages, downs = [], []
        for i, (d, n) in enumerate(zip(dims, depths)):
            stages.append(nn.Sequential(*[Block(d, ls, act) for _ in range(n)]))
            if i + 1 < len(dims):
                downs.append(nn.Sequential(LayerNorm2d(d), nn.Conv2d(d, dims[i + 1], 2, stride=2)))
        if CASE == 1:
            self.stages, self.downs = stages, downs
        else:
            self.stages, self.downs = nn.ModuleList(stages), nn.ModuleList(downs)
        self.norm = nn.LayerNorm(dims[-1])
        self.drop = nn.Dropout(drop)
        self.head = nn.Linear(dims[-1], K)

    def forward(self, x):
        x = self.stem(x)
        for i, s in enumerate(self.stages):
            x = s(x)
            if i < len(self.downs):
                x = self.downs[i](x)
        return self.head(self.drop(self.norm(F.gelu(x).mean((2, 3)))))


def cna(i, o, k, s=1, norm="bn"):
    n = nn.BatchNorm2d(o) if norm == "bn" else nn.GroupNorm(4, o)
    return nn.Sequential(nn.Conv2d(i, o, k, stride=s, padding=k // 2, bias=False), n, nn.ReLU(inplace=True))


class Mixed(nn.Module):
    def __init__(self, i, w, norm):
        super().__init__()
        self.b1 = cna(i, w, 1, norm=norm)
        self.b3 = nn.Sequential(cna(i, w, 1, norm=norm), cna(w, w, 3, norm=norm))
        self.b5 = nn.Sequential(cna(i, w // 2, 1, norm=norm), cna(w // 2, w, 5, norm=norm))

    def forward(self, x):
        return torch.cat([self.b1(x), self.b3(x), self.b5(x)], 1)


class TinyInception(nn.Module):
    def __init__(self, in_ch=3, w=8, norm="bn", drop=0.0):
        super().__init__()
        self.body = nn.Sequential(cna(in_ch, 16, 3, norm=norm), Mixed(16, w, norm), nn.MaxPool2d(2),
                                  Mixed(3 * w, 2 * w, norm), nn.MaxPool2d(2), cna(6 * w, 4 * w, 3, norm=norm))
        self.fc = nn.Sequential(nn.Dropout(drop), nn.Linear(4 * w, K))

    def forward(self, x):
        return self.fc(self.body(x).mean((2, 3)))


def make():
    c = CASE
    in_ch = 4 if USE_TIME else 3
    if c in (0, 3, 10):
        net = TinyInception(in_ch, 8, "bn", 0.1)
    elif c == 7:
        net = TinyInception(in_ch, 8, "gn", 0.5)
    elif c == 9:
        net = TinyInception(in_ch, 8, "bn")
    elif c == 1:
        net = TinyConvNeXt(in_ch, (24, 48, 64), (1, 1, 1), ls=1.0)
    elif c == 11:
        net = TinyInception(in_ch, 8, "gn")
    else:
        net = TinyConvNeXt(in_ch, drop=0.1 if c == 6 else 0.0)
    return net


net = make()
EPOCHS, BS, ACC = {7: (7, 4, 1), 8: (10, 16, 2), 0: (7, 32, 1), 10: (7, 32, 1), 3: (8, 32, 1), 9: (11, 32, 1)}.get(CASE, (12, 32, 1))
STEPS = EPOCHS * (len(train_y) // BS) // ACC

if CASE in (0, 3, 10):
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=1e-4)
    sched, per_epoch = StepLR(opt, 4, 0.3), True
elif CASE == 2:
    opt = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=0.02)
    sched, per_epoch = ExponentialLR(opt, 0.85), False
elif CASE == 9:
    opt = torch.optim.RMSprop(net.parameters(), lr=1e-3, alpha=0.95)
    sched, per_epoch = ExponentialLR(opt, 0.9), True
elif CASE == 7:
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    sched, per_epoch = LambdaLR(opt, lambda i: 1.0), True
elif CASE == 11:
    opt = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=0.5)
    sched, per_epoch = LambdaLR(opt, lambda i: 0.5 * (1 + math.cos(math.pi * min(1, i / STEPS)))), False
else:
    opt = torch.optim.AdamW(net.parameters(), lr=1.5e-3, weight_decay=0.02)
    warm = STEPS // 8
    sched, per_epoch = LambdaLR(opt, lambda i: i / warm if i < warm else 0.5 * (
        1 + math.cos(math.pi * min(1.0, (i - warm) / (STEPS - warm))))), False

weight = None
if CASE == 11:
    weight = torch.tensor([len(train_y) / (K * n) for n in counts], dtype=torch.float32).sqrt()
smooth = 0.1 if CASE == 6 else 0.0


def mixup_loss(x, y):
    lam = float(np.random.RandomState(int(torch.randint(0, 2 ** 31 - 1, (1,)))).beta(0.4, 0.4))
    p = torch.randperm(len(y))
    out = net(lam * x + (1 - lam) * x[p])
    return lam * F.cross_entropy(out, y) + (1 - lam) * F.cross_entropy(out, y[p]), out


@torch.no_grad()
def accuracy():
    net.eval()
    hit = 0
    for i in range(0, len(test_y), 64):
        if CASE == 3:
            x = torch.from_numpy(test_x[i:i + 64]).float() / 255
        else:
            x = to_input(test_x[i:i + 64], test_t[i:i + 64] if USE_TIME else None)
        hit += (net(x).argmax(1) == torch.from_numpy(test_y[i:i + 64])).sum().item()
    net.train()
    return hit / len(test_y)


step = 0
for epoch in range(EPOCHS):
    tot, seen = 0.0, 0
    for j, (x, y) in enumerate(batches(BS)):
        x, y = augment(x, y)
        if CASE == 9:
            loss, _ = mixup_loss(x, y)
        else:
            loss = F.cross_entropy(net(x), y, weight=weight, label_smoothing=smooth)
        (loss / ACC).backward()
        tot += loss.item()
        seen += 1
        if (j + 1) % ACC == 0:
            opt.step()
            opt.zero_grad()
            step += 1
            if not per_epoch:
                sched.step()
    if per_epoch:
        sched.step()
    if ACC > 1:
        opt.zero_grad()
    print("epoch %2d  step %4d  loss %.4f  test acc %.3f  lr %.2e" % (epoch, step, tot / seen, accuracy(), opt.param_groups[0]["lr"]))
