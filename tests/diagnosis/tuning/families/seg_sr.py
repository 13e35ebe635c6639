"""Small pictures: binary segmentation (cases with masks) or 2x super-resolution."""
import math
import os
import random
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

CASE = int(os.environ.get('CASE', 0))
SEED = int(os.environ.get('SEED', 0))
torch.set_num_threads(1)
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)

SR = CASE in (2, 5, 7, 8)
N = 24


def picture(rng):
    yy, xx = np.mgrid[0:N, 0:N].astype(np.float32)
    gx, gy = rng.uniform(-0.3, 0.3, 2) / N
    img = rng.uniform(0.25, 0.45) + gx * (xx - N / 2) + gy * (yy - N / 2)
    mask = np.zeros((N, N), bool)
    for _ in range(1 if CASE == 9 else rng.randint(1, 4)):
        cx, cy = rng.uniform(4, N - 4, 2)
        a, b = (1.3, 1.6) if CASE == 9 else rng.uniform(2, 5, 2)
        th = rng.uniform(0, math.pi)
        u = (xx - cx) * math.cos(th) + (yy - cy) * math.sin(th)
        v = -(xx - cx) * math.sin(th) + (yy - cy) * math.cos(th)
        m = (u / a) ** 2 + (v / b) ** 2 < 1
        mask |= m
        img = img + m * rng.uniform(0.2, 0.4)
    # dark strokes that are no part of any object
    k = rng.randint(0, N)
    img[:, k:k + 1] += rng.uniform(0.15, 0.3)
    noise = 0.02 if SR else 0.09
    return np.clip(img + rng.randn(N, N) * noise, 0, 1), mask


def dataset(n, seed):
    rng = np.random.RandomState(seed)
    p = [picture(rng) for _ in range(n)]
    img = torch.tensor(np.stack([a for a, _ in p]), dtype=torch.float32)[:, None]
    mask = torch.tensor(np.stack([b for _, b in p]), dtype=torch.float32)[:, None]
    if CASE == 5:
        img = img * 255
    if SR:
        return F.avg_pool2d(img, 2), img
    return img, mask


