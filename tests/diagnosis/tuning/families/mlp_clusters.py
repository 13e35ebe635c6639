import os
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", "0"))
torch.manual_seed(int(os.environ.get("SEED", "0")))

CLASSES, DIM = 6, 16
centres = torch.randn(CLASSES, 3, DIM) * 1.6


def sample(n):
    y = torch.randint(0, CLASSES, (n,))
    k = torch.randint(0, 3, (n,))
    noise = torch.randn(n, DIM)
    x = centres[y, k] + noise
    return x, y, noise.norm(dim=1)


xtr, ytr, hard = sample(4000)
xte, yte, _ = sample(1500)
shuffle = True
epochs = 8
if CASE == 6:
    pad = torch.cat([torch.zeros(4000, 5), torch.full((4000, 3), 2.0)], 1)
    xtr = torch.cat([xtr, pad], 1)
    xte = torch.cat([xte, pad[:1500]], 1)
if CASE == 7:
    order = ytr.argsort()
    xtr, ytr = xtr[order], ytr[order]
    shuffle = False
if CASE == 9:
    order = hard.argsort()
    xtr, ytr = xtr[order], ytr[order]
    shuffle = False
if CASE == 4:
    xtr, ytr = xtr[:64], ytr[:64]
    xte, yte = xtr, ytr
    epochs = 200

layers = [nn.Linear(xtr.shape[1], 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, CLASSES)]
if CASE == 3:
    layers.append(nn.Softmax(dim=1))
model = nn.Sequential(*layers)

loader = DataLoader(TensorDataset(xtr, ytr), batch_size=64, shuffle=shuffle)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1 if CASE == 2 else 0.0)
if CASE == 5:
    optimizer = torch.optim.Adam(model.parameters(), lr=0.7)
elif CASE in (2, 6):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
else:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum={0: 0.5, 7: 0.9, 9: 0.9}.get(CASE, 0.0))
scheduler = None
if CASE == 2:
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.01, total_steps=epochs * len(loader))

for epoch in range(epochs):
    model.train()
    total = 0.0
    for xb, yb in loader:
        if CASE == 8:
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1e-4)
            optimizer.step()
            total += loss.item()
            continue
        if CASE != 1:
            optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        acc = (model(xte).argmax(1) == yte).float().mean().item()
    if epoch % max(1, epochs // 8) == 0 or epoch == epochs - 1:
        print(f"epoch {epoch} loss {total / len(loader):.4f} acc {acc:.4f}")
print("METRIC", acc)
