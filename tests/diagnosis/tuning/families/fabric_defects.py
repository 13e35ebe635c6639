"""Defect classification on woven fabric crops (20x20 RGB)."""
import os
import copy
import math
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader, WeightedRandomSampler

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

CLASSES = ["ok", "hole", "stain", "missing_warp", "missing_weft", "crease"]
SIZE = 20


def draw_crop(rng, label):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32)
    fx, fy = rng.uniform(1.6, 2.6), rng.uniform(1.6, 2.6)
    weave = 0.5 + 0.12 * np.sin(fx * xx + rng.uniform(0, 6)) + 0.12 * np.sin(fy * yy + rng.uniform(0, 6))
    base = rng.uniform(0.35, 0.85, size=3)
    img = weave[..., None] * base[None, None, :] * 1.5
    amp = rng.uniform(0.16, 0.42)
    cx, cy = rng.uniform(5, SIZE - 5, size=2)
    name = CLASSES[label]
    if name == "hole":
        r = rng.uniform(1.2, 2.6)
        m = ((xx - cx) ** 2 + (yy - cy) ** 2 < r * r)
        img[m] *= (1 - 2.2 * amp)
    elif name == "stain":
        s = rng.uniform(3.0, 5.5)
        m = np.exp(-((xx - cx) ** 2 + 1.4 * (yy - cy) ** 2) / (2 * s * s))
        tint = np.array([0.3, 1.0, 1.3]) if rng.random() < 0.5 else np.array([1.0, 1.0, 0.2])
        img -= amp * 0.8 * m[..., None] * tint
    elif name == "missing_warp":
        m = np.abs(xx - cx) < 0.8
        img[m] += 0.8 * amp
    elif name == "missing_weft":
        m = np.abs(yy - cy) < 0.8
        img[m] += 0.8 * amp
    elif name == "crease":
        a = rng.uniform(0.25, 1.25) * (1 if rng.random() < 0.5 else -1)
        d = (yy - cy) - a * (xx - cx)
        img += amp * (np.exp(-d ** 2 / 3.0) - np.exp(-(d - 2.5) ** 2 / 3.0))[..., None]
    img += rng.normal(0, 0.065, size=img.shape)
    return (np.clip(img, 0, 1) * 255).astype(np.uint8)


def make_split(rng, n, probs=None):
    labels = np.sort(rng.choice(len(CLASSES), size=n, p=probs))
    images = np.stack([draw_crop(rng, int(c)) for c in labels])
    return images, labels.astype(np.int64)


class FabricCrops(Dataset):
    MEAN = np.array([0.45, 0.45, 0.45], dtype=np.float32)
    STD = np.array([0.17, 0.17, 0.17], dtype=np.float32)

    def __init__(self, images, labels, augment=False, normalize=True, strength=1):
        self.images, self.labels = images, labels
        self.augment, self.normalize, self.strength = augment, normalize, strength

    def __len__(self):
        return len(self.labels)

    def to_tensor(self, img):
        x = img.astype(np.float32) / 255.0
        if self.normalize:
            x = (x - self.MEAN) / self.STD
        x = torch.from_numpy(np.ascontiguousarray(x))
        if CASE == 1:
            return x.reshape(3, SIZE, SIZE)
        return x.permute(2, 0, 1).contiguous()

    def __getitem__(self, i):
        img = self.images[i]
        if self.augment:
            if random.random() < 0.5:
                img = img[:, ::-1]
            if random.random() < 0.5:
                img = img[::-1]
            k = 2 * self.strength
            img = np.roll(img, (random.randint(-k, k), random.randint(-k, k)), axis=(0, 1))
        x = self.to_tensor(img)
        if self.augment and self.strength > 1:
            x = x * random.uniform(0.7, 1.3) + random.uniform(-0.3, 0.3)
            if random.random() < 0.5:
                a, b = random.randint(0, SIZE - 5), random.randint(0, SIZE - 5)
                x[:, a:a + 5, b:b + 5] = 0.0
        return x, int(self.labels[i])


def norm(c):
    return nn.BatchNorm2d(c, momentum=0.99) if CASE == 2 else nn.BatchNorm2d(c)


class BasicBlock(nn.Module):
    def __init__(self, cin, cout, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = norm(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = norm(cout)
        self.short = nn.Identity()
        if stride != 1 or cin != cout:
            self.short = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), norm(cout))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return F.relu(y + self.short(x))


