import os
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
SIZE = 24


class Discs(Dataset):
    def __init__(self, n, train):
        g = torch.Generator().manual_seed(SEED * 2 + int(train))
        yy, xx = torch.meshgrid(torch.arange(float(SIZE)), torch.arange(float(SIZE)), indexing="ij")
        c = torch.rand(n, 2, 1, 1, generator=g) * 16 + 2
        r = torch.rand(n, 1, 1, generator=g) * 3 + 3
        if CASE in (2, 7):
            r = torch.full((n, 1, 1), 1.0)
        d = ((yy - c[:, 0]) ** 2 + (xx - c[:, 1]) ** 2).sqrt()
        self.mask = (d < r).float()[:, None]
        ramp = (xx + yy)[None, None] / 48 * torch.rand(n, 1, 1, 1, generator=g)
        self.img = self.mask * 0.8 + ramp + 0.35 * torch.randn(n, 1, SIZE, SIZE, generator=g)
        if CASE in (2, 7):
            self.img = self.mask * 1.2 + ramp + 0.35 * torch.randn(n, 1, SIZE, SIZE, generator=g)
        self.train = train

    def __len__(self):
        return len(self.img)

    def __getitem__(self, i):
        img, mask = self.img[i], self.mask[i]
        if self.train and torch.rand(1) < 0.5:
            img = img.flip(2)
            if CASE != 3:
                mask = mask.flip(2)
        return img, mask


def double(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(inplace=True),
                         nn.Conv2d(b, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self, w=8):
        super().__init__()
        self.down1, self.down2, self.mid = double(1, w), double(w, 2 * w), double(2 * w, 4 * w)
        self.up2, self.dec2 = nn.ConvTranspose2d(4 * w, 2 * w, 2, 2), double(4 * w, 2 * w)
        self.up1, self.dec1 = nn.ConvTranspose2d(2 * w, w, 2, 2), double(2 * w, w)
        self.head = nn.Conv2d(w, 1, 1)
        self.aux = nn.Conv2d(2 * w, 1, 1) if CASE == 8 else None

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        c = self.mid(F.max_pool2d(b, 2))
        b = self.dec2(torch.cat([b, self.up2(c)], 1))
        a = self.dec1(torch.cat([a, self.up1(b)], 1))
        if self.aux is not None and self.training:
            return self.head(a), F.interpolate(self.aux(b), scale_factor=2)
        return self.head(a)


def dice(logits, t):
    p = torch.sigmoid(logits)
    return (2 * (p * t).sum((1, 2, 3)) + 1) / (p.sum((1, 2, 3)) + t.sum((1, 2, 3)) + 1)


def focal(logits, t, gamma=2.0):
    l = F.binary_cross_entropy_with_logits(logits, t, reduction="none")
    return ((1 - torch.exp(-l)) ** gamma * l).mean()


def criterion(logits, t):
    if CASE == 1:
        return dice(logits, t).mean()
    if CASE == 4:
        return F.cross_entropy(logits, t)
    if CASE == 5:
        return F.binary_cross_entropy_with_logits(logits, t, reduction="sum")
    if CASE == 6:
        return 1 - dice(logits, t).mean()
    if CASE == 7:
        return F.binary_cross_entropy_with_logits(logits, t, pos_weight=torch.tensor(8.0)) + 1 - dice(logits, t).mean()
    if CASE == 9:
        return focal(logits, t) * 10
    return F.binary_cross_entropy_with_logits(logits, t)


@torch.no_grad()
def iou(net, loader):
    net.eval()
    inter = union = 0
    for x, t in loader:
        p = net(x) > 0
        inter += (p & (t > 0.5)).sum().item()
        union += (p | (t > 0.5)).sum().item()
    net.train()
    return inter / max(1, union)


if __name__ == "__main__":
    torch.manual_seed(SEED)
    train = DataLoader(Discs(480, True), batch_size=16, shuffle=True, drop_last=True)
    val = DataLoader(Discs(120, False), batch_size=40)
    net = UNet()
    if CASE in (6, 7, 9, 10):
        opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    else:
        opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    step = 0
    for epoch in range(4):
        for x, t in train:
            out = net(x)
            if CASE == 8:
                loss = criterion(out[0], t) + 0.4 * criterion(out[1], t)
            else:
                loss = criterion(out, t)
            opt.zero_grad()
            loss.backward()
            opt.step()
            if step % 10 == 0:
                print("step", step, "loss", float(loss))
            step += 1
        print("epoch", epoch, "iou", iou(net, val))
    print("METRIC", iou(net, val))
