import os
import random
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)
np.random.seed(SEED)
random.seed(SEED)

NAMES = ["square", "disc", "cross", "rows", "columns", "ring", "ell", "diag"]


def draw(kind, rng):
    im = np.zeros((20, 20), dtype=np.float32)
    cy, cx, r = rng.randint(7, 13), rng.randint(7, 13), rng.randint(4, 7)
    yy, xx = np.mgrid[0:20, 0:20]
    dy, dx = yy - cy, xx - cx
    box = (abs(dy) <= r) & (abs(dx) <= r)
    rad = np.sqrt(dy ** 2 + dx ** 2)
    if kind == 0:
        m = box
    elif kind == 1:
        m = rad <= r
    elif kind == 2:
        m = box & ((abs(dy) <= 1) | (abs(dx) <= 1))
    elif kind == 3:
        m = box & (dy % 3 == 0)
    elif kind == 4:
        m = box & (dx % 3 == 0)
    elif kind == 5:
        m = abs(rad - r) < 1.2
    elif kind == 6:
        m = box & ((dy >= r - 1) | (dx <= -r + 1))
    else:
        m = box & (abs(dy - dx) <= 1)
    im[m] = rng.uniform(0.45, 0.9)
    im = im + 0.25 * rng.randn(20, 20)
    return (np.clip(im, 0, 1) * 255).astype(np.uint8)


class ShapeFolder(Dataset):
    """images/<id>.png with a list file that says which id shows what"""

    def __init__(self, count, seed, mean=None, std=None, jitter=False):
        rng = np.random.RandomState(seed)
        kinds = np.repeat(np.arange(8), count // 8)
        ids = ["%d.png" % i for i in range(len(kinds))]
        self.disk = {name: draw(k, rng) for name, k in zip(ids, kinds)}
        self.table = dict(zip(ids, kinds))
        self.mean, self.std, self.jitter = mean, std, jitter
        self.names = list(ids)
        if CASE == 9:
            self.names = sorted(self.disk)
            self.labels = [int(self.table[n]) for n in ids]
        else:
            self.labels = [int(self.table[n]) for n in self.names]

    def __len__(self):
        return len(self.names)

    def __getitem__(self, i):
        x = torch.from_numpy(self.disk[self.names[i]]).float().unsqueeze(0)
        if self.jitter:
            x = torch.roll(x, (random.randint(-2, 2), random.randint(-2, 2)), (1, 2))
            x = (x * random.uniform(0.6, 1.2) + 20 * torch.randn_like(x)).clamp(0, 255)
            t, l = random.randint(0, 12), random.randint(0, 12)
            x[:, t:t + 7, l:l + 7] = 0
        if self.mean is not None:
            x = (x - self.mean) / self.std
        return x, self.labels[i]


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 12, 3, padding=1)
        self.conv2 = nn.Conv2d(12, 24, 3, padding=1)
        self.drop = nn.Dropout(0.25)
        self.fc1 = nn.Linear(24 * 25, 48)
        self.fc2 = nn.Linear(48, 8)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.relu(self.fc1(self.drop(x.flatten(1))))
        x = self.fc2(x)
        if CASE == 1:
            return F.log_softmax(x, dim=1)
        if CASE == 5:
            return F.softmax(x, dim=1)
        return x


def train(model, loader, optimizer, scheduler, loss_fn, epoch):
    model.train()
    seen = hits = total = 0
    for x, y in loader:
        optimizer.zero_grad()
        out = model(x)
        loss = loss_fn(out, y)
        loss.backward()
        if CASE == 11:
            optimizer.zero_grad()
        optimizer.step()
        if scheduler is not None and CASE == 10:
            scheduler.step()
        total += loss.item() * len(y)
        hits += (out.argmax(1) == y).sum().item()
        seen += len(y)
    if scheduler is not None and CASE != 10:
        scheduler.step()
    print("Train Epoch: %d  loss: %.4f  acc: %.1f%%" % (epoch, total / seen, 100.0 * hits / seen))


@torch.no_grad()
def test(model, loader, loss_fn):
    model.eval()
    total = hits = seen = 0
    for x, y in loader:
        out = model(x)
        total += loss_fn(out, y).item() * len(y)
        hits += (out.argmax(1) == y).sum().item()
        seen += len(y)
    print("Test set: average loss: %.4f, accuracy: %d/%d (%.1f%%)" % (total / seen, hits, seen, 100.0 * hits / seen))


def main():
    mean, std = 62.0, 75.0
    train_set = ShapeFolder(1200, 1 + SEED, mean, std, jitter=CASE == 2)
    test_set = ShapeFolder(320, 1001 + SEED, *((None, None) if CASE == 8 else (mean, std)))
    bs = {3: 8}.get(CASE, 32)
    train_loader = DataLoader(train_set, batch_size=bs, shuffle=CASE != 6)
    test_loader = DataLoader(test_set, batch_size=120)
    model = ConvNet()
    loss_fn = nn.NLLLoss() if CASE == 1 else nn.CrossEntropyLoss()
    scheduler = None
    epochs = 7
    if CASE == 3:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.03)
        epochs = 6
    elif CASE == 7:
        optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    elif CASE in (4, 10):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=3, gamma=0.3)
    else:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    if CASE == 2:
        epochs = 7
    for epoch in range(1, epochs + 1):
        train(model, train_loader, optimizer, scheduler, loss_fn, epoch)
        test(model, test_loader, loss_fn)


if __name__ == "__main__":
    main()
