"""Five kinds of mushrooms from small colour crops. Train a little CNN, report accuracy per epoch."""
import os
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)

KINDS = ["parasol", "fly agaric", "chanterelle", "inkcap", "bolete"]
SIZE = 28


def draw(kind, rng):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32)
    img = np.zeros((SIZE, SIZE, 3), np.float32)
    img[:] = np.array([70, 95, 50]) + rng.normal(0, 14, 3)
    img += rng.normal(0, 12, (SIZE, SIZE, 1))
    cx, cy = 14 + rng.normal(0, 1.8), 11 + rng.normal(0, 1.5)
    rx = {0: 9.5, 1: 8.5, 2: 8.0, 3: 5.5, 4: 8.0}[kind] * rng.uniform(0.8, 1.2)
    ry = {0: 3.5, 1: 5.0, 2: 4.5, 3: 8.0, 4: 6.0}[kind] * rng.uniform(0.65, 1.4)
    tone = {0: (175, 150, 115), 1: (180, 90, 65), 2: (195, 150, 70), 3: (165, 155, 140), 4: (145, 95, 60)}[kind]
    tone = np.array(tone, np.float32) + rng.normal(0, 34, 3)
    stem_w = {0: 1.3, 1: 1.8, 2: 2.2, 3: 1.4, 4: 3.2}[kind] * rng.uniform(0.75, 1.3)
    stem = (np.abs(xx - cx - 0.06 * (yy - cy) * rng.normal()) < stem_w) & (yy > cy) & (yy < cy + 14)
    img[stem] = np.array([190, 182, 165]) + rng.normal(0, 14, 3)
    r2 = ((xx - cx) / rx) ** 2 + ((yy - cy) / ry) ** 2
    if kind == 2:
        cap = (r2 < 1) & (yy < cy + 2.5) | ((np.abs(xx - cx) < rx * (1 - (yy - cy) / 8)) & (yy >= cy) & (yy < cy + 7))
    else:
        cap = (r2 < 1) & (yy < cy + 1.5)
    img[cap] = tone
    n_spots = rng.poisson({0: 3, 1: 5, 2: 0.3, 3: 0.5, 4: 0.3}[kind])
    for _ in range(n_spots):
        sx, sy = cx + rng.uniform(-0.8, 0.8) * rx, cy - rng.uniform(0, 0.8) * ry
        img[((xx - sx) ** 2 + (yy - sy) ** 2 < rng.uniform(0.6, 2.2)) & cap] = (225, 218, 205)
    shade = rng.uniform(0.65, 1.2) * (1 + rng.normal(0, 0.15) * (xx - 14) / 14)
    img = img * shade[..., None] + rng.normal(0, 30, img.shape)
    return np.clip(img, 0, 255).astype(np.uint8)


def collect(n, rng, by_kind=False):
    kinds = np.arange(n) % len(KINDS)
    if by_kind:
        kinds = np.sort(kinds)
    else:
        rng.shuffle(kinds)
    return np.stack([draw(k, rng) for k in kinds]), kinds.astype(np.int64)


rng = np.random.default_rng(SEED + 11)
train_img, train_lab = collect(1280, rng)
# the validation folder is read directory by directory, so it comes ordered by kind
val_img, val_lab = collect(400, rng, by_kind=True)
MEAN = torch.tensor((train_img / 255.0).mean((0, 1, 2))).float().view(3, 1, 1)
STD = torch.tensor((train_img / 255.0).std((0, 1, 2))).float().view(3, 1, 1)


def to_tensor(img):
    return torch.from_numpy(img).permute(2, 0, 1).float()


def plain(img):
    x = to_tensor(img) / 255.0
    return (x - MEAN) / STD


def light_aug(img):
    x = plain(img)
    if random.random() < 0.5:
        x = x.flip(2)
    return torch.roll(x, shifts=(random.randint(-1, 1), random.randint(-1, 1)), dims=(1, 2))


def heavy_aug(img):
    x = light_aug(img)
    x = x * random.uniform(0.6, 1.4) + random.uniform(-0.4, 0.4)
    if random.random() < 0.7:
        a, b = random.randint(0, SIZE - 9), random.randint(0, SIZE - 9)
        x[:, a:a + 9, b:b + 9] = 0.0
    return x + 0.25 * torch.randn_like(x)


class Mushrooms(Dataset):
    def __init__(self, images, labels, transform):
        self.images, self.labels, self.transform = images, labels, transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.transform(self.images[i]), int(self.labels[i])


def conv_block(c_in, c_out, bn_momentum=0.1):
    return nn.Sequential(nn.Conv2d(c_in, c_out, 3, padding=1, bias=False),
                         nn.BatchNorm2d(c_out, momentum=bn_momentum), nn.ReLU(inplace=True), nn.MaxPool2d(2))


class MushroomNet(nn.Module):
    def __init__(self, n_out, width=10, drop=0.3):
        super().__init__()
        m = 0.002 if CASE == 3 else 0.1
        self.features = nn.Sequential(conv_block(3, width, m), conv_block(width, 2 * width, m),
                                      conv_block(2 * width, 3 * width, m))
        self.drop = nn.Dropout(drop)
        self.fc1 = nn.Linear(3 * width * 9, 64)
        self.fc2 = nn.Linear(64, n_out)

    def forward(self, x):
        h = self.features(x).flatten(1)
        h = F.relu(self.fc1(self.drop(h)))
        return self.fc2(self.drop(h))


def evaluate(net, loader, criterion):
    if CASE != 4:
        net.eval()
    hits = seen = 0
    total = 0.0
    per = np.zeros((len(KINDS), 2), int)
    with torch.no_grad():
        for x, y in loader:
            out = net(x)
            total += criterion(out, y).item() * len(y)
            pred = out.argmax(1)
            hits += (pred == y).sum().item()
            seen += len(y)
            for k in range(len(KINDS)):
                per[k] += ((pred[y == k] == k).sum().item(), (y == k).sum().item())
    return total / seen, hits / seen, per[:, 0] / per[:, 1]


val_transform = (lambda im: to_tensor(im) / 255.0) if CASE == 2 else plain
train_loader = DataLoader(Mushrooms(train_img, train_lab, heavy_aug if CASE == 1 else light_aug),
                          batch_size=32, shuffle=True, drop_last=True)
val_loader = DataLoader(Mushrooms(val_img, val_lab, val_transform), batch_size=100)

model = MushroomNet(len(KINDS), drop=0.9 if CASE == 5 else 0.3)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1 if CASE == 1 else 0.0)
EPOCHS = 6
if CASE == 1:
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-2)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=6e-3, total_steps=EPOCHS * len(train_loader))
else:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=5e-4)
    scheduler = None

def batches():
    if CASE == 6:
        for _ in range(len(train_loader)):
            yield next(iter(first_loader))
    else:
        yield from train_loader


first_loader = DataLoader(train_loader.dataset, batch_size=32)
step = 0
for epoch in range(EPOCHS):
    model.train()
    running = 0.0
    for x, y in batches():
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        running += loss.item()
        step += 1
        if step % 20 == 0:
            print(f"step {step:4d}  loss {loss.item():.4f}")
    vl, va, per = evaluate(model, val_loader, criterion)
    print(f"epoch {epoch + 1}: train loss {running / len(train_loader):.4f}  val loss {vl:.4f}  val acc {va:.3f}")
print("per kind:", ", ".join(f"{k} {p:.2f}" for k, p in zip(KINDS, per)))
