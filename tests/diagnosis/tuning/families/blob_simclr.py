import os
from dataclasses import dataclass
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)


@dataclass
class Config:
    case: int = int(os.environ.get("CASE", 0))
    seed: int = int(os.environ.get("SEED", 0))
    steps: int = 360
    batch: int = 64
    temperature: float = 0.2
    lr: float = 2e-3
    decay: float = 1e-5


class Pictures:
    """16x16 pictures of five kinds of objects in random colours and places"""

    def __init__(self, n, seed):
        r = np.random.RandomState(seed)
        self.y = torch.tensor(r.randint(0, 5, n))
        x = np.zeros((n, 3, 16, 16), dtype=np.float32)
        yy, xx = np.mgrid[0:16, 0:16]
        for i, k in enumerate(self.y.tolist()):
            cy, cx, s = r.randint(6, 10), r.randint(6, 10), r.randint(4, 6)
            dy, dx = yy - cy, xx - cx
            m = [abs(dy) + abs(dx) <= s, (abs(dx) <= 1) | (abs(dy) <= 1), np.maximum(abs(dx), abs(dy)) == s, (yy % 4 < 2), ((yy + xx) % 6 < 3)][k]
            back, front = 0.4 * r.rand(3)[:, None, None], 0.3 + 0.7 * r.rand(3)[:, None, None]
            x[i] = back + (front - back) * m + 0.12 * r.randn(3, 16, 16)
        self.x = torch.from_numpy(x)


class Encoder(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.Conv2d(32, 64, 3, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(256, 64), nn.ReLU())
        self.proj = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, dim))

    def forward(self, x):
        return self.proj(self.net(x))


class ContrastiveTrainer:
    def __init__(self, cfg):
        self.cfg = cfg
        torch.manual_seed(cfg.seed)
        self.train_set, self.test_set = Pictures(1200, cfg.seed + 1), Pictures(400, cfg.seed + 2)
        self.model = Encoder()
        if cfg.case in (2, 9, 11):
            self.opt = torch.optim.SGD(self.model.parameters(), lr=cfg.lr, momentum=0.9, weight_decay=cfg.decay)
        else:
            self.opt = torch.optim.AdamW(self.model.parameters(), lr=cfg.lr, weight_decay=cfg.decay)

    def augment(self, x):
        n = len(x)
        if self.cfg.case == 8:
            torch.manual_seed(99)
        gain = 0.3 + 1.2 * torch.rand(n, 3, 1, 1)
        out = x * gain + 0.3 * torch.randn(n, 3, 1, 1)
        out = torch.stack([torch.roll(p, (int(a), int(b)), (1, 2)) for p, a, b in zip(out, torch.randint(-2, 3, (n,)), torch.randint(-2, 3, (n,)))])
        flip = torch.rand(n) < 0.5
        out[flip] = out[flip].flip(3)
        return out + 0.15 * torch.randn_like(out)

    def loss(self, a, b):
        n = len(a)
        z = torch.cat([a, b])
        if self.cfg.case == 5:
            z = z / z.norm()
        else:
            z = F.normalize(z, dim=1)
        if self.cfg.case == 7:
            return (1 - (z[:n] * z[n:]).sum(1)).mean()
        sim = z @ z.t() / self.cfg.temperature
        sim.fill_diagonal_(-1e9)
        idx = torch.arange(2 * n)
        pos = idx ^ 1 if self.cfg.case == 6 else (idx + n) % (2 * n)
        return F.cross_entropy(sim, pos)

    def knn(self):
        self.model.eval()
        with torch.no_grad():
            bank = F.normalize(self.model.net(self.train_set.x), dim=1)
            q = F.normalize(self.model.net(self.test_set.x), dim=1)
            near = (q @ bank.t()).topk(7, 1).indices
            votes = F.one_hot(self.train_set.y[near], 5).sum(1).argmax(1)
            spread = F.normalize(self.model(self.test_set.x), dim=1).std(0).mean().item()
        self.model.train()
        return (votes == self.test_set.y).float().mean().item(), spread

    def fit(self):
        gen = torch.Generator().manual_seed(self.cfg.seed)
        for step in range(self.cfg.steps):
            j = torch.randint(0, len(self.train_set.x), (self.cfg.batch,), generator=gen)
            x = self.train_set.x[j]
            a, b = self.augment(x), self.augment(x)
            loss = self.loss(self.model(a), self.model(b))
            self.opt.zero_grad()
            loss.backward()
            if self.cfg.case == 1:
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.opt.step()
            if step % 40 == 0 or step == self.cfg.steps - 1:
                acc, spread = self.knn()
                print("step %3d  ntxent %.4f  knn acc %.3f  embedding std %.4f" % (step, loss.item(), acc, spread))


cfg = Config()
if cfg.case == 2:
    cfg.lr = 0.1
if cfg.case == 3:
    cfg.batch, cfg.steps = 24, 900
if cfg.case == 4:
    cfg.temperature, cfg.lr = 0.5, 5e-4
if cfg.case == 10:
    cfg.lr = 2.0
if cfg.case == 9:
    cfg.lr = 2e-5
if cfg.case == 11:
    cfg.lr, cfg.decay = 0.1, 0.5
ContrastiveTrainer(cfg).fit()
