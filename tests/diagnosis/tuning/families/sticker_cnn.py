"""Small CNN that tells printed stickers (8 kinds of coloured shapes) apart, with a reusable Trainer."""
import os
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, WeightedRandomSampler

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)

SIZE, CLASSES = 18, 8


def draw_sticker(kind, rng):
    """uint8 image (H, W, 3) as a camera would give it"""
    img = rng.normal(110, 28, (SIZE, SIZE, 3))
    cy, cx = rng.integers(6, SIZE - 6, 2)
    r = rng.integers(3, 6)
    yy, xx = np.mgrid[:SIZE, :SIZE]
    shape = kind % 4
    if shape == 0:
        m = (abs(yy - cy) <= r) & (abs(xx - cx) <= r)
    elif shape == 1:
        d = np.hypot(yy - cy, xx - cx)
        m = (d <= r + 0.5) & (d >= r - 1.5)
    elif shape == 2:
        m = (abs(yy - cy) <= 1) | (abs(xx - cx) <= 1)
        m &= (abs(yy - cy) <= r) & (abs(xx - cx) <= r)
    else:
        m = abs((yy - cy) - (xx - cx)) <= 1
        m &= (abs(yy - cy) <= r) & (abs(xx - cx) <= r)
    colour = np.array([60, 10, -40]) if kind < 4 else np.array([-40, 10, 60])
    img[m] += colour + rng.normal(0, 12, 3)
    return img.clip(0, 255).astype(np.uint8)


def make_split(n, seed, counts=None):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(CLASSES), n // CLASSES) if counts is None else np.repeat(np.arange(CLASSES), counts)
    images = np.stack([draw_sticker(k, rng) for k in labels])
    return images, labels.astype(np.int64)


class Stickers(Dataset):
    MEAN, STD = 110.0, 35.0

    def __init__(self, images, labels, normalise=True, flip=False):
        self.images, self.labels = images, labels
        self.normalise, self.flip = normalise, flip

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        img = torch.from_numpy(self.images[i]).float()
        if CASE == 11:
            img = img.reshape(3, SIZE, SIZE)
        else:
            img = img.permute(2, 0, 1)
        if self.normalise:
            img = (img - self.MEAN) / self.STD
        if self.flip and random.random() < 0.5:
            img = img.flip(1).flip(2)
        return img, int(self.labels[i])


class StickerNet(nn.Module):
    def __init__(self, width=16, drop=0.2):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, padding=1), nn.BatchNorm2d(2 * width), nn.ReLU(), nn.MaxPool2d(3),
        )
        self.drop = nn.Dropout(drop)
        self.fc = nn.Linear(2 * width * 9, CLASSES)

    def forward(self, x):
        x = self.features(x).flatten(1)
        x = self.fc(self.drop(x))
        return F.softmax(x, dim=1) if CASE == 5 else x


class Trainer:
    def __init__(self, model, train_loader, val_loader, optimizer, scheduler=None, criterion=None, max_norm=None):
        self.model, self.train_loader, self.val_loader = model, train_loader, val_loader
        self.optimizer, self.scheduler, self.max_norm = optimizer, scheduler, max_norm
        self.criterion = criterion or nn.CrossEntropyLoss()
        self.history = []
        self.best = 0.0

    def train_epoch(self):
        if CASE != 7:
            self.model.train()
        total, seen, correct = 0.0, 0, 0
        for images, labels in self.train_loader:
            if CASE == 10:
                images = images[torch.randperm(len(images))]
            self.optimizer.zero_grad()
            out = self.model(images)
            loss = self.criterion(out, labels)
            loss.backward()
            if self.max_norm:
                nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)
            self.optimizer.step()
            total += loss.item() * len(labels)
            correct += (out.argmax(1) == labels).sum().item()
            seen += len(labels)
        return total / seen, correct / seen

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        loss, correct, seen = 0.0, 0, 0
        for images, labels in self.val_loader:
            out = self.model(images)
            loss += F.cross_entropy(out, labels, reduction="sum").item()
            correct += (out.argmax(1) == labels).sum().item()
            seen += len(labels)
        return loss / seen, correct / seen

    def fit(self, epochs):
        v, a = self.validate()
        print(f"before training: val loss {v:.3f} acc {a:.3f}")
        for epoch in range(epochs):
            t, ta = self.train_epoch()
            v, a = self.validate()
            if self.scheduler is not None:
                self.scheduler.step()
            self.best = max(self.best, a)
            self.history.append((t, v, a))
            print(f"epoch {epoch:2d}  train {t:.3f} ({ta:.3f})  val {v:.3f} ({a:.3f})")


def pretrained_trunk():
    """trunk that has seen a related task: the colour and shape of stickers of another factory"""
    net = StickerNet()
    images, labels = make_split(960, SEED + 50)
    loader = DataLoader(Stickers(images, labels), batch_size=48, shuffle=True)
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for _ in range(5):
        for x, y in loader:
            opt.zero_grad()
            F.cross_entropy(net(x), y).backward()
            opt.step()
    return net.features


def main():
    counts = None
    if CASE == 3:
        counts = [420, 300, 160, 120, 60, 60, 40, 40]
    images, labels = make_split(1280, SEED + 1, counts)
    vimages, vlabels = make_split(400, SEED + 2)
    train_set = Stickers(images, labels, flip=CASE in (1, 4))
    val_set = Stickers(vimages, vlabels, normalise=CASE != 6)
    batch, epochs, lr = 32, 8, 2e-3
    if CASE == 1:
        batch, epochs = 8, 6
    if CASE == 3:
        w = 1.0 / np.bincount(labels)[labels]
        train_loader = DataLoader(train_set, batch_size=batch, sampler=WeightedRandomSampler(w, len(labels)))
    else:
        train_loader = DataLoader(train_set, batch_size=batch, shuffle=CASE != 9)
    val_loader = DataLoader(val_set, batch_size=100)

    model = StickerNet(drop=0.5 if CASE == 4 else 0.2)
    criterion, max_norm = None, None
    if CASE == 2:
        model.features = pretrained_trunk()
        for p in model.features.parameters():
            p.requires_grad_(False)
        optimizer = torch.optim.Adam(model.fc.parameters(), lr=lr)
    elif CASE == 1:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.8)
    else:
        optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    if CASE == 4:
        criterion, max_norm = nn.CrossEntropyLoss(label_smoothing=0.2), 0.5
    if CASE == 8:
        model.features[0] = nn.Conv2d(3, 16, 3, padding=1, bias=False)
        model.fc = nn.Linear(32 * 9, CLASSES)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=3, gamma=0.4)
    trainer = Trainer(model, train_loader, val_loader, optimizer, scheduler, criterion, max_norm)
    trainer.fit(epochs)
    print(f"best accuracy {trainer.best:.3f}, last {trainer.history[-1][2]:.3f}")


if __name__ == "__main__":
    main()
