import copy
import os
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
torch.set_num_threads(1)
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)

SIZE = 16
NAMES = ["disc", "ring", "square", "cross", "bars", "diag"]


def draw(kind, rng):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32)
    cx, cy = rng.uniform(6, 10, 2)
    r = rng.uniform(3.0, 5.5)
    d = np.sqrt((xx - cx) ** 2 + (yy - cy) ** 2)
    if kind == 0:
        m = d < r
    elif kind == 1:
        m = (d < r) & (d > r - 1.8)
    elif kind == 2:
        m = (abs(xx - cx) < r * 0.8) & (abs(yy - cy) < r * 0.8)
    elif kind == 3:
        m = ((abs(xx - cx) < 1.1) | (abs(yy - cy) < 1.1)) & (d < r + 1)
    elif kind == 4:
        m = (np.floor((xx - cx) / 2) % 2 == 0) & (abs(yy - cy) < r)
    else:
        m = (abs((xx - cx) - (yy - cy)) < 1.6) & (d < r + 1)
    img = 60 + 70 * rng.rand() + m * rng.uniform(35, 90) + rng.randn(SIZE, SIZE) * 28
    return np.clip(img, 0, 255).astype(np.uint8)


class Shapes(Dataset):
    def __init__(self, n, seed, transform):
        rng = np.random.RandomState(seed)
        self.y = rng.randint(0, 6, n)
        self.x = np.stack([draw(k, rng) for k in self.y])
        self.transform = transform

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.transform(self.x[i]), int(self.y[i])


MEAN, STD = 0.42, 0.17


def train_tf(img):
    if random.random() < 0.5:
        img = img[:, ::-1]
    dx, dy = random.randint(-1, 1), random.randint(-1, 1)
    img = np.roll(img, (dx, dy), (0, 1))
    x = torch.from_numpy(img.copy()).float().div(255).unsqueeze(0)
    return (x - MEAN) / STD


def val_tf(img):
    x = torch.from_numpy(img.copy()).float().div(255).unsqueeze(0)
    if CASE == 5:
        return x
    return (x - MEAN) / STD


BN_MOMENTUM = 0.9 if CASE == 4 else 0.1


def conv_bn(cin, cout, stride=1):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, stride, 1, bias=False),
        nn.BatchNorm2d(cout, momentum=BN_MOMENTUM),
        nn.ReLU(inplace=True))


class SmallNet(nn.Module):
    def __init__(self, n_classes=6):
        super().__init__()
        self.stem = conv_bn(1, 12)
        self.block1 = conv_bn(12, 24, 2)
        self.block2 = conv_bn(24, 32, 2)
        self.block3 = conv_bn(32, 32)
        self.drop = nn.Dropout(0.2)
        self.fc = nn.Linear(32, n_classes)

    def forward(self, x):
        x = self.block3(self.block2(self.block1(self.stem(x))))
        x = F.adaptive_avg_pool2d(x, 1).flatten(1)
        x = self.fc(self.drop(x))
        if CASE == 8:
            x = F.softmax(x, dim=1)
        return x


class AverageMeter:
    def __init__(self):
        self.sum, self.n = 0.0, 0

    def update(self, v, n=1):
        self.sum += v * n
        self.n += n

    @property
    def avg(self):
        return self.sum / max(1, self.n)


@torch.no_grad()
def validate(model, loader, criterion):
    model.eval()
    losses, acc = AverageMeter(), AverageMeter()
    for x, y in loader:
        out = model(x)
        losses.update(criterion(out, y).item(), len(y))
        acc.update((out.argmax(1) == y).float().mean().item(), len(y))
    return losses.avg, acc.avg


def mixup(x, y, alpha=0.4):
    lam = np.random.beta(alpha, alpha)
    idx = torch.randperm(len(x))
    return lam * x + (1 - lam) * x[idx], y, y[idx], lam


def main():
    train_set = Shapes(899, 11 + SEED, train_tf)
    val_set = Shapes(300, 911 + SEED, val_tf)
    bs = 16 if CASE == 9 else 32
    train_loader = DataLoader(train_set, bs, shuffle=True)
    val_loader = DataLoader(val_set, 100)
    model = SmallNet()
    criterion = nn.CrossEntropyLoss(label_smoothing=0.2 if CASE == 1 else 0.0)
    val_criterion = nn.CrossEntropyLoss()
    epochs = 9
    per_step = False
    accum = 1
    if CASE == 9:
        optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-2)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
        accum = 3
    elif CASE in (6, 7):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 4 * len(train_loader))
        per_step = True
    elif CASE in (3, 1):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=6, gamma=0.1)
        per_step = CASE == 3
    else:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
        scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, epochs=epochs,
                                                        steps_per_epoch=len(train_loader))
        per_step = True
    best_acc, best_state = 0.0, None
    step = 0
    for epoch in range(epochs):
        model.train()
        losses = AverageMeter()
        optimizer.zero_grad()
        for i, (x, y) in enumerate(train_loader):
            if CASE == 2 and i == 0:
                validate(model, val_loader, val_criterion)
            if CASE == 1:
                x, ya, yb, lam = mixup(x, y)
                out = model(x)
                loss = lam * criterion(out, ya) + (1 - lam) * criterion(out, yb)
            else:
                out = model(x)
                loss = criterion(out, y)
            (loss / accum).backward()
            if (i + 1) % accum == 0:
                if CASE == 9:
                    nn.utils.clip_grad_norm_(model.parameters(), 0.3)
                optimizer.step()
                optimizer.zero_grad()
            if per_step:
                scheduler.step()
            losses.update(loss.item(), len(y))
            step += 1
        if not per_step:
            scheduler.step()
        vl, va = validate(model, val_loader, val_criterion)
        if va > best_acc:
            best_acc = va
            if CASE == 6:
                best_state = model.state_dict()
            else:
                best_state = copy.deepcopy(model.state_dict())
        print("epoch %2d lr %.5f train %.4f val %.4f acc %.3f" % (
            epoch, optimizer.param_groups[0]["lr"], losses.avg, vl, va))
    model.load_state_dict(best_state)
    vl, va = validate(model, val_loader, val_criterion)
    print("best model: val loss %.4f acc %.4f" % (vl, va))


if __name__ == "__main__":
    main()
