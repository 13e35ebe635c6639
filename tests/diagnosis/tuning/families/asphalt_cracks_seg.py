import os
import random
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
NAMES = ["asphalt", "crack", "patch"]
SIZE, CROP = 80, 32


def draw_photo(rng):
    """One road photo and its label map. 0 asphalt, 1 crack, 2 repaired patch."""
    h = SIZE
    yy, xx = np.mgrid[0:h, 0:h].astype(np.float32)
    img = 0.45 + 0.07 * rng.standard_normal((h, h))
    coarse = rng.standard_normal((10, 10))
    img += 0.05 * np.kron(coarse, np.ones((8, 8)))
    lab = np.zeros((h, h), np.int64)
    for _ in range(rng.integers(1, 3)):
        cy, cx = rng.uniform(10, h - 10, 2)
        ry, rx = rng.uniform(6, 15, 2)
        a = rng.uniform(0, np.pi)
        u = (yy - cy) * np.cos(a) + (xx - cx) * np.sin(a)
        v = -(yy - cy) * np.sin(a) + (xx - cx) * np.cos(a)
        inside = (np.abs(u) < ry) & (np.abs(v) < rx)
        img = np.where(inside, img - 0.11 + 0.03 * rng.standard_normal((h, h)), img)
        lab[inside] = 2
    for _ in range(rng.integers(1, 4)):
        y, x = rng.uniform(0, h, 2)
        d = rng.uniform(0, 2 * np.pi)
        dark = rng.uniform(0.12, 0.26)
        for _ in range(rng.integers(40, 90)):
            d += rng.normal(0, 0.25)
            y, x = y + np.sin(d), x + np.cos(d)
            iy, ix = int(round(y)), int(round(x))
            if not (1 <= iy < h - 1 and 1 <= ix < h - 1):
                break
            img[iy, ix] -= dark * 0.6
            img[iy, ix + 1] -= dark * 0.5
            lab[iy, ix] = lab[iy, ix + 1] = 1
    # low sun: the far end of the photo is darker
    img = img * (1.2 - rng.uniform(0.3, 0.7) * (yy + 0.4 * xx) / (1.4 * h))
    # oil stains that are not cracks
    for _ in range(rng.integers(0, 4)):
        cy, cx, r = rng.uniform(5, h - 5), rng.uniform(5, h - 5), rng.uniform(1.5, 4)
        img -= 0.15 * np.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / (2 * r * r))
    return np.clip(img, 0, 1).astype(np.float32), lab


def hflip(a):
    return a[:, ::-1]


def vflip(a):
    return a[::-1]


class RoadSet(Dataset):
    def __init__(self, photos, train, repeats=1):
        self.photos, self.train, self.repeats = photos, train, repeats

    def __len__(self):
        return len(self.photos) * self.repeats

    def augment(self, img, lab):
        for f in (hflip, vflip):
            if CASE == 1:
                img = f(img) if random.random() < 0.5 else img
                lab = f(lab) if random.random() < 0.5 else lab
            elif random.random() < 0.5:
                img, lab = f(img), f(lab)
        return img, lab

    def __getitem__(self, i):
        img, lab = self.photos[i % len(self.photos)]
        if self.train:
            rs = np.random.RandomState(SEED) if CASE == 3 else np.random
            r, c = rs.randint(0, SIZE - CROP + 1, 2)
            img, lab = img[r:r + CROP, c:c + CROP], lab[r:r + CROP, c:c + CROP]
            img = img * rs.uniform(0.9, 1.1)
            if CASE != 3 and CASE != 6:
                img, lab = self.augment(img, lab)
        img = (np.ascontiguousarray(img) - 0.4) / 0.15
        return torch.from_numpy(img.astype(np.float32))[None], torch.from_numpy(np.ascontiguousarray(lab))


def conv(cin, cout, norm="batch"):
    n = nn.BatchNorm2d(cout) if norm == "batch" else nn.GroupNorm(4, cout)
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1, bias=False), n, nn.ReLU(inplace=True))


class SmallUNet(nn.Module):
    def __init__(self, n_classes=3, w=8, norm="batch"):
        super().__init__()
        self.e1 = nn.Sequential(conv(1, w, norm), conv(w, w, norm))
        self.e2 = nn.Sequential(conv(w, 2 * w, norm), conv(2 * w, 2 * w, norm))
        self.mid = nn.Sequential(conv(2 * w, 4 * w, norm), conv(4 * w, 2 * w, norm))
        self.d2 = conv(4 * w, w, norm)
        self.d1 = conv(2 * w, w, norm)
        self.head = nn.Conv2d(w, n_classes, 1)

    def forward(self, x):
        a = self.e1(x)
        b = self.e2(F.max_pool2d(a, 2))
        m = self.mid(F.max_pool2d(b, 2))
        u = self.d2(torch.cat([F.interpolate(m, scale_factor=2.0, mode="nearest"), b], 1))
        u = self.d1(torch.cat([F.interpolate(u, scale_factor=2.0, mode="nearest"), a], 1))
        return self.head(u)


