import os

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)

S, W = 16, 8
BATCH = {11: 1, 8: 4}.get(CASE, 16)
EPOCHS = {11: 2, 8: 7, 10: 120, 5: 16}.get(CASE, 12)
N = {10: 16}.get(CASE, 320)
SMALL = CASE in (2, 7)
yy, xx = torch.meshgrid(torch.arange(S), torch.arange(S), indexing="ij")


def scene():
    img = 0.35 * torch.randn(1, S, S) + 0.5 * torch.randn(())
    cy, cx = 2 + 12 * torch.rand(()), 2 + 12 * torch.rand(())
    r = 0.8 if SMALL else 1.8 + 2.2 * torch.rand(())
    ring = int(torch.randint(0, 2, ()))
    d = ((yy - cy) ** 2 + (xx - cx) ** 2).sqrt()
    mask = (d <= r).float()
    sign = 1.0 if torch.rand(()) < 0.5 else -1.0
    img[0] += sign * (1.2 + 1.2 * ring) * mask
    return img, mask[None], ring


class Scenes(Dataset):
    def __init__(self, n, train):
        self.items = [scene() for _ in range(n)]
        self.train = train

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        img, mask, ring = self.items[i]
        if self.train and CASE != 10:
            for axis in (1, 2):
                if torch.rand(()) < 0.5:
                    img = img.flip(axis)
                    if CASE != 1:
                        mask = mask.flip(axis)
                if CASE == 1 and torch.rand(()) < 0.5:
                    mask = mask.flip(axis)
        return img, mask, ring


def block(cin, cout):
    def unit(a, b):
        layers = [nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b)]
        if CASE != 6:
            layers.append(nn.ReLU())
        return layers
    return nn.Sequential(*unit(cin, cout), *unit(cout, cout))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.d1, self.d2, self.mid = block(1, W), block(W, 2 * W), block(2 * W, 4 * W)
        self.u2, self.u1 = block(6 * W, 2 * W), block(3 * W, W)
        self.drop = nn.Dropout2d(0.4 if CASE in (4, 5) else 0.1)
        self.seg = nn.Conv2d(W, 1, 1)
        self.cls = nn.Linear(4 * W, 2)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.avg_pool2d(a, 2))
        m = self.drop(self.mid(F.avg_pool2d(b, 2)))
        u = self.u2(torch.cat([F.interpolate(m, scale_factor=2.0), b], 1))
        u = self.u1(torch.cat([F.interpolate(self.drop(u), scale_factor=2.0), a], 1))
        return self.seg(self.drop(u)), self.cls(m.mean((2, 3)))


train_ds = Scenes(N, True)
val_ds = train_ds if CASE == 10 else Scenes(120, False)
train_loader = DataLoader(train_ds, batch_size=BATCH, shuffle=True)
val_loader = DataLoader(val_ds, batch_size=1 if CASE == 4 else 60)

model = UNet()
if CASE in (7, 9):
    opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
else:
    opt = torch.optim.Adam(model.parameters(), lr=2e-3 if CASE in (8, 11) else 5e-3)


def seg_loss(out, mask):
    if CASE == 9:
        return F.binary_cross_entropy_with_logits(out, mask, reduction="sum")
    loss = F.binary_cross_entropy_with_logits(out, mask, pos_weight=torch.tensor(12.0) if CASE == 2 else None)
    if CASE == 2:
        p = out.sigmoid()
        loss = loss + 1 - (2 * (p * mask).sum() + 1) / (p.sum() + mask.sum() + 1)
    return loss


@torch.no_grad()
def validate():
    if CASE != 4:
        model.eval()
    inter = union = hit = 0
    for img, mask, ring in val_loader:
        out, logit = model(img)
        p = out > 0
        inter += (p & (mask > 0)).sum().item()
        union += (p | (mask > 0)).sum().item()
        hit += (logit.argmax(1) == ring).sum().item()
    return inter / max(1, union), hit / len(val_ds)


print("sanity check: iou %.3f acc %.3f" % validate())
if CASE != 3:
    model.train()
for epoch in range(EPOCHS):
    tot = 0.0
    for img, mask, ring in train_loader:
        out, logit = model(img)
        loss = seg_loss(out, mask) + 0.2 * F.cross_entropy(logit, ring)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item()
    if CASE != 10 or epoch % 10 == 9:
        iou, acc = validate()
        if CASE != 3:
            model.train()
        print(f"epoch {epoch} loss {tot / len(train_loader):.4f} val iou {iou:.3f} ring acc {acc:.3f}")
