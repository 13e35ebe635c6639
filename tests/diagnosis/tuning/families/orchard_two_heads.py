"""
Grading apples from a small depth + colour patch: variety (5 classes), weight in grams, ripe or not.
One trunk, three heads; the losses are weighted by learned uncertainties.
"""
import logging
import math
import os
import sys
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
torch.set_num_threads(1)
logger = logging.getLogger("orchard")
logger.addHandler(logging.StreamHandler(sys.stdout))
logger.setLevel(logging.INFO)

PX = 14
VARIETIES = 5


def photograph(n, seed):
    r = np.random.default_rng(seed)
    g = np.mgrid[0:PX, 0:PX].astype(np.float32) - (PX - 1) / 2
    variety = r.integers(0, VARIETIES, n)
    radius = r.uniform(3.2, 6.0, n)
    flat = np.array([1.0, 0.85, 1.15, 0.92, 1.06])[variety] + r.normal(0, 0.05, n)
    ripe_level = r.uniform(0, 1, n)
    base = np.array([[.75, .25], [.6, .5], [.45, .65], [.8, .35], [.55, .4]])[variety]
    stripes = np.array([0.0, 0.25, 0.0, 0.2, 0.35])[variety]
    off = r.uniform(-1.2, 1.2, (n, 2))
    y = g[0][None] - off[:, 0, None, None]
    x = g[1][None] - off[:, 1, None, None]
    q = (x ** 2 + (y * flat[:, None, None]) ** 2) / radius[:, None, None] ** 2
    inside = q < 1
    depth = np.sqrt(np.clip(1 - q, 0, 1)) * radius[:, None, None] / 6
    st = stripes[:, None, None] * np.sin(2.2 * x + r.uniform(0, 6, n)[:, None, None])
    red = (base[:, 0] * 0.6 + 0.5 * ripe_level)[:, None, None] + st
    green = (base[:, 1] + 0.3 * (1 - ripe_level))[:, None, None] - st
    light = r.uniform(0.7, 1.3, n)[:, None, None]
    img = np.stack([depth, red * inside * light, green * inside * light], 1)
    img += r.normal(0, 0.16, img.shape)
    weight = 2.0 * radius ** 3 / flat * 0.55 * np.exp(r.normal(0, 0.05, n)) + 20
    ripe = (ripe_level + r.normal(0, 0.12, n) > 0.55)
    return [torch.tensor(img, dtype=torch.float32), torch.tensor(variety),
            torch.tensor(weight, dtype=torch.float32), torch.tensor(ripe, dtype=torch.float32)]


class Trunk(nn.Module):
    def __init__(self, p_drop):
        super().__init__()
        self.c1 = nn.Conv2d(3, 16, 3, padding=1)
        self.c2 = nn.Conv2d(16, 24, 3, padding=1)
        depth = 2 if CASE != 4 else 10
        act = nn.ReLU if CASE != 4 else nn.Sigmoid
        layers, width = [], 24 * 9
        for _ in range(depth):
            layers += [nn.Linear(width, 64), act(), nn.Dropout(p_drop)]
            width = 64
        self.dense = nn.Sequential(*layers)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.c1(x)), 2)
        x = F.adaptive_max_pool2d(F.relu(self.c2(x)), 3)
        return self.dense(x.flatten(1))


class Grader(nn.Module):
    def __init__(self, p_drop):
        super().__init__()
        self.trunk = Trunk(p_drop)
        self.variety = nn.Linear(64, VARIETIES)
        self.weight = nn.Linear(64, 1)
        self.ripe = nn.Linear(64, 1)
        self.log_var = nn.Parameter(torch.zeros(3))

    def forward(self, x):
        h = self.trunk(x)
        return self.variety(h), self.weight(h).squeeze(1), self.ripe(h).squeeze(1)


def ripe_loss(z, t):
    ll = t * F.logsigmoid(z) + (1 - t) * F.logsigmoid(-z)
    return ll.mean() if CASE == 3 else -ll.mean()


class Trainer:
    def __init__(self):
        self.train_data = photograph(2400, 300 + SEED)
        self.val_data = photograph(800, 800 + SEED)
        w = self.train_data[2]
        self.w_mean, self.w_std = (w.mean(), w.std()) if CASE != 1 else (torch.tensor(0.0), torch.tensor(1.0))
        self.model = Grader({5: 0.85}.get(CASE, 0.1))
        self.loader = DataLoader(TensorDataset(*self.train_data), 48, shuffle=True, drop_last=True)
        self.optimizers = self.make_optimizers()
        self.step = 0

    def make_optimizers(self):
        m = self.model
        if CASE == 2:
            heads = [m.variety, m.weight, m.ripe]
            return [torch.optim.Adam([p for h in heads for p in h.parameters()] + [m.log_var], lr=2e-3)]
        if CASE == 6:
            heads = [p for n, p in m.named_parameters() if not n.startswith("trunk")]
            return [torch.optim.AdamW(m.trunk.parameters(), lr=2e-3, weight_decay=0.02), torch.optim.SGD(heads, lr=0.03, momentum=0.9)]
        return [torch.optim.Adam(m.parameters(), lr=2e-3)]

    def losses(self, batch):
        x, v, w, r = batch
        lv, pw, zr = self.model(x)
        return [F.cross_entropy(lv, v), F.mse_loss(pw, (w - self.w_mean) / self.w_std), ripe_loss(zr, r)]

    def combine(self, parts):
        if CASE == 6:
            return parts[0] + 0.3 * parts[1] + parts[2]
        s = self.model.log_var
        return sum(torch.exp(-s[i]) * p + 0.5 * s[i] for i, p in enumerate(parts))

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        x, v, w, r = self.val_data
        lv, pw, zr = self.model(x)
        grams = pw * self.w_std + self.w_mean
        mae = (grams - w).abs().mean().item()
        acc = (lv.argmax(1) == v).float().mean().item()
        ripe = ((zr > 0).float() == r).float().mean().item()
        self.model.train()
        return acc, mae, ripe

    def fit(self, epochs, folder):
        best = math.inf
        for epoch in range(1, epochs + 1):
            for batch in self.loader:
                parts = self.losses(batch)
                loss = self.combine(parts)
                for o in self.optimizers:
                    o.zero_grad()
                loss.backward()
                for o in self.optimizers:
                    o.step()
                self.step += 1
                if self.step % 40 == 0:
                    logger.info("step %d total %.4f variety %.4f weight %.4f ripe %.4f", self.step, loss.item(),
                                *[p.item() for p in parts])
            acc, mae, ripe = self.validate()
            logger.info("epoch %d validation: variety acc %.3f, weight MAE %.1f g, ripe acc %.3f", epoch, acc, mae, ripe)
            score = mae / 50 - acc - ripe
            if score < best:
                best = score
                torch.save(self.model.state_dict(), os.path.join(folder, "best.pt"))
        self.model.load_state_dict(torch.load(os.path.join(folder, "best.pt")))
        logger.info("best checkpoint: variety acc %.3f, weight MAE %.1f g, ripe acc %.3f", *self.validate())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        Trainer().fit(10, folder)
