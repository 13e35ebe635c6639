import math
import os

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)
np.random.seed(SEED)

DIM = 4


def make_data(n):
    theta = np.random.rand(n) * math.pi
    half = np.random.rand(n) < 0.5
    x = np.where(half, np.cos(theta), 1 - np.cos(theta)) + 0.07 * np.random.randn(n)
    y = np.where(half, np.sin(theta), 0.5 - np.sin(theta)) + 0.07 * np.random.randn(n)
    if CASE == 4:
        u = np.sin(2 * x) + 0.15 * np.random.standard_t(2.5, size=n)
    else:
        u = np.sin(2 * x) + 0.15 * np.random.randn(n)
    v = x * y + 0.1 * np.random.randn(n)
    data = np.stack([x, y, u, v], 1)
    if CASE == 1:
        data = 0.02 * data
    else:
        data = 3.0 * data + np.array([4.0, -2.0, 1.0, 5.0])
    return data.astype(np.float32)


class ActNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.log_scale = nn.Parameter(torch.zeros(dim))
        self.shift = nn.Parameter(torch.zeros(dim))

    @torch.no_grad()
    def init_from(self, x):
        self.shift.copy_(-x.mean(0))
        self.log_scale.copy_(-x.std(0).log())

    def forward(self, x):
        z = (x + self.shift) * self.log_scale.exp()
        return z, self.log_scale.sum().expand(x.shape[0])


class Coupling(nn.Module):
    def __init__(self, dim, hidden, mask):
        super().__init__()
        self.register_buffer("mask", mask)
        self.net = nn.Sequential(
            nn.Linear(dim, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, 2 * dim),
        )
        if CASE == 3:
            nn.init.zeros_(self.net[-1].weight)
            nn.init.zeros_(self.net[-1].bias)
        if CASE == 8:
            for layer in self.net:
                if isinstance(layer, nn.Linear):
                    nn.init.normal_(layer.weight, 0.0, 0.5)

    def forward(self, x):
        kept = x * self.mask
        s, t = self.net(kept).chunk(2, dim=1)
        if CASE != 8:
            s = 2.0 * torch.tanh(s / 2.0)
        s = s * (1 - self.mask)
        t = t * (1 - self.mask)
        z = kept + (1 - self.mask) * (x * torch.exp(s) + t)
        return z, s.sum(1)


class Flow(nn.Module):
    def __init__(self, dim, n_layers=6, hidden=48):
        super().__init__()
        masks = []
        for i in range(n_layers):
            m = torch.zeros(dim)
            if CASE == 9:
                m[0::2] = 1
            else:
                m[i % 2::2] = 1
            masks.append(m)
        self.actnorm = ActNorm(dim)
        layers = [Coupling(dim, hidden, m) for m in masks]
        if CASE == 5:
            self.layers = layers
        else:
            self.layers = nn.ModuleList(layers)

    def forward(self, x):
        z, log_det = self.actnorm(x)
        for layer in self.layers:
            z, ld = layer(z)
            log_det = log_det + ld
        return z, log_det

    def log_prob(self, x):
        z, log_det = self(x)
        log_pz = (-0.5 * z ** 2 - 0.5 * math.log(2 * math.pi)).sum(1)
        return log_pz, log_det


train = torch.from_numpy(make_data(6000))
test = torch.from_numpy(make_data(1500))
if CASE == 10:
    mean, std = train.mean(0), train.std(0)
    train = (train - mean) / std

flow = Flow(DIM)
if CASE != 10:
    flow.actnorm.init_from(train[:512])
opt = torch.optim.Adam(flow.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 390)
loader = DataLoader(TensorDataset(train), batch_size=200, shuffle=True)


@torch.no_grad()
def evaluate():
    log_pz, log_det = flow.log_prob(test)
    return -(log_pz + log_det).mean().item()


step = 0
for epoch in range(13):
    flow.train()
    total = 0.0
    for (x,) in loader:
        log_pz, log_det = flow.log_prob(x)
        if CASE == 6:
            loss = -(log_pz + log_det.sum()).mean()
        elif CASE == 7:
            loss = -(log_pz - log_det).mean()
        else:
            loss = -(log_pz + log_det).mean()
        opt.zero_grad()
        loss.backward()
        if CASE == 2:
            nn.utils.clip_grad_norm_(flow.parameters(), 0.3)
        elif CASE == 4:
            nn.utils.clip_grad_norm_(flow.parameters(), 5.0)
        opt.step()
        sched.step()
        total += loss.item()
        step += 1
    if epoch % 3 == 0:
        flow.eval()
        print(f"epoch {epoch + 1} train loss {total / len(loader):.3f} test nll {evaluate():.3f}")
print("final test nll", round(evaluate(), 4))
