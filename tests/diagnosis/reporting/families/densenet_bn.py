import os
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import CosineAnnealingLR, StepLR, LambdaLR
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))


class Blobs(Dataset):
    """images with one to four bright blobs; the label is how many there are"""

    def __init__(self, n, seed, probs=None):
        r = np.random.RandomState(seed)
        self.y = r.choice(4, n, p=probs)
        grid = np.stack(np.mgrid[0:15, 0:15], -1)
        self.x = np.zeros((n, 1, 15, 15), np.float32)
        for i, k in enumerate(self.y):
            cells = r.permutation(9)[:k + 1]
            for c in cells:
                ctr = np.array([c // 3, c % 3]) * 5 + 2 + r.uniform(-1, 1, 2)
                d2 = ((grid - ctr) ** 2).sum(-1)
                self.x[i, 0] += np.exp(-d2 / 2.0) * r.uniform(0.8, 1.2)
            self.x[i] += 0.1 * r.randn(1, 15, 15)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return torch.from_numpy(self.x[i]), int(self.y[i])


class DenseLayer(nn.Module):
    def __init__(self, cin, k, p):
        super().__init__()
        self.norm = nn.BatchNorm2d(cin)
        self.conv = nn.Conv2d(cin, k, 3, padding=1, bias=False)
        self.p = p

    def forward(self, x):
        y = self.conv(F.relu(self.norm(x)))
        y = F.dropout(y, self.p, self.training)
        return torch.cat([x, y], 1)


def dense_net(k=8, p=0.0):
    layers = [nn.Conv2d(1, 12, 3, padding=1)]
    c = 12
    for blk in range(2):
        for _ in range(3):
            layers.append(DenseLayer(c, k, p))
            c += k
        layers += [nn.BatchNorm2d(c), nn.ReLU(), nn.Conv2d(c, c // 2, 1), nn.AvgPool2d(2)]
        c //= 2
    layers += [nn.BatchNorm2d(c), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(c, 4)]
    return nn.Sequential(*layers)


def evaluate(model, loader):
    model.eval()
    hit = np.zeros(4)
    cnt = np.zeros(4)
    with torch.no_grad():
        for x, y in loader:
            p = model(x).argmax(1)
            for a, b in zip(p.tolist(), y.tolist()):
                hit[b] += a == b
                cnt[b] += 1
    model.train()
    return float((hit / np.maximum(cnt, 1)).mean())


def main():
    torch.manual_seed(SEED)
    probs = [0.7, 0.12, 0.1, 0.08] if CASE == 7 else None
    if CASE == 9:
        train_set = Blobs(48, SEED)
        val_loader = DataLoader(train_set, 64)
    else:
        train_set = Blobs(560, SEED, probs)
        val_loader = DataLoader(Blobs(240, SEED + 1000), 80)
    micro = 8 if CASE == 6 else 32
    loader = DataLoader(train_set, micro, shuffle=True, drop_last=len(train_set) > 100)
    model = dense_net(p=0.98 if CASE == 4 else 0.0)
    weight = torch.tensor([0.4, 2.1, 2.5, 3.1]) if CASE == 7 else None
    crit = nn.CrossEntropyLoss(weight=weight)
    epochs = 6 if CASE != 9 else 40

    def new_optimizer():
        if CASE == 2:
            return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9995)
        if CASE in (3, 11):
            return torch.optim.Adam(model.parameters(), lr=0.04)
        return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-4)

    opt = new_optimizer()
    steps = epochs * len(loader)
    if CASE == 1:
        sched = StepLR(opt, step_size=3, gamma=0.1)
    elif CASE == 5:
        sched = LambdaLR(opt, lambda s: min(1.0, s / 30.0) * (1.0 if s < 70 else 0.1))
    else:
        sched = CosineAnnealingLR(opt, steps // (4 if CASE == 6 else 1))
    scale = 2.0 ** 14
    step = 0
    for epoch in range(epochs):
        for i, (x, y) in enumerate(loader):
            if CASE == 3:
                opt = new_optimizer()
            loss = crit(model(x), y)
            if CASE == 6:
                (loss / 4).backward()
                if (i + 1) % 4:
                    continue
            elif CASE == 10:
                (loss * scale).backward()
            else:
                loss.backward()
            if CASE == 8:
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1e-4)
            if CASE == 10:
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                for p in model.parameters():
                    p.grad.div_(scale)
            opt.step()
            opt.zero_grad()
            if CASE != 3:
                sched.step()
            step += 1
            if step % 20 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f}")
        print(f"epoch {epoch} balanced acc {evaluate(model, val_loader):.3f}")
    if CASE == 9:
        val = evaluate(model, DataLoader(Blobs(240, SEED + 1000), 80))
    else:
        val = evaluate(model, val_loader)
    print("METRIC", val)


if __name__ == "__main__":
    main()
