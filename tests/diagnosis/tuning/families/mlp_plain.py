import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.RandomState(SEED)


def clusters(n, n_features=16, n_classes=4, per_class=4, spread=0.9, seed=0):
    g = np.random.RandomState(1000 + seed)
    centers = g.normal(0, 1.0, size=(n_classes, per_class, n_features))
    y = rng.randint(0, n_classes, size=n)
    k = rng.randint(0, per_class, size=n)
    x = centers[y, k] + spread * rng.normal(size=(n, n_features))
    return x.astype(np.float32), y.astype(np.int64)


def rings(n, noise):
    y = rng.randint(0, 2, size=n)
    r = 1.0 + y + noise * rng.normal(size=n)
    a = rng.uniform(0, 2 * np.pi, size=n)
    x = np.stack([r * np.cos(a), r * np.sin(a)], 1)
    return x.astype(np.float32), y.astype(np.int64)


# ---------------------------------------------------------------- data
n_train, n_test, epochs, batch_size = 3000, 800, 12, 50
if CASE == 2:
    x, y = rings(n_train + n_test, noise=0.45)
elif CASE == 3:
    x, y = clusters(n_train + n_test, n_classes=10, per_class=1, spread=1.0, seed=SEED)
    y = (y == 3).astype(np.int64)
elif CASE == 9:
    n_train, epochs, batch_size = 160, 60, 20
    x, y = clusters(n_train + n_test, n_features=60, n_classes=3, per_class=6, spread=2.1, seed=SEED)
elif CASE == 10:
    x, y = rings(n_train + n_test, noise=0.2)
elif CASE == 6:
    x, y = clusters(n_train + n_test, n_classes=8, per_class=2, spread=0.7, seed=SEED)
else:
    x, y = clusters(n_train + n_test, seed=SEED)

x_train, y_train = x[:n_train], y[:n_train]
x_test, y_test = x[n_train:], y[n_train:]
mean, std = x_train.mean(0), x_train.std(0)
x_train = (x_train - mean) / std
x_test = (x_test - mean) / std
if CASE == 7:
    order = np.argsort(y_train, kind="stable")
    x_train, y_train = x_train[order], y_train[order]
if CASE == 11:
    swap = rng.rand(n_train) < 0.6
    y_train = np.where(swap, rng.randint(0, 4, size=n_train), y_train)
x_train, y_train = torch.from_numpy(x_train), torch.from_numpy(y_train)
x_test, y_test = torch.from_numpy(x_test), torch.from_numpy(y_test)
d, n_classes = x_train.shape[1], int(y_train.max()) + 1

# ---------------------------------------------------------------- model
if CASE == 1:
    model = nn.Sequential(nn.Linear(d, 256), nn.ReLU(), nn.Dropout(0.6),
                          nn.Linear(256, 256), nn.ReLU(), nn.Dropout(0.6),
                          nn.Linear(256, n_classes))
elif CASE == 3:
    model = nn.Sequential(nn.Linear(d, 32), nn.ReLU(), nn.Linear(32, 1))
elif CASE == 4:
    model = nn.Sequential(nn.Linear(d, 96), nn.GELU(), nn.LayerNorm(96),
                          nn.Linear(96, 96), nn.GELU(), nn.LayerNorm(96),
                          nn.Linear(96, n_classes))
elif CASE == 6:
    model = nn.Sequential(nn.Linear(d, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(),
                          nn.Linear(64, n_classes), nn.Softmax(dim=1))
elif CASE == 8:
    model = nn.Sequential(nn.Linear(d, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(),
                          nn.Linear(64, n_classes))
    for m in model:
        if isinstance(m, nn.Linear):
            nn.init.constant_(m.weight, 0.02)
            nn.init.zeros_(m.bias)
elif CASE == 9:
    model = nn.Sequential(nn.Linear(d, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(),
                          nn.Linear(256, n_classes))
elif CASE == 10:
    model = nn.Sequential(nn.Linear(d, 64), nn.Linear(64, 64), nn.Linear(64, 64),
                          nn.Linear(64, n_classes))
else:
    model = nn.Sequential(nn.Linear(d, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(),
                          nn.Linear(64, n_classes))

# ---------------------------------------------------------------- optimizer and loss
scheduler = None
if CASE == 1:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
elif CASE == 4:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    total, warm = epochs * (n_train // batch_size), 200
    scheduler = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda s: min((s + 1) / warm, max(0.0, (total - s) / (total - warm))))
elif CASE == 5:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
elif CASE == 6:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
elif CASE == 7:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
else:
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

if CASE == 3:
    pos_weight = (y_train == 0).sum().float() / (y_train == 1).sum().float()
    bce = nn.BCEWithLogitsLoss(pos_weight=pos_weight)

    def criterion(out, target):
        return bce(out.squeeze(1), target.float())
elif CASE == 1:
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
else:
    criterion = nn.CrossEntropyLoss()


def evaluate():
    model.eval()
    with torch.no_grad():
        out = model(x_test)
        loss = criterion(out, y_test).item()
        pred = (out.squeeze(1) > 0).long() if CASE == 3 else out.argmax(1)
        recalls = [(pred[y_test == c] == c).float().mean().item() for c in range(n_classes)]
        acc = (pred == y_test).float().mean().item()
    model.train()
    return loss, acc, float(np.mean(recalls))


# ---------------------------------------------------------------- training
step = 0
for epoch in range(epochs):
    if CASE == 7:
        perm = torch.arange(n_train)
    else:
        perm = torch.randperm(n_train)
    running = 0.0
    for i in range(0, n_train, batch_size):
        idx = perm[i:i + batch_size]
        xb, yb = x_train[idx], y_train[idx]
        if CASE != 5:
            optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        running += loss.item()
        step += 1
    test_loss, acc, bal = evaluate()
    print("epoch %d train loss %.4f test loss %.4f acc %.3f balanced %.3f"
          % (epoch, running / (n_train // batch_size), test_loss, acc, bal))
