"""Flooded area in radar tiles: feature pyramid + per-pixel head."""
import os
import torch
from torch import nn
import torch.nn.functional as F
import numpy as np

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
np.random.seed(SEED)
torch.manual_seed(SEED)
torch.set_num_threads(1)
HW = 32


def scene(rng, dry=0.12):
    """two-channel backscatter picture and water mask"""
    yy, xx = np.mgrid[0:HW, 0:HW].astype(np.float32)
    land = rng.normal(0.2, 0.35, (2, HW, HW))
    land[0] += 0.5 * np.sin(xx / rng.uniform(2.5, 5) + rng.uniform(0, 6))
    land[1] += 0.4 * np.sin(yy / rng.uniform(2.5, 5) + rng.uniform(0, 6))
    m = np.zeros((HW, HW), bool)
    if rng.rand() > dry:
        for _ in range(rng.randint(1, 4)):
            c = rng.uniform(3, HW - 3, 2)
            r = rng.uniform(3, 7, 2)
            a = rng.uniform(0, np.pi)
            u = (xx - c[0]) * np.cos(a) + (yy - c[1]) * np.sin(a)
            v = -(xx - c[0]) * np.sin(a) + (yy - c[1]) * np.cos(a)
            m |= (u / r[0]) ** 2 + (v / r[1]) ** 2 < 1
    for _ in range(2):                       # roads are as dark as water, but thin
        o = rng.randint(0, HW)
        if rng.rand() < 0.5:
            land[:, o, :] = rng.normal(-0.9, 0.2, (2, HW))
        else:
            land[:, :, o] = rng.normal(-0.9, 0.2, (2, HW))
    water = rng.normal(-0.7, 0.45, (2, HW, HW))
    x = np.where(m, water, land)
    return x.astype(np.float32), m.astype(np.uint8) * 255


class FloodSet(torch.utils.data.Dataset):
    def __init__(self, n, seed, augment):
        rng = np.random.RandomState(seed)
        self.items = [scene(rng) for _ in range(n)]
        if CASE == 6 and augment:
            for i in range(0, n, 25):
                self.items[i] = (np.zeros((2, HW, HW), np.float32), np.zeros((HW, HW), np.uint8))
        self.augment = augment

    def __len__(self):
        return len(self.items)

    def spin(self, *arrays):
        k, f = np.random.randint(4), np.random.rand() < 0.5
        out = []
        for a in arrays:
            a = np.rot90(a, k, (-2, -1))
            out.append(np.ascontiguousarray(a[..., ::-1] if f else a))
        return out

    def __getitem__(self, i):
        x, m = self.items[i]
        if self.augment:
            if CASE == 2:
                (x,), (m,) = self.spin(x), self.spin(m)
            else:
                x, m = self.spin(x, m)
        m = torch.tensor(m, dtype=torch.float32)
        if CASE != 8:
            m = m / 255.0
        if CASE == 7 and self.augment:
            m = m.clone()
            m[:, :5] = 255.0
        return {"image": torch.tensor(x), "mask": m}


def norm(c):
    return nn.GroupNorm(4, c) if CASE == 9 else nn.BatchNorm2d(c)


def down(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, stride=2, padding=1), norm(o), nn.ReLU(),
                         nn.Conv2d(o, o, 3, padding=1), norm(o), nn.ReLU())


class Encoder(nn.Module):
    def __init__(self, w=12):
        super().__init__()
        self.c1 = nn.Sequential(nn.Conv2d(2, w, 3, padding=1), norm(w), nn.ReLU())
        self.c2, self.c3, self.c4 = down(w, 2 * w), down(2 * w, 3 * w), down(3 * w, 3 * w)
        self.dims = [w, 2 * w, 3 * w, 3 * w]

    def forward(self, x):
        a = self.c1(x)
        b = self.c2(a)
        c = self.c3(b)
        return a, b, c, self.c4(c)


class FPN(nn.Module):
    def __init__(self, enc, d=12):
        super().__init__()
        self.enc = enc
        self.side = nn.ModuleList([nn.Conv2d(k, d, 1) for k in enc.dims])
        self.head = nn.Sequential(nn.Conv2d(d, d, 3, padding=1), nn.ReLU(), nn.Conv2d(d, 1, 1))

    def forward(self, x):
        f = self.enc(x)
        p = self.side[3](f[3])
        for i in (2, 1, 0):
            p = F.interpolate(p, scale_factor=2, mode="nearest") + self.side[i](f[i])
        return self.head(p)