class SmallResNet(nn.Module):
    def __init__(self, widths=(12, 20, 28), n_out=len(CLASSES), p_drop=0.2):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, widths[0], 3, 2, 1, bias=False), norm(widths[0]), nn.ReLU())
        stages, cin = [], widths[0]
        for k, w in enumerate(widths):
            stages.append(BasicBlock(cin, w, stride=2 if k > 0 else 1))
            cin = w
        self.stages = stages if CASE == 6 else nn.ModuleList(stages)
        self.drop = nn.Dropout(p_drop)
        self.fc = nn.Linear(cin, n_out)

    def features(self, x):
        x = self.stem(x)
        for s in self.stages:
            x = s(x)
        return x.mean(dim=(2, 3))

    def forward(self, x):
        return self.fc(self.drop(self.features(x)))


class Trainer:
    def __init__(self, model, train_loader, val_loader, optimizer, scheduler=None, sched_per_batch=False,
                 criterion=None, clip=None, accumulate=1, mixup=0.0, ema_decay=None, log_every=25):
        self.model, self.train_loader, self.val_loader = model, train_loader, val_loader
        self.opt, self.sched, self.per_batch = optimizer, scheduler, sched_per_batch
        self.criterion = criterion or nn.CrossEntropyLoss()
        self.clip, self.accumulate, self.mixup, self.log_every = clip, accumulate, mixup, log_every
        self.ema_decay = ema_decay
        self.ema = copy.deepcopy(model) if ema_decay else None
        self.global_step = 0

    @torch.no_grad()
    def validate(self, model=None):
        model = model or self.model
        model.eval()
        conf = np.zeros((len(CLASSES), len(CLASSES)), dtype=int)
        total = 0.0
        for x, y in self.val_loader:
            out = model(x)
            total += F.cross_entropy(out, y, reduction="sum").item()
            for t, p in zip(y.tolist(), out.argmax(1).tolist()):
                conf[t, p] += 1
        n = conf.sum()
        recall = np.diag(conf) / np.maximum(conf.sum(1), 1)
        return total / n, np.trace(conf) / n, recall.mean()

    def loss_on(self, x, y):
        if self.mixup > 0:
            lam = float(np.random.beta(self.mixup, self.mixup))
            perm = torch.randperm(len(x))
            out = self.model(lam * x + (1 - lam) * x[perm])
            return lam * self.criterion(out, y) + (1 - lam) * self.criterion(out, y[perm])
        return self.criterion(self.model(x), y)

    def train_epoch(self, epoch):
        if CASE != 5:
            self.model.train()
        running, seen = 0.0, 0
        for i, (x, y) in enumerate(self.train_loader):
            loss = self.loss_on(x, y) / self.accumulate
            loss.backward()
            running += loss.item() * self.accumulate * len(y)
            seen += len(y)
            if (i + 1) % self.accumulate:
                continue
            if self.clip:
                nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
            self.opt.step()
            self.opt.zero_grad()
            self.global_step += 1
            if self.sched and self.per_batch:
                self.sched.step()
            if self.ema is not None:
                d = min(self.ema_decay, (1 + self.global_step) / (10 + self.global_step))
                with torch.no_grad():
                    for a, b in zip(self.ema.state_dict().values(), self.model.state_dict().values()):
                        if a.dtype.is_floating_point:
                            a.mul_(d).add_(b, alpha=1 - d)
                        else:
                            a.copy_(b)
            if self.global_step % self.log_every == 0:
                print(f"  step {self.global_step:4d} loss {running / seen:.4f}")
        if self.sched and not self.per_batch:
            self.sched.step()
        return running / seen

    def fit(self, epochs):
        print("sanity check: val loss %.3f acc %.3f" % self.validate()[:2])
        best = 0.0
        for ep in range(epochs):
            tr = self.train_epoch(ep)
            vl, acc, rec = self.validate()
            msg = f"epoch {ep + 1:2d} train {tr:.4f} val {vl:.4f} acc {acc:.3f} recall {rec:.3f}"
            if self.ema is not None:
                msg += " | ema acc %.3f" % self.validate(self.ema)[1]
            print(msg)
            best = max(best, acc)
        print(f"final val acc {acc:.4f} (best {best:.4f})")
        return acc


