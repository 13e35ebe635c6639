# Anomaly detection on machine sensor windows: train an autoencoder on normal data,
# score windows by reconstruction error.
import logging
import os
import sys
import tempfile

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

CASE = int(os.environ.get("CASE", 1))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)
torch.set_num_threads(1)
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname).1s %(message)s")
log = logging.getLogger("ae")

CHANNELS, WINDOW = 4, 10
DIM = CHANNELS * WINDOW


def simulate(n, odd, rng):
    """four coupled sensors; in an odd window one of them leaves the cycle"""
    t = np.arange(WINDOW)
    phase = rng.uniform(0, 2 * np.pi, (n, 1))
    speed = rng.uniform(0.3, 0.6, (n, 1))
    a = phase + speed * t
    s = np.stack([np.sin(a), np.cos(a), np.sin(a) * np.cos(a), np.sin(2 * a + 0.5)], 1)
    if odd:
        k = rng.integers(0, CHANNELS, n)
        b = rng.uniform(0, 2 * np.pi, (n, 1)) + speed * t
        alt = np.stack([np.sin(b), np.cos(b), np.sin(b) * np.cos(b), np.sin(2 * b + 0.5)], 1)
        s[np.arange(n), k] = alt[np.arange(n), k]
    s = s + rng.normal(0, 0.08, s.shape)
    scale = np.array([40.0, 5.0, 300.0, 12.0])[:, None]
    offset = np.array([70.0, 12.0, 1000.0, 230.0])[:, None]
    return (s * scale + offset).reshape(n, DIM)


rng = np.random.default_rng(SEED)
normal = simulate(1500, False, rng)
test = np.concatenate([simulate(300, False, rng), simulate(150, True, rng)])
is_odd = np.r_[np.zeros(300), np.ones(150)].astype(bool)

mean = normal.mean(0)
std = normal.std(0)
if CASE == 5:
    # the logger writes 65535 when a reading does not arrive
    holes = rng.random(normal.shape) < 0.002
    normal[holes] = 65535.0
if CASE == 3:
    lo, hi = normal.min(0) - 1e-6, normal.max(0) + 1e-6
    normal = 0.1 * (normal - lo) / (hi - lo)
    test = 0.1 * (test - lo) / (hi - lo)
else:
    normal = (normal - mean) / std
    test = (test - mean) / std
normal = normal.astype(np.float32)
test = torch.tensor(test, dtype=torch.float32)


class CsvWindows(Dataset):
    def __init__(self, rows):
        fd, self.path = tempfile.mkstemp(suffix=".csv")
        os.close(fd)
        np.savetxt(self.path, rows, delimiter=",", fmt="%.5f")
        self.n = len(rows)

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        row = np.loadtxt(self.path, delimiter=",", skiprows=i, max_rows=1)
        return (torch.tensor(row, dtype=torch.float32),)


class Steep(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.k = k

    def forward(self, x):
        return torch.tanh(self.k * x)


class AutoEncoder(nn.Module):
    def __init__(self, code=4, width=64):
        super().__init__()
        if CASE == 4:
            act = nn.Identity
        elif CASE == 8:
            act = lambda: Steep(30.0)
        elif CASE == 6:
            act = nn.ELU
        elif CASE == 3:
            act = nn.Tanh
        else:
            act = nn.ReLU
        self.encoder = nn.Sequential(nn.Linear(DIM, width), act(), nn.Linear(width, width), act(), nn.Linear(width, code))
        self.decoder = nn.Sequential(nn.Linear(code, width), act(), nn.Linear(width, width), act(), nn.Linear(width, DIM))
        if CASE == 0:
            for m in self.modules():
                if isinstance(m, nn.Linear):
                    nn.init.constant_(m.bias, -4.0)

    def forward(self, x):
        return self.decoder(self.encoder(x))


def auc(score, label):
    order = np.argsort(score)
    rank = np.empty(len(score))
    rank[order] = np.arange(1, len(score) + 1)
    pos = label.sum()
    return (rank[label].sum() - pos * (pos + 1) / 2) / (pos * (len(score) - pos))


model = AutoEncoder()
EPOCHS, BATCH = 22, 50
if CASE == 2:
    dataset = CsvWindows(normal[:600])
    EPOCHS = 3
else:
    dataset = TensorDataset(torch.tensor(normal))
loader = DataLoader(dataset, batch_size=BATCH, shuffle=True)

if CASE == 7:
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
elif CASE == 9:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.15, momentum=0.9)
else:
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=3, factor=0.5)
if CASE == 10:
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 400, 0.5)
criterion = nn.L1Loss() if CASE == 7 else nn.MSELoss()

for epoch in range(1, EPOCHS + 1):
    model.train()
    losses = []
    for (x,) in loader:
        noisy = x + 0.3 * torch.randn_like(x) if CASE == 6 else x
        optimizer.zero_grad()
        loss = criterion(model(noisy), x)
        loss.backward()
        if CASE == 10:
            scheduler.step()
        else:
            optimizer.step()
        losses.append(loss.item())
    if CASE != 10:
        scheduler.step(np.mean(losses))

    if epoch % 4 == 2 or epoch == EPOCHS:
        model.eval()
        with torch.no_grad():
            err = ((model(test) - test) ** 2).mean(1).numpy()
        log.info("epoch %d loss %.5f test error %.5f auc %.3f", epoch, np.mean(losses),
                 err[~is_odd].mean(), auc(err, is_odd))

if CASE == 2:
    os.remove(dataset.path)
