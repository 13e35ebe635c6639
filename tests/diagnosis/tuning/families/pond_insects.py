"""Six kinds of pond insects from 24x24 colour snapshots, small ResNet, plain functions."""
import copy
import os
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.default_rng(100 + SEED)

NAMES = ["strider", "boatman", "diver", "nymph", "scorpion", "whirligig"]
EPOCHS = {1: 8, 6: 10}.get(CASE, 8)
BATCH = 50


def draw(n):
    """uint8 pictures, height x width x channel"""
    y = rng.integers(0, 6, n)
    yy, xx = np.mgrid[0:24, 0:24].astype(np.float32)
    out = np.empty((n, 24, 24, 3), np.uint8)
    for i in range(n):
        bg = np.array([60, 105, 95]) + rng.normal(0, 14, 3)
        img = np.ones((24, 24, 3), np.float32) * bg
        img += (rng.normal(0, 9) * np.sin(yy * rng.uniform(.3, .9) + rng.uniform(0, 6)))[..., None]
        for _ in range(rng.integers(1, 4)):                      # reeds
            c = rng.uniform(0, 24)
            img[np.abs(xx - c + rng.normal(0, .2) * (yy - 12)) < .8] = (70, 140, 60)
        cy, cx = rng.uniform(9, 15, 2)
        a = rng.uniform(-.5, .5)
        u = (xx - cx) * np.cos(a) + (yy - cy) * np.sin(a)
        v = -(xx - cx) * np.sin(a) + (yy - cy) * np.cos(a)
        k, s = y[i], rng.uniform(.8, 1.2)
        col = np.array([(120, 85, 60), (95, 110, 60), (60, 75, 85)][k % 3]) + rng.normal(0, 20, 3)
        if k == 0:
            m = ((u / 5 / s) ** 2 + (v / 1.3 / s) ** 2 < 1) | (np.abs(np.abs(u) - np.abs(v) * .6) < .5) & (np.abs(v) < 6)
        elif k == 1:
            m = ((u / 4.5 / s) ** 2 + (v / 2.4 / s) ** 2 < 1) | (np.abs(u) < .6) & (np.abs(v) < 7)
        elif k == 2:
            m = (u / 4.6 / s) ** 2 + (v / 3.2 / s) ** 2 < 1
        elif k == 3:
            m = ((u / 5 / s) ** 2 + (v / 1.6 / s) ** 2 < 1) | (u > 3) & (u < 8) & (np.abs(np.abs(v) - (u - 3) * .5) < .6)
        elif k == 4:
            m = ((u / 4 / s) ** 2 + (v / 2.6 / s) ** 2 < 1) | (np.abs(v) < .6) & (u > 0) & (u < 9)
        else:
            m = ((u / 3.4 / s) ** 2 + (v / 2.9 / s) ** 2 < 1) | (np.abs(np.hypot(u, v) - 7) < .5)
        img[m] = img[m] * .2 + col * .8
        img += rng.normal(0, 12, img.shape)
        out[i] = img.clip(0, 255)
    return out, y


class Block(nn.Module):
    def __init__(self, cin, cout, stride, mom):
        super().__init__()
        self.a = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.na = nn.BatchNorm2d(cout, momentum=mom)
        self.b = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.nb = nn.BatchNorm2d(cout, momentum=mom)
        self.skip = nn.Conv2d(cin, cout, 1, stride, bias=False) if cin != cout else nn.Identity()

    def forward(self, x):
        h = F.relu(self.na(self.a(x)))
        return F.relu(self.nb(self.b(h)) + self.skip(x))


def make_net(n_out=6):
    mom = 0.003 if CASE == 3 else 0.1
    return nn.Sequential(
        nn.Sequential(nn.Conv2d(3, 12, 3, 1, 1, bias=False), nn.BatchNorm2d(12, momentum=mom), nn.ReLU(),
                      Block(12, 16, 2, mom), Block(16, 24, 2, mom), Block(24, 32, 2, mom)),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, n_out))


def to_tensor(imgs):
    if CASE == 8:
        return torch.from_numpy(imgs).reshape(len(imgs), 3, 24, 24).float()
    return torch.from_numpy(imgs).permute(0, 3, 1, 2).contiguous().float()


def augment(x, g):
    n = len(x)
    flip = torch.rand(n, generator=g) < .5
    x = torch.where(flip[:, None, None, None], x.flip(3), x)
    dy, dx = torch.randint(-3, 4, (2,), generator=g).tolist()
    x = torch.roll(x, (dy, dx), (2, 3))
    if CASE == 6:
        gain = .6 + .8 * torch.rand(n, 3, 1, 1, generator=g)
        x = x * gain
        t = torch.randint(0, 18, (2,), generator=g).tolist()
        x = x.clone()
        x[:, :, t[0]:t[0] + 6, t[1]:t[1] + 6] = 0
    return x


