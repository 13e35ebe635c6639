"""Keyword spotting on small spectrograms, evaluated on a quiet, an office and a street set."""
import os
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)
WORDS = ["on", "off", "up", "down", "stop"]
TEMPL = np.random.default_rng(4).normal(0, 1, (len(WORDS), 4, 3))


def spec(c, noise):
    f, t = np.mgrid[:16, :20]
    s = np.zeros((16, 20))
    shift, stretch = rng.integers(-2, 3), rng.uniform(0.85, 1.15)
    for k in range(4):
        a, b, w = TEMPL[c, k]
        track = 8 + 4 * a + (t - 10) * 0.35 * b * stretch + shift
        env = np.exp(-((t - 4 - 4 * k) / (3 + abs(w))) ** 2)
        s += env * np.exp(-((f - track) / 1.2) ** 2)
    return s + noise * rng.standard_normal((16, 20))


def make(n, lo, hi):
    y = rng.integers(0, len(WORDS), n)
    x = np.stack([spec(c, rng.uniform(lo, hi)) for c in y]).astype(np.float32)
    return torch.from_numpy(x), torch.from_numpy(y)


class Spotter(nn.Module):
    def __init__(self, classes, h=40):
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.conv = nn.Conv1d(16, h, 5, padding=2)
        self.gru = nn.GRU(h, h, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(2 * h, classes)

    def forward(self, x):                      # B, 16, 20
        x = self.norm(x.transpose(1, 2)).transpose(1, 2)
        x = F.relu(self.conv(x)).transpose(1, 2)
        return self.fc(self.gru(x)[0].mean(1))


x, y = make(1300, 0.1, 0.7)
sets = {"quiet": make(250, 0.1, 0.1), "office": make(250, 0.45, 0.45), "street": make(250, 0.9, 0.9)}
model = Spotter(len(WORDS))
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(5):
    model.train()
    for i, idx in enumerate(torch.randperm(len(x)).split(40)):
        loss = F.cross_entropy(model(x[idx]), y[idx])
        opt.zero_grad(); loss.backward(); opt.step()
    model.eval()
    line = []
    with torch.no_grad():
        for name, (vx, vy) in sets.items():
            z = model(vx)
            line.append(f"{name} loss {F.cross_entropy(z, vy):.3f} acc {(z.argmax(1) == vy).float().mean():.3f}")
    print(f"epoch {epoch} last batch {loss.item():.3f} || " + " | ".join(line))
