# U-Net for cells on generated microscope tiles (grey, one foreground class), small enough for a laptop
import copy
import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
np.random.seed(SEED)

S = 32
TINY = CASE == 1


def tile(rng):
    yy, xx = np.mgrid[:S, :S]
    img = rng.normal(0, 0.35 if not TINY else 0.55, (S, S)) + 0.4 * np.sin(xx / rng.uniform(3, 8) + rng.uniform(0, 6))
    mask = np.zeros((S, S))
    for _ in range(rng.integers(1, 4) if not TINY else 1):
        cy, cx = rng.integers(4, S - 4, 2)
        a, b = (rng.uniform(3, 6), rng.uniform(2, 5)) if not TINY else (1.6, 1.3)
        cell = ((yy - cy) / a) ** 2 + ((xx - cx) / b) ** 2 <= 1
        mask[cell] = 1
        ring = cell & (((yy - cy) / (a - 1)) ** 2 + ((xx - cx) / max(b - 1, 0.5)) ** 2 > 1)
        img[cell] += 0.6 if not TINY else 1.0
        img[ring] -= 0.9 if not TINY else 0.0
    return img.astype(np.float32), mask.astype(np.float32)


def tiles(n, s):
    rng = np.random.default_rng(s)
    pairs = [tile(rng) for _ in range(n)]
    return (torch.tensor(np.stack([p[0] for p in pairs]))[:, None],
            torch.tensor(np.stack([p[1] for p in pairs]))[:, None])


def norm(c):
    if CASE == 2:
        return nn.GroupNorm(4, c)
    return nn.BatchNorm2d(c, momentum=0.001 if CASE == 6 else 0.1)


def double_conv(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), norm(o), nn.ReLU(inplace=True),
                         nn.Conv2d(o, o, 3, padding=1), norm(o), nn.ReLU(inplace=True))


class Encoder(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.d1, self.d2, self.d3 = double_conv(1, w), double_conv(w, 2 * w), double_conv(2 * w, 4 * w)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        c = self.d3(F.max_pool2d(b, 2))
        return a, b, c


class UNet(nn.Module):
    def __init__(self, w=8):
        super().__init__()
        self.encoder = Encoder(w)
        self.u2, self.u1 = double_conv(6 * w, 2 * w), double_conv(3 * w, w)
        self.head = nn.Conv2d(w, 1, 1)

    def forward(self, x):
        if CASE == 10:
            with torch.no_grad():
                a, b, c = self.encoder(x)
        else:
            a, b, c = self.encoder(x)
        y = self.u2(torch.cat([F.interpolate(c, size=b.shape[-2:], mode="nearest"), b], 1))
        y = self.u1(torch.cat([F.interpolate(y, size=a.shape[-2:], mode="nearest"), a], 1))
        y = self.head(y)
        return torch.sigmoid(y) if CASE == 5 else y


def soft_dice(logits, mask, eps=1.0):
    p = torch.sigmoid(logits).flatten(1)
    m = mask.flatten(1)
    score = (2 * (p * m).sum(1) + eps) / (p.sum(1) + m.sum(1) + eps)
    if CASE == 11:
        return score.mean()
    return 1 - score.mean()


if CASE == 1:
    bce = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(20.0))
else:
    bce = nn.BCEWithLogitsLoss()


def criterion(out, mask):
    if CASE == 1:
        return bce(out, mask)
    if CASE in (3, 11):
        return soft_dice(out, mask)
    return bce(out, mask) + soft_dice(out, mask)


def augment(x, m):
    if np.random.rand() < 0.5:
        x = x.flip(-1)
        if CASE != 8:
            m = m.flip(-1)
    if np.random.rand() < 0.5:
        x = x.flip(-2)
        if CASE != 8:
            m = m.flip(-2)
    return x, m


@torch.no_grad()
def iou(net, x, m):
    net.eval()
    p = torch.cat([net(x[i:i + 50]) for i in range(0, len(x), 50)])
    p = p > (0.5 if CASE == 5 else 0.0)
    t = m > 0.5
    net.train()
    return ((p & t).sum() / (p | t).sum().clamp(min=1)).item(), p.float().mean().item()


X, M = tiles(240, SEED + 1)
VX, VM = tiles(80, SEED + 2)
print(f"foreground share {M.mean().item():.4f}")

bs, epochs, every = 8, 7, 1
net = UNet()
if CASE == 2:
    bs, epochs = 2, 4
elif CASE == 4:
    bs, every = 4, 4
elif CASE == 7:
    bs, every = 8, 32
if CASE == 4:
    opt = torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.9, weight_decay=1e-4)
    total = epochs * (len(X) // (bs * every))
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: (1 - min(s, total - 1) / total) ** 0.9)
else:
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    sched = None

best, best_state, step = -1.0, None, 0
for epoch in range(epochs):
    losses = []
    order = torch.randperm(len(X))
    opt.zero_grad()
    for k, s in enumerate(range(0, len(X), bs)):
        idx = order[s:s + bs]
        x, m = augment(X[idx], M[idx])
        loss = criterion(net(x), m)
        (loss / every).backward()
        losses.append(loss.item())
        if (k + 1) % every == 0:
            opt.step()
            opt.zero_grad()
            if sched:
                sched.step()
            step += 1
    v, share = iou(net, VX, VM)
    print(f"epoch {epoch} steps {step} loss {np.mean(losses):.4f}  val IoU {v:.3f}  predicted share {share:.4f}")
    if v >= best:
        best, best_state = v, copy.deepcopy(net.state_dict())

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "unet.pt")
    if CASE == 9:
        torch.save({"model": {"module." + k: t for k, t in best_state.items()}, "iou": best}, path)
    else:
        torch.save({"model": best_state, "iou": best}, path)
    restored = UNet()
    restored.load_state_dict(torch.load(path)["model"], strict=CASE != 9)
final, share = iou(restored, VX, VM)
print(f"best IoU {best:.3f}, of the restored model {final:.3f}")
