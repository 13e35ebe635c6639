"""Mean droplet diameter (micrometres) from small shadowgraph images of a spray nozzle."""
import os
from dataclasses import dataclass, field
from typing import List
import numpy as np
import torch
from torch import nn
from torch.utils.data import TensorDataset, DataLoader

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))


@dataclass
class Config:
    n_train: int = 960
    n_val: int = 300
    size: int = 24
    batch_size: int = 32
    epochs: int = 7
    lr: float = 2e-3
    bn_momentum: float = 0.001 if CASE == 4 else 0.1
    widths: List[int] = field(default_factory=lambda: [8, 16, 24])


def shadowgraph(rng, size):
    y, x = np.mgrid[0:size, 0:size]
    img = 190 + rng.normal(0, 6) + rng.normal(0, 3) * (x - size / 2) / size * 4
    n = rng.integers(1, 6)
    scale = rng.uniform(1.2, 3.6)
    radii = []
    for _ in range(n):
        rad = np.clip(scale * rng.lognormal(0, 0.25), 0.8, 6)
        cy, cx = rng.uniform(2, size - 2, 2)
        blur = rng.uniform(0.5, 1.4)
        d = np.hypot(y - cy, x - cx)
        img = img - rng.uniform(70, 120) / (1 + np.exp((d - rad) / (0.5 * blur)))
        radii.append(rad)
    img = img + rng.normal(0, 14, img.shape)
    return np.clip(img, 0, 254).astype(np.uint8), 2 * np.mean(radii) * 9.0


def dataset(n, size, seed):
    rng = np.random.default_rng(seed)
    pairs = [shadowgraph(rng, size) for _ in range(n)]
    return np.stack([p[0] for p in pairs]), np.array([p[1] for p in pairs], dtype=np.float32)


def to_tensor(images):
    if CASE == 2:
        images = images // 255
    else:
        images = images / 255
    return torch.tensor(images, dtype=torch.float32)[:, None]


class DropletNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        layers, c = [], 1
        for w in cfg.widths:
            layers += [nn.Conv2d(c, w, 3, padding=1), nn.BatchNorm2d(w, momentum=cfg.bn_momentum),
                       nn.ReLU(), nn.MaxPool2d(2)]
            c = w
        self.features = nn.Sequential(*layers)
        head = [nn.Flatten(), nn.Linear(c * 9, 64), nn.ReLU(), nn.Linear(64, 1)]
        if CASE == 3:
            head.append(nn.Sigmoid())
        self.head = nn.Sequential(*head)

    def forward(self, x):
        return self.head(self.features(x))


class UncertainNet(nn.Module):
    """fixed blur/edge filters first, then a small trained net with two outputs: mean and log variance"""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 8, 5, padding=2, bias=False)
        g = torch.linspace(-2, 2, 5)
        yy, xx = g[:, None].expand(5, 5), g[None].expand(5, 5)
        bank = []
        for s in (0.6, 1.2):
            k = torch.exp(-(yy ** 2 + xx ** 2) / (2 * s * s))
            bank += [k / k.sum(), yy * k / k.sum(), xx * k / k.sum(), (yy ** 2 + xx ** 2 - 2 * s * s) * k / k.sum()]
        self.stem.weight.data = torch.stack(bank)[:, None]
        self.stem.requires_grad_(False)
        self.net = nn.Sequential(
            nn.GroupNorm(4, 8), nn.Conv2d(8, 24, 3, stride=2, padding=1), nn.SiLU(),
            nn.Conv2d(24, 32, 3, stride=2, padding=1), nn.SiLU(),
            nn.Conv2d(32, 32, 3, stride=2, padding=1), nn.SiLU(),
            nn.Flatten(), nn.Dropout(0.1), nn.Linear(32 * 9, 48), nn.SiLU(), nn.Linear(48, 2))

    def forward(self, x):
        mu, logvar = self.net(self.stem(x)).chunk(2, dim=1)
        return mu, logvar.clamp(-5, 3)


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        torch.manual_seed(SEED)
        tr, va = dataset(cfg.n_train, cfg.size, SEED + 11), dataset(cfg.n_val, cfg.size, SEED + 12)
        self.mean, self.std = tr[1].mean(), tr[1].std()
        y = torch.tensor((tr[1] - self.mean) / self.std)
        if CASE != 1:
            y = y.unsqueeze(1)
        self.loader = DataLoader(TensorDataset(to_tensor(tr[0]), y), cfg.batch_size, shuffle=True)
        self.xv, self.yv = to_tensor(va[0]), va[1]
        self.uncertain = CASE == 5
        self.model = UncertainNet() if self.uncertain else DropletNet(cfg)
        params = [p for p in self.model.parameters() if p.requires_grad]
        self.opt = torch.optim.Adam(params, lr=cfg.lr)
        self.sched = torch.optim.lr_scheduler.StepLR(self.opt, 5, gamma=0.3)

    def loss(self, x, y):
        if self.uncertain:
            k = np.random.randint(4)
            mu, logvar = self.model(torch.rot90(x, k, (2, 3)))
            return 0.5 * (logvar + (y - mu) ** 2 * torch.exp(-logvar)).mean()
        return ((self.model(x) - y) ** 2).mean()

    def validate(self):
        self.model.eval()
        with torch.no_grad():
            out = self.model(self.xv)
            pred = (out[0] if self.uncertain else out).squeeze(1).numpy() * self.std + self.mean
        self.model.train()
        err = pred - self.yv
        return np.abs(err).mean(), 1 - (err ** 2).mean() / self.yv.var()

    def fit(self):
        print(f"target: mean {self.mean:.1f} um, std {self.std:.1f} um")
        step = 0
        for epoch in range(self.cfg.epochs + (3 if self.uncertain else 0)):
            for x, y in self.loader:
                loss = self.loss(x, y)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                step += 1
                if step % 25 == 0:
                    print(f"  step {step} loss {loss.item():.4f}")
            self.sched.step()
            mae, r2 = self.validate()
            print(f"epoch {epoch + 1} val MAE {mae:.2f} um, R2 {r2:.3f}")


if __name__ == "__main__":
    np.random.seed(SEED)
    Trainer(Config()).fit()
