# Finds craters (dark disc with a bright rim) in small terrain tiles. One prediction per grid cell.
import os
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
np.random.seed(SEED)
torch.manual_seed(SEED)
torch.set_num_threads(1)

S, G = 32, 8           # tile size, grid size
CELL = S // G
yy, xx = np.mgrid[0:S, 0:S]


def make_tile(n_max=3):
    img = np.random.normal(0, 0.15, (S, S))
    img += 0.25 * np.sin(2 * np.pi * (xx * np.random.rand() + yy * np.random.rand()) / S + 6 * np.random.rand())
    target = np.zeros((4, G, G))      # objectness, dx, dy, radius / 8
    for _ in range(np.random.randint(1, n_max + 1)):
        r = np.random.uniform(2.0, 6.0)
        # the east part of the map was smoothed by lava, craters are rarer there
        cx = r / 2 + (S - r) * np.random.beta(1.2, 2.0)
        cy = np.random.uniform(r / 2, S - r / 2)
        cx, cy = min(cx, S - 0.01), min(cy, S - 0.01)
        d = np.sqrt((xx + 0.5 - cx) ** 2 + (yy + 0.5 - cy) ** 2)
        img[d < r] -= 0.8
        ring = np.abs(d - r) < 0.8
        img[ring] += 1.0
        gx, gy = int(cx // CELL), int(cy // CELL)
        target[:, gy, gx] = [1.0, cx / CELL - gx, cy / CELL - gy, r / 8]
    return img.astype(np.float32), target.astype(np.float32)


def make_set(n, n_max=3):
    pairs = [make_tile(n_max) for _ in range(n)]
    return (torch.from_numpy(np.stack([p[0] for p in pairs]))[:, None],
            torch.from_numpy(np.stack([p[1] for p in pairs])))


def conv_block(cin, cout, stride, bias0=None):
    conv = nn.Conv2d(cin, cout, 3, stride=stride, padding=1)
    if bias0 is not None:
        nn.init.normal_(conv.weight, std=0.01)
        nn.init.constant_(conv.bias, bias0)
    return nn.Sequential(conv, nn.ReLU())


PRIOR = -np.log((1 - 0.02) / 0.02)


class CraterNet(nn.Module):
    def __init__(self):
        super().__init__()
        b0 = PRIOR if CASE == 10 else None
        self.stem = nn.Sequential(conv_block(1, 16, 2), conv_block(16, 32, 2), conv_block(32, 32, 1))
        tower = [conv_block(32, 32, 1, b0), conv_block(32, 32, 1, b0)]
        self.tower = tower if CASE == 9 else nn.ModuleList(tower)
        self.obj = nn.Conv2d(32, 1, 1)
        self.box = nn.Conv2d(32, 3, 1)
        nn.init.constant_(self.obj.bias, PRIOR)
        nn.init.zeros_(self.box.weight)
        nn.init.zeros_(self.box.bias)

    def forward(self, x):
        f = self.stem(x)
        for layer in self.tower:
            f = layer(f)
        o = self.obj(f)[:, 0]
        if CASE == 1:
            o = torch.sigmoid(o)
        return o, self.box(f)


def focal(logit, t, gamma=2.0, alpha=0.75):
    p = torch.sigmoid(logit)
    pt = torch.where(t > 0, p, 1 - p)
    a = torch.where(t > 0, torch.full_like(p, alpha), torch.full_like(p, 1 - alpha))
    ce = F.binary_cross_entropy_with_logits(logit, t, reduction="none")
    return (a * (1 - pt) ** gamma * ce).mean()


def decode(box):
    return torch.cat([torch.sigmoid(box[:, :2]), box[:, 2:]], 1)


def criterion(o, box, tgt):
    t = tgt[:, 0]
    has = t > 0
    if CASE == 3:
        lo = focal(o, t)
    elif CASE == 4:
        lo = F.binary_cross_entropy_with_logits(o, t, reduction="sum", pos_weight=torch.tensor(5.0))
    else:
        lo = F.binary_cross_entropy_with_logits(o, t, pos_weight=torch.tensor(5.0))
    if CASE == 2:
        with torch.no_grad():
            pred = decode(box)
    else:
        pred = decode(box)
    pred = pred.permute(0, 2, 3, 1)[has]
    true = tgt[:, 1:].permute(0, 2, 3, 1)[has]
    xy = F.mse_loss(pred[:, :2], true[:, :2], reduction="sum" if CASE == 4 else "mean")
    if CASE == 6:
        r = F.mse_loss(torch.sqrt(pred[:, 2]), torch.sqrt(true[:, 2]))
    else:
        r = F.smooth_l1_loss(pred[:, 2], true[:, 2], reduction="sum" if CASE == 4 else "mean")
    return lo, xy, r


def evaluate(net, X, T):
    net.eval()
    with torch.no_grad():
        o, box = net(X)
        pred = decode(box)
    p = torch.sigmoid(o) > 0.5
    t = T[:, 0] > 0
    tp = (p & t).sum().item()
    f1 = 2 * tp / max(1, (p.sum() + t.sum()).item())
    err = (pred - T[:, 1:]).abs().permute(0, 2, 3, 1)[t]
    return f1, err[:, :2].mean().item() * CELL, err[:, 2].mean().item() * 8


def flip(x, t):
    x = x.flip(-1)
    if CASE != 7:
        t = t.flip(-1).clone()
        t[:, 1] = torch.where(t[:, 0] > 0, 1 - t[:, 1], t[:, 1])
    return x, t


X, T = make_set(900, 1 if CASE == 8 else 3)
Xv, Tv = make_set(250)
net = CraterNet()
bs, epochs = 32, 11
opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=1e-3)
sched = None
if CASE == 4:
    opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
if CASE == 5:
    opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda k: min(1.0, (k + 1) / 100))
if CASE == 11:
    for q in net.box.parameters():
        q.requires_grad_(False)

for epoch in range(epochs):
    if CASE == 8 and epoch == 6:
        X, T = make_set(900, 4)          # busy terrain
    if CASE == 11 and epoch == 4:
        for q in net.box.parameters():
            q.requires_grad_(True)
    net.train()
    perm = torch.randperm(len(X))
    log = np.zeros(3)
    for i in range(0, len(X) - bs + 1, bs):
        x, t = X[perm[i:i + bs]], T[perm[i:i + bs]]
        if torch.rand(1).item() < 0.5:
            x, t = flip(x, t)
        lo, xy, r = criterion(*net(x), t)
        if CASE == 3:
            loss = 10 * lo + xy + r
        elif CASE == 11 and epoch < 4:
            loss = lo
        else:
            loss = lo + 2 * xy + r
        opt.zero_grad()
        loss.backward()
        if CASE == 5:
            nn.utils.clip_grad_norm_(net.parameters(), 0.1)
        opt.step()
        if sched:
            sched.step()
        log += [lo.item(), xy.item(), r.item()]
    if epoch % 3 == 0 or epoch == epochs - 1:
        f1, exy, er = evaluate(net, Xv, Tv)
        print("ep %d obj %.4f xy %.4f rad %.4f | f1 %.3f centre err %.2f px radius err %.2f px"
              % (epoch, *(log / (len(X) // bs)), f1, exy, er))
