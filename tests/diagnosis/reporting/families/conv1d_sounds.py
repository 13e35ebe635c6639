import os
import time
import math
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", "0"))
torch.manual_seed(int(os.environ.get("SEED", "0")))
rng = np.random.RandomState(int(os.environ.get("SEED", "0")))
L, RATE, CLASSES = 400, 4000.0, 6
t = np.arange(L) / RATE


def synth(kind):
    f = rng.uniform(150, 400)
    ph = rng.uniform(0, 2 * np.pi)
    amp = rng.uniform(0.3, 1.0)
    dur = t[-1]
    if kind == 0:
        w = np.sin(2 * np.pi * f * t + ph)
    elif kind == 1:
        w = np.sin(2 * np.pi * (f + 700) * t + ph)
    elif kind == 2:
        w = np.sin(2 * np.pi * (f * t + 700 / (2 * dur) * t ** 2) + ph)
    elif kind == 3:
        w = np.sin(2 * np.pi * ((f + 700) * t - 700 / (2 * dur) * t ** 2) + ph)
    elif kind == 4:
        w = np.sign(np.sin(2 * np.pi * f * t + ph))
    else:
        w = rng.randn(L) * 0.6
    w = amp * w + 0.15 * rng.randn(L)
    if CASE == 8:
        w[rng.randint(150, 300):] = 0.0
    return np.clip(w * 12000, -32767, 32767).astype(np.int16)


class Sounds(Dataset):
    def __init__(self, n, ordered=False, train=True):
        self.labels = np.arange(n) * CLASSES // n if ordered else rng.randint(0, CLASSES, n)
        self.clips = []
        buf = np.zeros(L, dtype=np.int16)
        for k in self.labels:
            buf[:] = synth(k)
            self.clips.append(buf if CASE == 1 and train else buf.copy())
        self.train = train

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        w = self.clips[i].astype(np.float32)
        if CASE == 10 and self.train:
            for _ in range(25):
                spec = np.fft.rfft(np.tile(w, 8))
                w = np.fft.irfft(spec)[:L].astype(np.float32)
        if CASE != 2:
            w = w / 12000.0
        if CASE == 5 and self.train and i % 97 == 40:
            w = np.log(w).astype(np.float32)
        return torch.from_numpy(w)[None], int(self.labels[i])


class Conv1dNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv1d(1, 12, 9, stride=2)
        self.c2 = nn.Conv1d(12, 24, 7, stride=2)
        self.c3 = nn.Conv1d(24, 32, 5, stride=2)
        self.head = nn.Linear(32 * 4, CLASSES)

    def forward(self, x):
        x = F.relu(self.c1(x))
        x = F.relu(self.c2(x))
        x = F.relu(self.c3(x))
        return self.head(F.adaptive_max_pool1d(x, 4).flatten(1))


np.seterr(all="ignore")
train_set = Sounds(1200, ordered=CASE == 3)
test_set = Sounds(300, train=False)
BS = 40
loader = DataLoader(train_set, batch_size=BS, shuffle=CASE != 3, drop_last=True)
test_loader = DataLoader(test_set, batch_size=100)
model = Conv1dNet()
opt = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9)
total_steps = 240
if CASE == 9:
    opt = torch.optim.Adam(model.parameters(), lr=8e-3)
    total_steps = 60
if CASE == 7:
    opt = torch.optim.SGD(model.parameters(), lr=0.012, momentum=0.9)
    loader = DataLoader(train_set, batch_size=6, shuffle=True, drop_last=True)
    total_steps = 900
if CASE == 10:
    total_steps = 100


def test():
    model.eval()
    good = 0
    with torch.no_grad():
        for x, y in test_loader:
            good += (model(x).argmax(1) == y).sum().item()
    model.train()
    return good / len(test_set)


ordered = DataLoader(train_set, batch_size=BS)
step = 0
batches = iter(loader)
t0 = time.time()
while step < total_steps:
    if CASE == 4:
        x, y = next(iter(ordered))
    else:
        try:
            x, y = next(batches)
        except StopIteration:
            batches = iter(loader)
            x, y = next(batches)
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    step += 1
    if step % (total_steps // 6) == 0:
        print("step", step, "loss", round(loss.item(), 4), "test", round(test(), 3), "%.1fs" % (time.time() - t0))
print("METRIC", test())
