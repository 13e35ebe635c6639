"""Vessel segmentation. Training on random 24x24 crops, evaluation on whole 72x72 images (fully convolutional)."""
import os
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
rs = np.random.RandomState(SEED)
torch.manual_seed(SEED)
H = 72


def image():
    yy, xx = np.mgrid[:H, :H]
    mask = np.zeros((H, H), bool)
    for _ in range(rs.randint(3, 6)):
        x, y, a = rs.uniform(0, H), rs.uniform(0, H), rs.uniform(0, 2 * np.pi)
        w = rs.uniform(1.0, 2.2)
        for _ in range(70):
            mask |= (xx - x) ** 2 + (yy - y) ** 2 < w * w
            a += rs.normal(0, 0.2)
            x += 1.2 * np.cos(a); y += 1.2 * np.sin(a)
    bg = 0.5 * np.sin(xx / rs.uniform(8, 20) + rs.uniform(0, 6)) + 0.3 * np.cos(yy / rs.uniform(8, 20))
    return (bg - 0.9 * mask + 0.45 * rs.randn(H, H)).astype(np.float32), mask.astype(np.float32)


def stack(n):
    a = [image() for _ in range(n)]
    return torch.from_numpy(np.stack([i for i, _ in a]))[:, None], torch.from_numpy(np.stack([m for _, m in a]))[:, None]


train_x, train_y = stack(20)
val_x, val_y = stack(4)


def random_crops(b, c=24):
    out_x, out_y = [], []
    for _ in range(b):
        i, r, q = rs.randint(len(train_x)), rs.randint(H - c), rs.randint(H - c)
        x, y = train_x[i, :, r:r + c, q:q + c], train_y[i, :, r:r + c, q:q + c]
        k = rs.randint(4)
        out_x.append(torch.rot90(x, k, (1, 2))); out_y.append(torch.rot90(y, k, (1, 2)))
    return torch.stack(out_x), torch.stack(out_y)


class Dilated(nn.Module):
    def __init__(self, c=12):
        super().__init__()
        self.c1 = nn.Conv2d(1, c, 3, padding=1)
        self.c2 = nn.Conv2d(c, c, 3, padding=2, dilation=2)
        self.c3 = nn.Conv2d(c, c, 3, padding=4, dilation=4)
        self.c4 = nn.Conv2d(2 * c, c, 3, padding=1)
        self.o = nn.Conv2d(c, 1, 1)

    def forward(self, x):
        a = F.leaky_relu(self.c1(x), 0.1)
        b = F.leaky_relu(self.c2(a), 0.1)
        b = F.leaky_relu(self.c3(b), 0.1)
        return self.o(F.leaky_relu(self.c4(torch.cat([a, b], 1)), 0.1))


def dice_loss(logit, y):
    p = logit.sigmoid()
    return 1 - (2 * (p * y).sum() + 1) / (p.sum() + y.sum() + 1)


net = Dilated()
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
sch = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: (1 - s / 241) ** 0.9)
for step in range(1, 241):
    x, y = random_crops(8)
    z = net(x)
    loss = F.binary_cross_entropy_with_logits(z, y) + dice_loss(z, y)
    opt.zero_grad(); loss.backward(); opt.step(); sch.step()
    if step % 20 == 0:
        print("step %d crop loss %.4f" % (step, loss.item()))
    if step % 60 == 0:
        net.eval()
        with torch.no_grad():
            z = net(val_x)
            p = z > 0
            inter = (p & (val_y > 0)).sum().item()
            dice = 2 * inter / (p.sum().item() + val_y.sum().item())
            vl = (F.binary_cross_entropy_with_logits(z, val_y) + dice_loss(z, val_y)).item()
        print("   full images: loss %.4f dice %.4f pixel acc %.4f (vessel share %.3f)" % (vl, dice, ((p == (val_y > 0)).float().mean()), val_y.mean()))
        net.train()