class TinyUNet(nn.Module):
    def __init__(self, c=8):
        super().__init__()
        self.d1 = nn.Sequential(nn.Conv2d(1, c, 3, padding=1), nn.BatchNorm2d(c), nn.ReLU())
        self.d2 = nn.Sequential(nn.Conv2d(c, 2 * c, 3, 2, 1), nn.BatchNorm2d(2 * c), nn.ReLU(),
                                nn.Conv2d(2 * c, 2 * c, 3, 1, 1), nn.BatchNorm2d(2 * c), nn.ReLU())
        self.u = nn.Sequential(nn.Conv2d(3 * c, c, 3, padding=1), nn.BatchNorm2d(c), nn.ReLU())
        self.out = nn.Conv2d(c, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = F.interpolate(self.d2(a), scale_factor=2, mode='nearest')
        return self.out(self.u(torch.cat([a, b], 1)))


class SRNet(nn.Module):
    def __init__(self, c=16, residual=False):
        super().__init__()
        self.head = nn.Conv2d(1, c, 3, padding=1)
        self.body = nn.Sequential(nn.ReLU(), nn.Conv2d(c, c, 3, padding=1), nn.ReLU(),
                                  nn.Conv2d(c, c, 3, padding=1), nn.ReLU())
        self.tail = nn.Sequential(nn.Conv2d(c, 4, 3, padding=1), nn.PixelShuffle(2))
        self.residual = residual

    def forward(self, x):
        y = self.tail(self.body(self.head(x)))
        if self.residual:
            y = y + F.interpolate(x, scale_factor=2, mode='bilinear', align_corners=False)
        if CASE == 5:
            y = y.clamp(0, 1)
        return y


def dice_loss(logits, target, eps=1.0):
    p = logits if CASE == 6 else torch.sigmoid(logits)
    inter = (p * target).sum((1, 2, 3))
    total = p.sum((1, 2, 3)) + target.sum((1, 2, 3))
    d = (2 * inter + eps) / (total + eps)
    return (-d if CASE == 1 else 1 - d).mean()


def focal_loss(logits, target, gamma, alpha, eps):
    p = torch.sigmoid(logits)
    pos = -alpha * torch.pow(1. - p + (eps if CASE == 9 else 0), gamma) * target * torch.log(p + eps)
    neg = -(1 - alpha) * torch.pow(p + (eps if CASE == 9 else 0), gamma) * (1. - target) * torch.log(1. - p + eps)
    return (pos + neg).mean()


def ssim(a, b, size=7):
    k = torch.ones(1, 1, size, size) / size ** 2
    ma, mb = F.conv2d(a, k), F.conv2d(b, k)
    va = F.conv2d(a * a, k) - ma ** 2
    vb = F.conv2d(b * b, k) - mb ** 2
    cab = F.conv2d(a * b, k) - ma * mb
    c1, c2 = 0.01 ** 2, 0.03 ** 2
    return (((2 * ma * mb + c1) * (2 * cab + c2)) / ((ma ** 2 + mb ** 2 + c1) * (va + vb + c2))).mean()


def criterion(out, y):
    if SR:
        if CASE == 2:
            return 0.2 * F.l1_loss(out, y) + 0.8 * ssim(out, y)
        if CASE == 7:
            return F.mse_loss(out, y, reduction='sum')
        if CASE == 5:
            return F.mse_loss(out, y)
        return 0.8 * F.l1_loss(out, y) + 0.2 * (1 - ssim(out, y))
    if CASE in (1, 6):
        return dice_loss(out, y)
    if CASE == 3:
        return focal_loss(out, y, 0.5, 0.5, 1e-8)
    if CASE == 9:
        return focal_loss(out, y, 2.0, 0.75, 1e-6)
    return F.binary_cross_entropy_with_logits(out, y) + dice_loss(out, y)


def augment(x, y):
    if random.random() < 0.5:
        x = x.flip(-1)
        if CASE != 4:
            y = y.flip(-1)
    if random.random() < 0.5:
        x = x.flip(-2)
        if CASE != 4:
            y = y.flip(-2)
    return x, y


@torch.no_grad()
def evaluate(net, data):
    net.eval()
    x, y = data
    out = net(x)
    net.train()
    if SR:
        base = F.interpolate(x, scale_factor=2, mode='bilinear', align_corners=False)
        psnr = lambda a: -10 * math.log10(F.mse_loss(a, y).item())
        if CASE == 5:
            out, y, base = out / 255, y / 255, base / 255
        o = out.clamp(0, 1)
        if not torch.isfinite(o).all():
            return 'not finite'
        return 'psnr %.2f (bilinear %.2f) ssim %.3f' % (psnr(o), psnr(base), ssim(o, y).item())
    p = (out > 0).float()
    inter = (p * y).sum()
    return 'dice %.4f' % (2 * inter / (p.sum() + y.sum() + 1e-6)).item()


def main():
    train, val = dataset(320, 60 + SEED), dataset(160, 8000 + SEED)
    bs = 16
    if SR:
        net = SRNet(residual=CASE == 8)
        if CASE == 7:
            opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
        else:
            opt = torch.optim.Adam(net.parameters(), lr=1e-3)
        epochs = 14
    else:
        net = TinyUNet()
        opt = torch.optim.Adam(net.parameters(), lr={3: 2e-2, 1: 3e-3, 9: 3e-3}.get(CASE, 2e-3))
        epochs = 14 if CASE != 3 else 20
    print('before', evaluate(net, val))
    for ep in range(epochs):
        order = torch.randperm(len(train[0]))
        tot, nb = 0.0, 0
        for i in range(0, len(order) - bs + 1, bs):
            j = order[i:i + bs]
            x, y = augment(train[0][j], train[1][j])
            loss = criterion(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item()
            nb += 1
        if ep % 3 == 1:
            print('epoch %d loss %.5f %s' % (ep, tot / nb, evaluate(net, val)), flush=True)
    print('final', evaluate(net, val))


main()
