import copy
import io
import os
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))


@dataclass
class Config:
    width: int = 12
    blocks: int = 2
    classes: int = 6
    size: int = 16
    n_train: int = 1280
    n_val: int = 384
    epochs: int = 5
    batch_size: int = 32
    optimizer: str = "sgd"
    lr: float = 0.05
    weight_decay: float = 5e-4
    schedule: str = "cosine"
    norm: str = "batch"
    noise: float = 0.5
    label_smoothing: float = 0.0
    limit: float = 0.0
    freeze_bn_from: int = 1000
    neck: bool = False
    backbone_lr: float = 1.0
    average: float = 0.0


def textures(n, cfg, rng):
    """Gratings of several orientations and frequencies, checkerboards and blobs."""
    s = cfg.size
    yy, xx = np.mgrid[0:s, 0:s].astype(np.float32)
    labels = rng.randint(0, cfg.classes, size=n)
    images = np.empty((n, 3, s, s), dtype=np.float32)
    for i, k in enumerate(labels):
        phase = rng.uniform(0, 2 * np.pi, size=2)
        f = rng.uniform(0.9, 1.2)
        if k == 0:
            t = np.sin(f * xx + phase[0])
        elif k == 1:
            t = np.sin(f * yy + phase[0])
        elif k == 2:
            t = np.sin(f * 0.7 * (xx + yy) + phase[0])
        elif k == 3:
            t = np.sin(f * 0.7 * (xx - yy) + phase[0])
        elif k == 4:
            t = np.sign(np.sin(f * xx + phase[0]) * np.sin(f * yy + phase[1]))
        else:
            t = 1.4 * np.sin(f * xx + phase[0]) * np.cos(0.4 * f * yy + phase[1])
        colour = rng.uniform(0.4, 1.0, size=(3, 1, 1))
        images[i] = colour * t + cfg.noise * rng.normal(size=(3, s, s)) + rng.uniform(-0.3, 0.3, size=(3, 1, 1))
    return torch.from_numpy(images), torch.from_numpy(labels).long()


def norm_layer(cfg, channels):
    if cfg.norm == "group":
        return nn.GroupNorm(4, channels)
    return nn.BatchNorm2d(channels)


class Block(nn.Module):
    def __init__(self, cfg, cin, cout, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = norm_layer(cfg, cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = norm_layer(cfg, cout)
        self.skip = nn.Identity()
        if stride != 1 or cin != cout:
            self.skip = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), norm_layer(cfg, cout))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return F.relu(y + self.skip(x))


class ResNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        w = cfg.width
        self.stem = nn.Sequential(nn.Conv2d(3, w, 3, 1, 1, bias=False), norm_layer(cfg, w), nn.ReLU())
        layers, cin = [], w
        for b in range(cfg.blocks):
            cout = w * 2 ** b
            layers.append(Block(cfg, cin, cout, 2))
            cin = cout
        self.layers = nn.Sequential(*layers)
        self.neck = nn.Identity()
        if cfg.neck:
            self.neck = nn.Sequential(nn.Linear(cin, 32, bias=False), nn.BatchNorm1d(32), nn.ReLU())
            cin = 32
        self.fc = nn.Linear(cin, cfg.classes)

    def forward(self, x):
        x = self.layers(self.stem(x))
        return self.fc(self.neck(x.mean((2, 3))))


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        rng = np.random.RandomState(SEED)
        self.train_x, self.train_y = textures(cfg.n_train, cfg, rng)
        self.val_x, self.val_y = textures(cfg.n_val, cfg, rng)
        if CASE == 7:
            order = torch.argsort(self.val_y)
            self.val_x, self.val_y = self.val_x[order], self.val_y[order]
        torch.manual_seed(SEED)
        self.model = ResNet(cfg)
        self.steps = cfg.epochs * (cfg.n_train // cfg.batch_size)
        body = [p for n, p in self.model.named_parameters() if not n.startswith("fc")]
        groups = [{"params": body, "lr": cfg.lr * cfg.backbone_lr}, {"params": self.model.fc.parameters()}]
        if cfg.optimizer == "sgd":
            self.opt = torch.optim.SGD(groups, lr=cfg.lr, momentum=0.9, weight_decay=cfg.weight_decay)
        elif cfg.optimizer == "adamw":
            self.opt = torch.optim.AdamW(groups, lr=cfg.lr, weight_decay=cfg.weight_decay)
        self.sched = self.make_schedule()
        self.shadow = copy.deepcopy(self.model) if cfg.average else None
        self.best = (-1.0, None)

    def make_schedule(self):
        cfg = self.cfg
        if cfg.schedule == "cosine":
            return torch.optim.lr_scheduler.CosineAnnealingLR(self.opt, self.steps)
        if cfg.schedule == "onecycle":
            return torch.optim.lr_scheduler.OneCycleLR(self.opt, [cfg.lr * cfg.backbone_lr, cfg.lr],
                                                       total_steps=self.steps, pct_start=0.4)
        if cfg.schedule == "exponential":
            return torch.optim.lr_scheduler.ExponentialLR(self.opt, 0.8)
        return torch.optim.lr_scheduler.LambdaLR(self.opt, lambda s: 1.0)

    def train_mode(self, epoch):
        self.model.train()
        if epoch >= self.cfg.freeze_bn_from:
            for m in self.model.modules():
                if isinstance(m, nn.BatchNorm2d):
                    m.eval()

    def train_epoch(self, epoch):
        cfg = self.cfg
        if CASE != 6:
            self.train_mode(epoch)
        else:
            self.model.eval()
        perm = torch.randperm(cfg.n_train)
        total = 0.0
        n = cfg.n_train // cfg.batch_size
        for i in range(n):
            idx = perm[i * cfg.batch_size:(i + 1) * cfg.batch_size]
            loss = F.cross_entropy(self.model(self.train_x[idx]), self.train_y[idx],
                                   label_smoothing=cfg.label_smoothing)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.sched.step()
            total += loss.item()
            with torch.no_grad():
                if self.shadow is not None:
                    for a, b in zip(self.shadow.parameters(), self.model.parameters()):
                        a.lerp_(b, cfg.average)
                    for a, b in zip(self.shadow.buffers(), self.model.buffers()):
                        a.copy_(b)
                if cfg.limit:
                    for p in self.model.parameters():
                        p.clamp_(-cfg.limit, cfg.limit)
        return total / n

    def evaluate(self):
        model = self.shadow if self.shadow is not None else self.model
        if CASE != 7:
            model.eval()
        correct, loss = 0, 0.0
        with torch.no_grad():
            for x, y in zip(self.val_x.split(64), self.val_y.split(64)):
                out = model(x)
                correct += (out.argmax(1) == y).sum().item()
                loss += F.cross_entropy(out, y, reduction="sum").item()
        return loss / len(self.val_y), correct / len(self.val_y)

    def save(self):
        buf = io.BytesIO()
        if CASE == 10:
            torch.save({k: v for k, v in self.model.named_parameters()}, buf)
        else:
            torch.save(self.model.state_dict(), buf)
        return buf

    def fit(self):
        for epoch in range(self.cfg.epochs):
            train_loss = self.train_epoch(epoch)
            val_loss, acc = self.evaluate()
            if acc > self.best[0]:
                self.best = (acc, self.save())
            print("epoch %d train %.3f val %.3f acc %.3f lr %.2g"
                  % (epoch, train_loss, val_loss, acc, self.opt.param_groups[0]["lr"]))
        if CASE in (0, 10):
            self.best[1].seek(0)
            restored = ResNet(self.cfg)
            restored.load_state_dict(torch.load(self.best[1]), strict=CASE == 0)
            self.model = restored
            val_loss, acc = self.evaluate()
            print("best checkpoint: val %.3f acc %.3f" % (val_loss, acc))


CONFIGS = {
    0: Config(),
    1: Config(norm="group", optimizer="adamw", lr=3e-3, weight_decay=0.05, schedule="onecycle", epochs=6),
    2: Config(noise=1.8, neck=True, epochs=7, label_smoothing=0.1, width=16),
    3: Config(average=0.03, schedule="constant", lr=0.02, batch_size=16, epochs=5),
    4: Config(freeze_bn_from=3, optimizer="adamw", lr=2e-3, weight_decay=1e-4, backbone_lr=0.5, noise=0.8),
    5: Config(batch_size=2, n_train=1200, epochs=2, lr=0.02, neck=True, noise=0.8),
    6: Config(lr=0.1, schedule="constant", blocks=3, width=12),
    7: Config(),
    8: Config(schedule="exponential"),
    9: Config(limit=0.03),
    10: Config(),
}

if __name__ == "__main__":
    torch.manual_seed(SEED)
    Trainer(CONFIGS[CASE]).fit()
