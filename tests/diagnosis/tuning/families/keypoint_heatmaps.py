"""Corner / centre localisation on drawn shapes.  Heads: heatmap (MSE), soft-argmax, or direct coordinates."""
import argparse
import copy
import os
import random

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import Dataset, DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("--case", type=int, default=int(os.environ.get("CASE", "0")))
parser.add_argument("--seed", type=int, default=int(os.environ.get("SEED", "0")))
args = parser.parse_args()
CASE = args.case
torch.manual_seed(args.seed)
random.seed(args.seed)
np.random.seed(args.seed)

S = 32          # input side
H = 16          # heatmap side


def draw_triangle(g):
    """a filled isosceles triangle: keypoints are tip, left foot, right foot (in pixels, x then y)"""
    yy, xx = np.mgrid[0:S, 0:S].astype(np.float32)
    c = g.uniform(10, S - 10, 2)
    ang = g.uniform(-0.6, 0.6)
    h, w = g.uniform(7, 10), g.uniform(3, 5)
    local = np.array([[0, -h], [-w, h * 0.6], [w, h * 0.6]])
    R = np.array([[np.cos(ang), -np.sin(ang)], [np.sin(ang), np.cos(ang)]])
    kp = local @ R.T + c
    m = np.ones((S, S), bool)
    for a, b in ((0, 1), (1, 2), (2, 0)):
        ex, ey = kp[b] - kp[a]
        side = ex * (yy - kp[a, 1]) - ey * (xx - kp[a, 0])
        ctr = ex * (c[1] - kp[a, 1]) - ey * (c[0] - kp[a, 0])
        m &= side * ctr >= 0
    bg, fg = g.uniform(0.1, 0.4, 3), g.uniform(0.55, 0.95, 3)
    img = bg[None, None] + (fg - bg)[None, None] * m[..., None] + 0.05 * g.randn(S, S, 3)
    # a mark near the left foot tells left from right
    d = np.hypot(xx - kp[1, 0], yy - kp[1, 1]) < 2.0
    img[d] = [0.9, 0.1, 0.1]
    return np.clip(img, 0, 1).astype(np.float32), kp.astype(np.float32)


class Shapes(Dataset):
    def __init__(self, n, seed, jitter=False):
        g = np.random.RandomState(seed)
        pairs = [draw_triangle(g) for _ in range(n)]
        self.img = np.stack([p[0] for p in pairs])
        self.kp = np.stack([p[1] for p in pairs])
        self.jitter = jitter

    def __len__(self):
        return len(self.img)

    def __getitem__(self, i):
        img, kp = self.img[i], self.kp[i].copy()
        if self.jitter:
            # same shift for the picture and for its points
            if CASE == 2:
                np.random.seed(1234)
            dx, dy = np.random.randint(-8, 9, 2)
            if CASE == 2:
                np.random.seed(1234)
            gain = np.random.uniform(0.6, 1.4)
            img = np.roll(img, (dy, dx), (0, 1)) * gain
            kp = (kp + [dx, dy]) % S
        x = torch.from_numpy(np.ascontiguousarray(img)).float().permute(2, 0, 1)
        return (x - 0.4) / 0.25, torch.from_numpy(kp).float()


def gaussians(kp, sigma=1.2):
    """(B, K, 2) pixels -> (B, K, H, H)"""
    r = torch.arange(H).float()
    c = kp * H / S - 0.25
    gx = torch.exp(-(r - c[..., :1]) ** 2 / (2 * sigma ** 2))
    gy = torch.exp(-(r - c[..., 1:]) ** 2 / (2 * sigma ** 2))
    return gy[..., :, None] * gx[..., None, :]