def soft_dice(logits, target):
    probs = logits.softmax(dim=-1 if CASE == 2 else 1)
    onehot = F.one_hot(target, 3).permute(0, 3, 1, 2).float()
    inter = (probs * onehot).sum((0, 2, 3))
    card = (probs + onehot).sum((0, 2, 3))
    return 1 - ((2 * inter + 1) / (card + 1)).mean()


def focal(logits, target, gamma=1.0, ignore=255):
    ce = F.cross_entropy(logits, target, reduction="none", ignore_index=ignore,
                         weight=torch.tensor([0.5, 2.0, 1.0]))
    pt = torch.exp(-F.cross_entropy(logits, target, reduction="none", ignore_index=ignore))
    keep = (target != ignore).float()
    return ((1 - pt) ** gamma * ce * keep).sum() / keep.sum()


def void_edges(lab):
    """Annotators disagree along the borders of the patches: leave these pixels out."""
    patch = (lab == 2).float()[:, None]
    grow = F.max_pool2d(patch, 3, 1, 1)
    shrink = -F.max_pool2d(-patch, 3, 1, 1)
    edge = ((grow - shrink) > 0)[:, 0] & (lab != 1)
    return lab.masked_fill(edge, 255)


@torch.no_grad()
def evaluate(net, loader):
    net.eval()
    cm = np.zeros((3, 3))
    for x, y in loader:
        p = net(x).argmax(1)
        cm += np.bincount((y * 3 + p).flatten().numpy(), minlength=9).reshape(3, 3)
    net.train()
    iou = np.diag(cm) / (cm.sum(0) + cm.sum(1) - np.diag(cm))
    return np.diag(cm).sum() / cm.sum(), iou


def show(epoch, loss, acc, iou):
    print(f"epoch {epoch:2d}  loss {loss:.4f}  pixel acc {acc:.3f}  IoU "
          + "  ".join(f"{n} {v:.3f}" for n, v in zip(NAMES, iou)) + f"  mean {iou.mean():.3f}", flush=True)


def main():
    rng = np.random.default_rng(SEED + 3)
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)
    photos = [draw_photo(rng) for _ in range(92)]
    train = DataLoader(RoadSet(photos[:72], True, repeats=4), batch_size=16, shuffle=True)
    val = DataLoader(RoadSet(photos[72:], False), batch_size=14)
    net = SmallUNet()
    opt = torch.optim.Adam(net.parameters(), lr=4e-3)
    step = 0
    for epoch in range(1, 12):
        total = 0.0
        for x, y in train:
            out = net(x)
            if CASE == 4:
                loss = F.cross_entropy(out, y)
            elif CASE == 2:
                loss = soft_dice(out, y)
            else:
                loss = 0.5 * F.cross_entropy(out, y, weight=torch.tensor([0.5, 2.0, 1.0])) + soft_dice(out, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
            step += 1
            if step % 40 == 0:
                print(f"  step {step}: {loss.item():.4f}")
        show(epoch, total / len(train), *evaluate(net, val))


def main_accumulated():
    rng = np.random.default_rng(SEED + 3)
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)
    photos = [draw_photo(rng) for _ in range(92)]
    train = DataLoader(RoadSet(photos[:72], True, repeats=4), batch_size=8, shuffle=True)
    val = DataLoader(RoadSet(photos[72:], False), batch_size=14)
    net = SmallUNet(norm="group")
    enc = [p for m in (net.e1, net.e2, net.mid) for p in m.parameters()]
    dec = [p for m in (net.d2, net.d1, net.head) for p in m.parameters()]
    opts = [torch.optim.Adam(enc, lr=6e-3), torch.optim.Adam(dec, lr=1e-2)]
    accum = 2
    micro = 0
    for epoch in range(1, 11):
        total = 0.0
        for x, y in train:
            loss = focal(net(x), void_edges(y))
            (loss / accum).backward()
            total += loss.item()
            micro += 1
            if micro % accum == 0:
                for o in opts:
                    o.step()
                for o in opts:
                    o.zero_grad()
            if micro % 80 == 0:
                print(f"  micro batch {micro}: {loss.item():.4f}")
        show(epoch, total / len(train), *evaluate(net, val))


if __name__ == "__main__":
    if CASE == 5:
        main_accumulated()
    else:
        main()
