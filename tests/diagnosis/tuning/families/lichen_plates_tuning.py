import logging
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("lichen")


@dataclass
class Config:
    size: int = 24
    pre_classes: int = 8
    classes: int = 5
    pre_images: int = 1280
    images: int = 160
    test_images: int = 500
    pre_epochs: int = 6
    epochs: int = 15
    batch: int = 16
    head_lr: float = 3e-3
    body_lr: float = 3e-4
    seed: int = SEED


def plate(rng, family, kind, size):
    """one grey photograph, uint8"""
    yy, xx = np.mgrid[0:size, 0:size] / size
    ph = rng.uniform(0, 2 * np.pi, 3)
    if family == "stone":
        ang = np.pi * (kind % 4) / 4 + rng.normal(0, 0.12)
        freq = (3.0, 5.5)[kind // 4] * rng.uniform(0.9, 1.1)
        img = np.sin(2 * np.pi * freq * (np.cos(ang) * xx + np.sin(ang) * yy) + ph[0])
    else:
        a1, a2, f1, f2 = [(0.2, 0.9, 3.2, 5.0), (0.9, 1.7, 3.2, 5.0), (1.7, 2.5, 5.0, 3.2),
                          (0.2, 2.5, 5.0, 5.0), (0.9, 2.5, 3.2, 3.2)][kind]
        a1, a2 = a1 + rng.normal(0, 0.2), a2 + rng.normal(0, 0.2)
        g1 = np.sin(2 * np.pi * f1 * (np.cos(a1) * xx + np.sin(a1) * yy) + ph[0])
        g2 = np.sin(2 * np.pi * f2 * (np.cos(a2) * xx + np.sin(a2) * yy) + ph[1])
        img = g1 * rng.uniform(0.5, 1) + g2 * rng.uniform(0.5, 1)
    img = rng.uniform(28, 48) * img + rng.uniform(95, 160) + rng.normal(0, 62, (size, size))
    return np.clip(img, 0, 255).astype(np.uint8)


class Plates(Dataset):
    def __init__(self, cfg, family, n, n_classes, seed, transform):
        rng = np.random.default_rng(seed)
        self.labels = np.sort(np.arange(n) % n_classes)
        self.images = np.stack([plate(rng, family, k, cfg.size) for k in self.labels])
        self.transform = transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.transform(self.images[i]), int(self.labels[i])


def to_tensor(img):
    return torch.from_numpy(img.astype(np.float32) / 255.0)[None]


def normalise(img):
    return (to_tensor(img) - 0.5) / 0.2


def augment(img):
    if np.random.rand() < 0.5:
        img = np.roll(img, np.random.randint(-4, 5), axis=np.random.randint(2))
    return normalise(img)


def stage(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU())


class Net(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.body = nn.Sequential(stage(1, 16), stage(16, 32), stage(32, 64))
        self.head = nn.Linear(64, n_out)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.loss = nn.CrossEntropyLoss()
        self.step = 0

    def accuracy(self, net, loader):
        if CASE != 3:
            net.eval()
        good = total = 0
        with torch.no_grad():
            for x, y in loader:
                good += (net(x).argmax(1) == y).sum().item()
                total += len(y)
        net.train()
        return good / total

    def fit(self, net, opt, train, test, epochs, name):
        net.train()
        for epoch in range(epochs):
            losses = []
            for x, y in train:
                opt.zero_grad()
                loss = self.loss(net(x), y)
                loss.backward()
                opt.step()
                self.step += 1
                losses.append(loss.item())
            log.info("%s epoch %d step %d loss %.3f accuracy %.3f", name, epoch, self.step,
                     np.mean(losses), self.accuracy(net, test))


def pretrain(cfg, trainer, path):
    torch.manual_seed(cfg.seed)
    net = Net(cfg.pre_classes)
    train = DataLoader(Plates(cfg, "stone", cfg.pre_images, cfg.pre_classes, 11 + cfg.seed, normalise), 64, shuffle=True)
    test = DataLoader(Plates(cfg, "stone", 400, cfg.pre_classes, 12 + cfg.seed, normalise), 100)
    trainer.fit(net, torch.optim.Adam(net.parameters(), lr=3e-3), train, test, cfg.pre_epochs, "stone")
    state = net.state_dict()
    if CASE == 1:
        state = nn.DataParallel(net).state_dict()
    torch.save({"model": state, "step": trainer.step}, path)


def load_body(net, path):
    saved = torch.load(path)["model"]
    saved = {k: v for k, v in saved.items() if "head" not in k}
    net.load_state_dict(saved, strict=False)
    log.info("weights read from %s", path.name)


def optimizer_for(net, cfg):
    body_lr, head_lr = cfg.body_lr, cfg.head_lr
    groups = [{"params": net.head.parameters(), "lr": head_lr}]
    for depth, part in enumerate(net.body):
        rate = body_lr * 0.5 ** (len(net.body) - 1 - depth)
        if CASE == 4:
            rate = head_lr * 3.0 ** (len(net.body) - depth)
        groups.append({"params": part.parameters(), "lr": rate})
    return torch.optim.AdamW(groups, weight_decay=1e-3)


def finetune(cfg, trainer, path):
    torch.manual_seed(cfg.seed + 1)
    np.random.seed(cfg.seed + 1)
    plain = to_tensor if CASE == 5 else normalise
    train = DataLoader(Plates(cfg, "lichen", cfg.images, cfg.classes, 21 + cfg.seed, augment), cfg.batch, shuffle=True)
    test = DataLoader(Plates(cfg, "lichen", cfg.test_images, cfg.classes, 22 + cfg.seed, plain), 100)
    net = Net(cfg.pre_classes)
    load_body(net, path)
    if CASE == 2:
        opt = optimizer_for(net, cfg)
        net.head = nn.Linear(64, cfg.classes)
    else:
        net.head = nn.Linear(64, cfg.classes)
        opt = optimizer_for(net, cfg)
    trainer.fit(net, opt, train, test, cfg.epochs, "lichen")


def probe(cfg, trainer, path):
    """body stays as it is; five folds of a linear layer on its outputs"""
    net = Net(cfg.pre_classes)
    load_body(net, path)
    net.body.requires_grad_(False).eval()
    data = Plates(cfg, "lichen", 2 * cfg.images, cfg.classes, 21 + cfg.seed, normalise)
    with torch.no_grad():
        feats = torch.cat([net.body(x).mean((2, 3)) for x, _ in DataLoader(data, 128)])
    y = torch.from_numpy(data.labels)
    fold = torch.from_numpy(np.random.default_rng(cfg.seed).permutation(len(y)) % 5)
    crit = nn.CrossEntropyLoss(label_smoothing=0.1)
    scores = []
    for k in range(5):
        inside, outside = fold != k, fold == k
        mean, std = feats[inside].mean(0), feats[inside].std(0) + 1e-4
        xs = (feats - mean) / std
        head = nn.Linear(64, cfg.classes)
        opt = torch.optim.SGD(head.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-3)
        for it in range(150):
            pick = torch.multinomial(inside.float(), 64)
            loss = crit(head(xs[pick]), y[pick])
            opt.zero_grad()
            loss.backward()
            opt.step()
            trainer.step += 1
        acc = (head(xs[outside]).argmax(1) == y[outside]).float().mean().item()
        scores.append(acc)
        log.info("fold %d loss %.3f accuracy %.3f", k, loss.item(), acc)
    log.info("mean accuracy %.3f +- %.3f", np.mean(scores), np.std(scores))


def main():
    cfg = Config()
    trainer = Trainer(cfg)
    with tempfile.TemporaryDirectory() as tmp:
        path = Path(tmp) / "stone.pt"
        pretrain(cfg, trainer, path)
        (probe if CASE == 6 else finetune)(cfg, trainer, path)


if __name__ == "__main__":
    main()
