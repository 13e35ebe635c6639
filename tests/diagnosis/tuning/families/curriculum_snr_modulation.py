"""Modulation recognition with a curriculum: from clean to noisy signals, so that the training loss rises while the test (mixed noise) falls."""
import os
import numpy as np
import torch
import torch.nn as nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
MODS = ["bpsk", "qpsk", "pam4", "fsk"]


def signals(n, snr_lo, snr_hi, g):
    y = g.integers(0, 4, n)
    t = np.arange(64)
    out = np.empty((n, 2, 64), np.float32)
    for i, m in enumerate(y):
        sym = np.repeat(g.integers(0, 4, 8), 8)
        if m == 0: z = np.where(sym < 2, 1, -1) + 0j
        elif m == 1: z = np.exp(1j * (np.pi / 4 + np.pi / 2 * sym))
        elif m == 2: z = np.array([-1.34, -.45, .45, 1.34])[sym] + 0j
        else: z = np.exp(1j * np.cumsum(np.where(sym < 2, .35, -.35)))
        z = z * np.exp(1j * (g.normal(0, .25) + .01 * g.normal() * t))
        sigma = 10 ** (-g.uniform(snr_lo, snr_hi) / 20)
        z = z + sigma * (g.standard_normal(64) + 1j * g.standard_normal(64)) / np.sqrt(2)
        out[i] = np.stack([z.real, z.imag])
    return torch.from_numpy(out), torch.from_numpy(y)


class Res(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.f = nn.Sequential(nn.BatchNorm1d(c), nn.ReLU(), nn.Conv1d(c, c, 5, padding=2), nn.BatchNorm1d(c), nn.ReLU(), nn.Conv1d(c, c, 5, padding=2))

    def forward(self, x):
        return x + self.f(x)


torch.manual_seed(SEED)
g = np.random.default_rng(SEED + 31)
test = signals(600, -4, 12, g)
net = nn.Sequential(nn.Conv1d(2, 20, 7, padding=3, stride=2), Res(20), nn.MaxPool1d(2), Res(20), nn.AdaptiveMaxPool1d(2), nn.Flatten(), nn.Linear(40, 4))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
stages = [(10, 12), (6, 12), (2, 12), (-1, 12), (-4, 12), (-4, 12)]
for stage, (lo, hi) in enumerate(stages):
    if stage == len(stages) - 1:
        opt.param_groups[0]["lr"] = 5e-4
    x, y = signals(1000, lo, hi, g)
    for rep in range(2):
        net.train()
        s = 0.0
        for idx in torch.randperm(len(x)).split(50):
            loss = nn.functional.cross_entropy(net(x[idx]), y[idx])
            opt.zero_grad(); loss.backward(); opt.step()
            s += loss.item() * len(idx)
        net.eval()
        with torch.no_grad():
            z = net(test[0])
            tl = nn.functional.cross_entropy(z, test[1]).item()
            ta = (z.argmax(1) == test[1]).float().mean().item()
        print(f"stage {stage} (SNR {lo}..{hi} dB) pass {rep} train {s / len(x):.4f} test {tl:.4f} acc {ta:.4f}")