def main():
    random.seed(SEED); np.random.seed(SEED); torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED + 11)
    tr_x, tr_y = make_split(rng, 962)
    va_x, va_y = make_split(rng, 300)

    if CASE == 4:  # strong augmentation, mixup, smoothed labels
        ds = FabricCrops(tr_x, tr_y, augment=True, strength=2)
        loader = DataLoader(ds, batch_size=48, shuffle=True)
        val = DataLoader(FabricCrops(va_x, va_y), batch_size=200)
        net = SmallResNet(p_drop=0.4)
        opt = torch.optim.AdamW(net.parameters(), lr=4e-3, weight_decay=0.02)
        sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=9)
        Trainer(net, loader, val, opt, sched, mixup=0.3, criterion=nn.CrossEntropyLoss(label_smoothing=0.1)).fit(9)
        return

    if CASE == 7:  # pretrain on ok/defect, linear probe, then gentle fine-tuning
        aug = FabricCrops(tr_x, (tr_y > 0).astype(np.int64) + 2 * (tr_y > 2), augment=True)
        val = DataLoader(FabricCrops(va_x, va_y), batch_size=200)
        net = SmallResNet(n_out=4)
        opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
        print("stage 1: coarse labels")
        for ep in range(4):
            net.train()
            tot = 0.0
            for x, y in DataLoader(aug, batch_size=32, shuffle=True):
                opt.zero_grad()
                loss = F.cross_entropy(net(x), y)
                loss.backward()
                opt.step()
                tot += loss.item() * len(y)
            print(f"epoch {ep + 1} coarse loss {tot / len(aug):.4f}")
        net.fc = nn.Linear(net.fc.in_features, len(CLASSES))
        fine = DataLoader(FabricCrops(tr_x, tr_y, augment=True), batch_size=32, shuffle=True)
        print("stage 2: new head on fixed features")
        for p in net.parameters():
            p.requires_grad_(False)
        for p in net.fc.parameters():
            p.requires_grad_(True)
        Trainer(net, fine, val, torch.optim.Adam(net.fc.parameters(), lr=1e-2)).fit(2)
        print("stage 3: all layers, small rate")
        for p in net.parameters():
            p.requires_grad_(True)
        opt = torch.optim.Adam([{"params": net.stem.parameters(), "lr": 1e-4},
                                {"params": net.stages.parameters(), "lr": 5e-4},
                                {"params": net.fc.parameters(), "lr": 1e-3}])
        Trainer(net, fine, val, opt).fit(4)
        return

    if CASE == 10:  # three folds, averaged weights
        order = rng.permutation(len(tr_y))
        folds, scores = np.array_split(order, 3), []
        for k in range(3):
            tr = np.concatenate([folds[j] for j in range(3) if j != k])
            net = SmallResNet()
            opt = torch.optim.SGD(net.parameters(), lr=0.08, momentum=0.9, nesterov=True, weight_decay=5e-4)
            loader = DataLoader(FabricCrops(tr_x[tr], tr_y[tr], augment=True), batch_size=32, shuffle=True, drop_last=True)
            sched = torch.optim.lr_scheduler.OneCycleLR(opt, 0.08, total_steps=4 * len(loader))
            val = DataLoader(FabricCrops(tr_x[folds[k]], tr_y[folds[k]]), batch_size=161)
            print(f"fold {k}")
            scores.append(Trainer(net, loader, val, opt, sched, True, ema_decay=0.97).fit(4))
        print(f"cv accuracy {np.mean(scores):.4f} +- {np.std(scores):.4f}")
        return

    if CASE == 11:  # production mix: most crops are fine
        probs = np.array([0.62, 0.12, 0.1, 0.06, 0.06, 0.04])
        tr_x, tr_y = make_split(rng, 1000, probs)
        va_x, va_y = make_split(rng, 400, probs)
        freq = np.bincount(tr_y, minlength=len(CLASSES))
        sampler = WeightedRandomSampler(torch.tensor(1.0 / freq[tr_y]), num_samples=len(tr_y))
        loader = DataLoader(FabricCrops(tr_x, tr_y, augment=True), batch_size=16, sampler=sampler)
        val = DataLoader(FabricCrops(va_x, va_y), batch_size=300)
        net = SmallResNet(p_drop=0.3)
        opt = torch.optim.Adam(net.parameters(), lr=3e-3)
        sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.8)
        Trainer(net, loader, val, opt, sched, clip=5.0, accumulate=2).fit(7)
        return

    epochs = 8
    train_ds = FabricCrops(tr_x, tr_y, augment=True)
    val_ds = FabricCrops(va_x, va_y, normalize=CASE != 8)
    train_loader = DataLoader(train_ds, batch_size=32, shuffle=CASE != 9)
    val_loader = DataLoader(val_ds, batch_size=200)
    net = SmallResNet()
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
    sched = torch.optim.lr_scheduler.StepLR(opt, step_size=4, gamma=0.3)
    trainer = Trainer(net, train_loader, val_loader, opt, sched, sched_per_batch=CASE == 3)
    trainer.fit(epochs)


if __name__ == "__main__":
    main()