@torch.no_grad()
def evaluate(net, x, y):
    net.eval()
    out = torch.cat([net(b) for b in x.split(100)])
    return F.cross_entropy(out, y).item(), (out.argmax(1) == y).float().mean().item()


def train_epoch(net, x, y, opt, g, sched=None, accumulate=1, smoothing=0., follower=None):
    net.train()
    if CASE == 4:
        net[0].eval()
    tot = 0.
    for k, idx in enumerate(torch.randperm(len(x)).split(BATCH // accumulate)):
        loss = F.cross_entropy(net(augment(x[idx], g)), y[idx], label_smoothing=smoothing)
        (loss / accumulate).backward()
        if (k + 1) % accumulate == 0:
            opt.step()
            opt.zero_grad()
            if sched is not None:
                sched.step()
            if follower is not None:
                with torch.no_grad():
                    for f, p in zip(follower.state_dict().values(), net.state_dict().values()):
                        if f.is_floating_point():
                            f.mul_(.96).add_(p, alpha=.04)
                        else:
                            f.copy_(p)
        tot += loss.item() * len(idx)
    return tot / len(x)


def main():
    t0 = time.time()
    xtr, ytr = draw(1200)
    xte, yte = draw(500)
    xtr, xte = to_tensor(xtr) / 255, to_tensor(xte) / 255
    ytr, yte = torch.from_numpy(ytr), torch.from_numpy(yte)
    mean, std = xtr.mean((0, 2, 3), keepdim=True), xtr.std((0, 2, 3), keepdim=True)
    xtr = (xtr - mean) / std
    if CASE != 10:
        xte = (xte - mean) / std

    net = make_net()
    g = torch.Generator().manual_seed(SEED)
    if CASE == 4:
        # first the easier question: which of the two water types; then only a new head on the fixed trunk
        pre = nn.Sequential(net[0], net[1], net[2], nn.Linear(32, 6))
        xo, yo = draw(1200)
        xo = (to_tensor(xo) / 255 - mean) / std
        yo = torch.from_numpy(yo)
        opt = torch.optim.AdamW(pre.parameters(), lr=4e-3)
        for e in range(6):
            pre.train()
            for idx in torch.randperm(len(xo)).split(BATCH):
                loss = F.cross_entropy(pre(augment(xo[idx], g)), yo[idx])
                opt.zero_grad()
                loss.backward()
                opt.step()
            print(f"pretrain {e} loss {loss.item():.3f}")
        for p in net[0].parameters():
            p.requires_grad_(False)

    steps = EPOCHS * (len(xtr) // BATCH)
    sched = epoch_sched = follower = None
    if CASE in (1, 6):
        opt = torch.optim.SGD(net.parameters(), lr=.1, momentum=.9, nesterov=True, weight_decay=5e-4)
        sched = torch.optim.lr_scheduler.OneCycleLR(opt, .2, total_steps=steps + 1)
    elif CASE == 4:
        opt = torch.optim.Adam(net[3].parameters(), lr=1e-2)
    else:
        opt = torch.optim.AdamW(net.parameters(), lr=4e-3, weight_decay=1e-2)
        epoch_sched = torch.optim.lr_scheduler.StepLR(opt, step_size=3, gamma=.4)
    if CASE == 7:
        sched, epoch_sched = epoch_sched, None
    if CASE == 9:
        follower = copy.deepcopy(net)
    if CASE == 2:
        net = copy.deepcopy(net).to(memory_format=torch.channels_last)

    for e in range(EPOCHS):
        if CASE == 5:
            g.manual_seed(SEED)
            torch.manual_seed(SEED)
        tr = train_epoch(net, xtr, ytr, opt, g, sched, accumulate=2 if CASE == 0 else 1,
                         smoothing=.1 if CASE in (1, 6) else 0., follower=follower)
        if epoch_sched is not None:
            epoch_sched.step()
        vl, va = evaluate(follower if follower is not None else net, xte, yte)
        print(f"epoch {e + 1}/{EPOCHS} lr {opt.param_groups[0]['lr']:.5f} train {tr:.3f} val {vl:.3f} acc {va:.3f}")
    print(f"final accuracy {va:.3f}  ({time.time() - t0:.1f} s)")


if __name__ == "__main__":
    main()