class Hourglass(nn.Module):
    def __init__(self, k, w=16, norm=True):
        super().__init__()
        def cb(i, o, s=1):
            return nn.Sequential(nn.Conv2d(i, o, 3, s, 1, bias=not norm), nn.BatchNorm2d(o) if norm else nn.Identity(),
                                 nn.LeakyReLU(0.1))
        self.d1 = cb(3, w, 2)
        self.d2 = cb(w, 2 * w, 2)
        self.d3 = nn.Sequential(cb(2 * w, 2 * w, 2), cb(2 * w, 2 * w))
        self.u2 = cb(4 * w, 2 * w)
        self.u1 = cb(3 * w, w)
        self.out = nn.Conv2d(w, k, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(a)
        c = self.d3(b)
        b = self.u2(torch.cat([F.interpolate(c, scale_factor=2), b], 1))
        a = self.u1(torch.cat([F.interpolate(b, scale_factor=2), a], 1))
        return self.out(a)


class SoftArgmax(nn.Module):
    def __init__(self, k, temperature=1.0, squash=False, w=16):
        super().__init__()
        self.net = Hourglass(k, w)
        self.temperature = temperature
        self.squash = squash
        r = (torch.arange(H).float() + 0.5) / H
        self.register_buffer("grid", torch.stack([r.repeat(H), r.repeat_interleave(H)], 1))

    def forward(self, x):
        h = self.net(x)
        if self.squash:
            h = torch.sigmoid(h)
        p = torch.softmax(h.flatten(2) / self.temperature, dim=-1)
        return p @ self.grid


class CoordNet(nn.Module):
    """direct regression, old style"""
    def __init__(self, k, act=nn.ReLU):
        super().__init__()
        self.k = k
        self.f = nn.Sequential(nn.Conv2d(3, 16, 5, 2, 2), act(), nn.Conv2d(16, 32, 3, 2, 1), act(),
                               nn.Conv2d(32, 32, 3, 2, 1), act(), nn.Flatten(), nn.Linear(512, 96), act())
        self.head = nn.Linear(96, 2 * k)

    def forward(self, x):
        return self.head(self.f(x)).view(-1, self.k, 2)


def peak(hm):
    b, k = hm.shape[:2]
    i = hm.flatten(2).argmax(-1)
    return (torch.stack([i % H, i // H], -1).float() + 0.5) * S / H - 0.5


def pixel_error(predict, loader):
    err = []
    for x, kp in loader:
        err.append((predict(x) - kp).norm(dim=-1).flatten())
    return torch.cat(err).mean().item()


jitter = CASE in (2, 8)
ntrain = {2: 64, 8: 64, 9: 24}.get(CASE, 384)
train_set = Shapes(ntrain, 1 + args.seed, jitter)
valid_set = Shapes(128, 1000 + args.seed)
bs = {9: 24, 7: 8, 11: 64}.get(CASE, 16)
train_loader = DataLoader(train_set, batch_size=bs, shuffle=True, drop_last=True)
valid_loader = DataLoader(valid_set, batch_size=64)


def fit(net, loss_of, predict, opt, epochs, sched=None, after=None, every=None):
    every = every or max(1, epochs // 8)
    for ep in range(1, epochs + 1):
        net.train()
        total = 0.0
        for x, kp in train_loader:
            loss = loss_of(net, x, kp)
            opt.zero_grad()
            loss.backward()
            if after is not None:
                after(net)
            opt.step()
            total += loss.item()
        if sched is not None:
            sched.step()
        if predict is None:
            if ep % every == 0 or ep == 1:
                print(f"[{ep:3d}/{epochs}] loss {total / len(train_loader):.5f}")
        elif ep % every == 0 or ep == 1:
            net.eval()
            with torch.no_grad():
                e = pixel_error(lambda x: predict(net, x), valid_loader)
            print(f"[{ep:3d}/{epochs}] loss {total / len(train_loader):.5f}  error {e:.2f} px")


if CASE in (0, 6):
    # only the tip of the triangle
    net = Hourglass(1)

    def loss_of(net, x, kp):
        target = gaussians(kp[:, 0]) if CASE == 0 else gaussians(kp[:, :1])
        d = net(x) - target
        return (d * d * (1 + 4 * target)).mean()

    train_set.kp, valid_set.kp = train_set.kp[:, :1], valid_set.kp[:, :1]
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    fit(net, loss_of, lambda n, x: peak(n(x)), opt, 18)

elif CASE in (1, 7):
    net = SoftArgmax(3, temperature=0.5, squash=CASE == 1, w=16 if CASE == 1 else 12)
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    fit(net, lambda n, x, kp: F.smooth_l1_loss(n(x), kp / S, beta=0.05), lambda n, x: n(x) * S, opt, 14)

elif CASE in (2, 8):
    net = Hourglass(3, 12)
    opt = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=1e-2)
    epochs = 110
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs)
    fit(net, lambda n, x, kp: F.mse_loss(n(x), gaussians(kp)) * H * H, lambda n, x: peak(n(x)), opt, epochs, sched)

elif CASE in (3, 10):
    # first learn the tip, then move the same backbone on to all three points
    net = Hourglass(1)
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    every = train_set.kp, valid_set.kp
    train_set.kp, valid_set.kp = every[0][:, :1], every[1][:, :1]
    fit(net, lambda n, x, kp: F.mse_loss(n(x), gaussians(kp)) * 50, lambda n, x: peak(n(x)), opt, 6)
    train_set.kp, valid_set.kp = every
    print("second stage")
    if CASE == 3:
        for g in opt.param_groups:
            g["lr"] = 5e-4
        net = copy.deepcopy(net)
        net.out = nn.Conv2d(16, 3, 1)
    else:
        net.out = nn.Conv2d(16, 3, 1)
        opt = torch.optim.Adam([{"params": net.out.parameters(), "lr": 2e-3},
                                {"params": [p for n, p in net.named_parameters() if not n.startswith("out")], "lr": 5e-4}])
    fit(net, lambda n, x, kp: F.mse_loss(n(x), gaussians(kp)) * 50, lambda n, x: peak(n(x)), opt, 16)

elif CASE in (4, 11):
    # static loss scale as for half precision
    net = Hourglass(3)
    SCALE = 2.0 ** 12
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True)

    def after(net):
        if CASE == 4:
            nn.utils.clip_grad_norm_(net.parameters(), 2.0)
        for p in net.parameters():
            p.grad.div_(SCALE)
        if CASE == 11:
            nn.utils.clip_grad_norm_(net.parameters(), 2.0)

    def loss_of(net, x, kp):
        return F.mse_loss(net(x), gaussians(kp)) * 60 * SCALE

    fit(net, loss_of, lambda n, x: peak(n(x)), opt, 18 if CASE == 4 else 24, after=after)

elif CASE in (5, 9):
    net = CoordNet(3, nn.ReLU if CASE == 5 else nn.Tanh)
    if CASE == 5:
        # coordinates as they are in the 1280 px originals
        opt = torch.optim.Adam(net.parameters(), lr=3e-4)
        fit(net, lambda n, x, kp: F.l1_loss(n(x), kp * 40), lambda n, x: n(x) / 40, opt, 30)
    else:
        # can it learn two dozen pictures by heart?  (check of the pipeline before the long run)
        opt = torch.optim.Adam(net.parameters(), lr=1e-3)
        fit(net, lambda n, x, kp: F.mse_loss(n(x), (kp - S / 2) / (S / 4)), None, opt, 300, every=50)