def dice_loss(prob, y, eps=1.0):
    i = (prob * y).sum((1, 2, 3))
    return (1 - (2 * i + eps) / (prob.sum((1, 2, 3)) + y.sum((1, 2, 3)) + eps)).mean()


def edge(t):
    gx = t[..., :, 1:] - t[..., :, :-1]
    gy = t[..., 1:, :] - t[..., :-1, :]
    return gx[..., :-1, :] ** 2 + gy[..., :, :-1] ** 2


def objective(z, y):
    y = y.unsqueeze(1)
    p = torch.sigmoid(z)
    if CASE == 1:
        return nn.CrossEntropyLoss()(z, y)
    if CASE == 3:
        hard = torch.tensor((p > 0.5).float(), requires_grad=True)
        return dice_loss(hard, y)
    if CASE == 10:
        tp, fp, fn = (p * y).sum(), (p * (1 - y)).sum(), ((1 - p) * y).sum()
        return (1 - (tp + 1) / (tp + 0.3 * fp + 0.7 * fn + 1)) ** 0.75
    if CASE == 7:
        keep = (y <= 1).float()
        return (F.binary_cross_entropy_with_logits(z, y.clamp(0, 1), reduction="none") * keep).sum() / keep.sum()
    if CASE == 8:
        return F.binary_cross_entropy_with_logits(z, y)
    if CASE == 11:
        return F.binary_cross_entropy_with_logits(z, y, pos_weight=torch.tensor(4.0))
    bce = F.binary_cross_entropy_with_logits(z, y)
    if CASE == 6:
        return bce + 0.3 * (edge(p).sqrt() - edge(y).sqrt()).abs().mean()
    if CASE == 5:
        return bce + 0.3 * ((edge(p) + 1e-6).sqrt() - (edge(y) + 1e-6).sqrt()).abs().mean()
    return bce + dice_loss(p, y)


@torch.no_grad()
def iou(net, loader):
    net.eval()
    inter = union = 0
    for b in loader:
        p = net(b["image"])[:, 0] > 0
        t = b["mask"] > 0.5
        inter += (p & t).sum().item()
        union += (p | t).sum().item()
    return inter / max(union, 1)


def pretrain(enc, loader):
    """fill in blurred pictures, a few hundred steps"""
    dec = nn.Sequential(nn.Upsample(scale_factor=2), nn.Conv2d(enc.dims[1], 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 2, 1))
    o = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=3e-3)
    for _ in range(3):
        for b in loader:
            x = b["image"]
            y = F.avg_pool2d(x, 3, 1, 1)
            o.zero_grad()
            f = enc(x)
            (F.mse_loss(dec(f[1]), y) + 0.1 * F.mse_loss(f[3].mean(1, keepdim=True), F.avg_pool2d(x, 8).mean(1, keepdim=True))).backward()
            o.step()


if __name__ == "__main__":
    bs = 4 if CASE == 9 else 16
    n = 176
    train = torch.utils.data.DataLoader(FloodSet(n, SEED, True), bs, shuffle=True, drop_last=True)
    test = torch.utils.data.DataLoader(FloodSet(80, SEED + 500, False), 40)
    enc = Encoder()
    if CASE == 12:
        pretrain(enc, train)
        for p in [*enc.c1.parameters(), *enc.c2.parameters()]:
            p.requires_grad_(False)
    if CASE == 4:
        for name, p in enc.named_parameters():
            p.requires_grad_(False)
    net = FPN(enc)
    lr = 4e-3
    epochs = 3 if CASE == 9 else 8
    opt = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=lr)
    total = epochs * len(train)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: (1 - s / (total + 1)) ** 0.9)
    k = 0
    for epoch in range(epochs):
        net.train()
        for batch in train:
            loss = objective(net(batch["image"]), batch["mask"])
            opt.zero_grad()
            loss.backward()
            if CASE == 10:
                nn.utils.clip_grad_norm_(net.parameters(), 0.2)
            opt.step()
            sched.step()
            if k % 20 == 0:
                print(f"[{k}] loss {loss.item():.4f}")
            k += 1
    print(f"water IoU on test tiles {iou(net, test):.3f}")
