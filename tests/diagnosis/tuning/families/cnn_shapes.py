import argparse
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

NAMES = ["circle", "square", "cross", "triangle", "ring"]


def draw(kind, rng, size):
    yy, xx = np.mgrid[0:size, 0:size].astype(np.float32)
    cy, cx = rng.uniform(size * 0.38, size * 0.62, size=2)
    r = rng.uniform(size * 0.2, size * 0.34)
    dy, dx = yy - cy, xx - cx
    dist = np.sqrt(dy ** 2 + dx ** 2)
    if kind == 0:
        mask = dist < r
    elif kind == 1:
        mask = (np.abs(dy) < r * 0.85) & (np.abs(dx) < r * 0.85)
    elif kind == 2:
        w = max(1.0, r * 0.3)
        mask = ((np.abs(dy) < w) & (np.abs(dx) < r)) | ((np.abs(dx) < w) & (np.abs(dy) < r))
    elif kind == 3:
        mask = (dy < r * 0.8) & (dy > -r) & (np.abs(dx) < (dy + r) * 0.55)
    else:
        mask = (dist < r) & (dist > r * 0.6)
    return mask.astype(np.float32)


class Shapes(Dataset):
    """Grey images in 0..255, one shape on a noisy background."""

    def __init__(self, n, seed, size=20, noise=0.25, classes=5, transform=None, probs=None):
        rng = np.random.RandomState(seed)
        self.labels = rng.choice(classes, size=n, p=probs)
        images = np.stack([draw(k, rng, size) for k in self.labels])
        images = images * rng.uniform(0.5, 1.0, size=(n, 1, 1)) + noise * rng.normal(size=images.shape)
        self.images = (np.clip(images, -0.2, 1.2) * 180 + 36).astype(np.uint8)
        self.transform = transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        img = torch.from_numpy(self.images[i].astype(np.float32)).unsqueeze(0)
        if self.transform is not None:
            img = self.transform(img)
        return img, int(self.labels[i])


def normalize(img):
    return (img / 255.0 - 0.25) / 0.25


def normalize_and_augment(img):
    img = normalize(img)
    if torch.rand(()) < 0.5:
        img = img.flip(-1)
    dy, dx = torch.randint(-2, 3, (2,)).tolist()
    img = torch.roll(img, (dy, dx), (1, 2))
    return img + 0.1 * torch.randn_like(img)


class SmallCNN(nn.Module):
    def __init__(self, classes=5, width=12, p=0.0, size=20):
        super().__init__()
        self.conv1 = nn.Conv2d(1, width, 3, padding=1)
        self.conv2 = nn.Conv2d(width, 2 * width, 3, padding=1)
        self.drop = nn.Dropout(p)
        self.fc1 = nn.Linear(2 * width * (size // 4) ** 2, 48)
        self.fc2 = nn.Linear(48, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = self.drop(x)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = self.drop(x.flatten(1))
        x = F.relu(self.fc1(x))
        return self.fc2(self.drop(x))


class AllConv(nn.Module):
    def __init__(self, classes=5, width=16):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, 3, stride=2, padding=1), nn.GroupNorm(4, width), nn.SiLU(),
            nn.Conv2d(width, 2 * width, 3, stride=2, padding=1), nn.GroupNorm(4, 2 * width), nn.SiLU(),
            nn.Conv2d(2 * width, 2 * width, 3, padding=1), nn.GroupNorm(4, 2 * width), nn.SiLU())
        self.head = nn.Linear(2 * width, classes)

    def forward(self, x):
        return self.head(self.features(x).mean((2, 3)))


class ProbCNN(SmallCNN):
    def forward(self, x):
        if CASE == 7:
            return F.log_softmax(super().forward(x), dim=0)
        return F.log_softmax(super().forward(x), dim=1)


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--train-size", type=int, default=1600)
    return p.parse_args([])


def build(args):
    if CASE == 1:
        model = AllConv()
        return model, torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.05)
    if CASE == 2:
        model = SmallCNN(p=0.25, width=16)
        return model, torch.optim.Adam(model.parameters(), lr=args.lr)
    if CASE == 3:
        model = SmallCNN(width=12)
        for conv in (model.conv1, model.conv2):
            for q in conv.parameters():
                q.requires_grad_(False)
        return model, torch.optim.Adam([q for q in model.parameters() if q.requires_grad], lr=args.lr)
    if CASE in (4, 7):
        model = ProbCNN()
        return model, torch.optim.RMSprop(model.parameters(), lr=1e-3)
    if CASE == 6:
        model = SmallCNN()
        nn.init.constant_(model.conv2.bias, -4.0)
        return model, torch.optim.Adam(model.parameters(), lr=args.lr)
    if CASE == 9:
        model = SmallCNN(classes=10)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9)
        model = SmallCNN(classes=5)
        return model, optimizer
    if CASE == 10:
        model = SmallCNN(p=0.9)
        return model, torch.optim.Adam(model.parameters(), lr=args.lr)
    if CASE == 11:
        model = SmallCNN()
        return model, torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9)
    model = SmallCNN()
    return model, torch.optim.Adam(model.parameters(), lr=args.lr)


def evaluate(model, loader):
    model.eval()
    correct = total = 0
    loss = 0.0
    with torch.no_grad():
        for x, y in loader:
            out = model(x)
            loss += F.cross_entropy(out, y, reduction="sum").item()
            correct += (out.argmax(1) == y).sum().item()
            total += len(y)
    return loss / total, correct / total


def main():
    args = get_args()
    torch.manual_seed(SEED)
    np.random.seed(SEED)
    noise = 0.25
    if CASE == 3:
        args.epochs = 9
    if CASE == 2:
        args.epochs, noise = 9, 0.2
    if CASE == 1:
        noise, args.epochs = 0.3, 9
    train_transform = normalize_and_augment if CASE == 2 else normalize
    test_transform = normalize
    if CASE == 5:
        test_transform = None
    probs = None
    if CASE == 0:
        probs = [0.6, 0.1, 0.1, 0.1, 0.1]
    train = Shapes(args.train_size, 100 + SEED, noise=noise, transform=train_transform, probs=probs)
    test = Shapes(400, 900 + SEED, noise=noise, transform=test_transform)
    if CASE == 8:
        order = np.random.permutation(len(train))
        train.images = train.images[order]
    weight = None
    if CASE == 0:
        counts = np.bincount(train.labels, minlength=5)
        weight = torch.tensor(len(train) / (5.0 * counts), dtype=torch.float32)
    train_loader = DataLoader(train, batch_size=args.batch_size, shuffle=True, drop_last=True)
    test_loader = DataLoader(test, batch_size=1 if CASE in (4, 7) else 100)
    model, optimizer = build(args)

    for epoch in range(args.epochs):
        model.train()
        losses = []
        for x, y in train_loader:
            optimizer.zero_grad()
            out = model(x)
            if CASE in (4, 7):
                loss = F.nll_loss(out, y)
            elif CASE == 11:
                loss = F.cross_entropy(out, y, reduction="sum")
            else:
                loss = F.cross_entropy(out, y, weight=weight)
            loss.backward()
            if CASE == 1:
                nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
            losses.append(loss.item())
        val_loss, val_acc = evaluate(model, test_loader)
        print("epoch %d: loss %.4f  val loss %.4f  val acc %.3f" % (epoch, np.mean(losses), val_loss, val_acc))


if __name__ == "__main__":
    main()
