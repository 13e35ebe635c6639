import os
import time
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
np.random.seed(SEED)

SIZE = 16


def draw(label, rs):
    """uint8 picture (H, W, 3) with one of five shapes somewhere in it"""
    img = rs.randint(0, 170, size=(SIZE, SIZE, 3))
    a, b = rs.randint(1, 8, size=2)
    colour = rs.randint(90, 230, size=3)
    if label == 0:
        img[a:a + 7, b:b + 2] = colour
    elif label == 1:
        img[a:a + 2, b:b + 7] = colour
    elif label == 2:
        img[a:a + 5, b:b + 5] = colour
        img[a + 1:a + 4, b + 1:b + 4] = 30
    elif label == 3:
        for i in range(7):
            img[a + i, b + i] = colour
            img[a + i, b + 6 - i] = colour
    else:
        img[a + 3, b:b + 7] = colour
        img[a:a + 7, b + 3] = colour
    return np.clip(img, 0, 255).astype(np.uint8)


class Shapes(Dataset):
    def __init__(self, n, seed, train=True, probs=None, flip=0.0):
        rs = np.random.RandomState(seed)
        self.y = rs.choice(5, size=n, p=probs)
        self.x = np.stack([draw(c, rs) for c in self.y])
        if train and CASE == 5:
            order = np.argsort(self.y, kind="stable")
            self.x, self.y = self.x[order], self.y[order]
        if flip:
            m = rs.rand(n) < flip
            self.y = np.where(m, rs.randint(0, 5, size=n), self.y)
        self.train = train

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        img = torch.from_numpy(self.x[i]).float()
        if CASE == 3:
            img = img.reshape(3, SIZE, SIZE)
        else:
            img = img.permute(2, 0, 1)
        if self.train or CASE != 4:
            img = (img / 255.0 - 0.35) / 0.2
        if CASE == 6 and self.train:
            time.sleep(0.0006)
        return img, int(self.y[i])


class SmallCNN(nn.Module):
    def __init__(self, width=12, dropout=0.0, softmax=False, bias0=0.0, gap=False):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 3, padding=1)
        self.conv2 = nn.Conv2d(width, 2 * width, 3, padding=1)
        self.conv3 = nn.Conv2d(2 * width, 2 * width, 3, padding=1)
        self.gap = gap
        self.fc = nn.Linear(2 * width if gap else 2 * width * 16, 5)
        self.drop = nn.Dropout(dropout)
        self.softmax = softmax
        if bias0:
            nn.init.constant_(self.conv2.bias, bias0)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.relu(self.conv2(x))
        x = F.max_pool2d(F.relu(self.conv3(x)), 2)
        x = x.mean((2, 3)) if self.gap else x.flatten(1)
        x = self.fc(self.drop(x))
        if self.softmax:
            x = F.softmax(x, dim=1)
        return x


def evaluate(model, loader):
    model.eval()
    hits, n, loss = 0, 0, 0.0
    with torch.no_grad():
        for x, y in loader:
            out = model(x)
            loss += F.cross_entropy(out, y, reduction="sum").item()
            hits += (out.argmax(1) == y).sum().item()
            n += len(y)
    return loss / n, hits / n


def main():
    probs, weights, flip = None, None, 0.0
    epochs, bs, ntrain = 6, 32, 1000
    kw = {}
    if CASE == 0:
        kw = dict(bias0=-4.0)
    if CASE == 1:
        kw = dict(softmax=True)
    if CASE == 7:
        flip = 0.6
    if CASE == 9:
        kw = dict(dropout=0.7, width=20)
        epochs = 8
    if CASE == 10:
        probs = [0.72, 0.07, 0.07, 0.07, 0.07]
        ntrain = 1600
        weights = torch.tensor([0.07, 0.72, 0.72, 0.72, 0.72]) / 0.7
    if CASE == 11:
        bs, ntrain, epochs = 4, 1000, 6
    if CASE == 12:
        kw = dict(width=16, gap=True)
        epochs = 9
    train = Shapes(ntrain, SEED * 10 + 1, True, probs, flip)
    test = Shapes(400, SEED * 10 + 2, False)
    train_loader = DataLoader(train, batch_size=bs, shuffle=(CASE != 5))
    test_loader = DataLoader(test, batch_size=100)

    model = SmallCNN(**kw)
    sched = None
    if CASE == 2:
        opt = torch.optim.Adam(model.fc.parameters(), lr=2e-3)
    elif CASE in (1, 8):
        opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-3)
    elif CASE == 11:
        opt = torch.optim.SGD(model.parameters(), lr=0.004, momentum=0.9)
    elif CASE == 12:
        opt = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.3)
        total = epochs * len(train_loader)
        sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 120) * (1 - s / total))
    elif CASE == 5:
        opt = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9)
    else:
        opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    criterion = nn.CrossEntropyLoss(weight=weights)
    best = 0
    for epoch in range(epochs):
        model.train()
        running, correct, seen = 0.0, 0, 0
        for x, y in train_loader:
            opt.zero_grad()
            out = model(x)
            loss = criterion(out, y)
            loss.backward()
            opt.step()
            if sched is not None:
                sched.step()
            running += loss.item() * len(y)
            correct += (out.argmax(1) == y).sum().item()
            seen += len(y)
        vl, va = evaluate(model, test_loader)
        best = max(best, va)
        print(f"epoch {epoch}: train {running / seen:.4f} acc {correct / seen:.3f} | val {vl:.4f} acc {va:.3f} best {best:.3f}")


if __name__ == "__main__":
    main()
