"""Small residual network with batch norm on synthetic textures."""
import copy
import math
import os

import numpy as np
import torch
from torch import nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)


def textures(n, gen, noise=1.0):
    """Six classes: orientation (3) x spatial frequency (2), random phase and contrast."""
    g = np.arange(12)
    yy, xx = np.meshgrid(g, g, indexing="ij")
    lab = gen.integers(0, 6, n)
    theta = (lab % 3) * math.pi / 3 + gen.normal(0, 0.12, n)
    freq = np.where(lab // 3 == 0, 0.9, 1.7) + gen.normal(0, 0.05, n)
    ph = gen.uniform(0, 2 * math.pi, n)
    arg = freq[:, None, None] * (np.cos(theta)[:, None, None] * xx + np.sin(theta)[:, None, None] * yy)
    img = np.sin(arg + ph[:, None, None]) * gen.uniform(0.6, 1.4, n)[:, None, None]
    img = img + noise * gen.normal(0, 1, img.shape)
    return torch.from_numpy(img[:, None].astype("float32")), torch.from_numpy(lab)


class Block(nn.Module):
    def __init__(self, cin, cout, stride=1):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(cin, cout, 3, stride, 1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(),
            nn.Conv2d(cout, cout, 3, 1, 1, bias=False), nn.BatchNorm2d(cout))
        self.short = nn.Identity()
        if stride != 1 or cin != cout:
            self.short = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))

    def forward(self, x):
        return torch.relu(self.body(x) + self.short(x))


class ResNet(nn.Module):
    def __init__(self, widths=(10, 16, 24), classes=6, drop=0.0, neck=False):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, widths[0], 3, 1, 1, bias=False), nn.BatchNorm2d(widths[0]), nn.ReLU())
        layers, c = [], widths[0]
        for i, w in enumerate(widths):
            layers.append(Block(c, w, 1 if i == 0 else 2))
            c = w
        self.layers = nn.Sequential(*layers)
        self.neck = nn.BatchNorm1d(c) if neck else nn.Identity()
        self.drop = nn.Dropout(drop)
        self.head = nn.Linear(c, classes)

    def forward(self, x):
        return self.head(self.drop(self.neck(self.layers(self.stem(x)).mean(dim=(2, 3)))))


class Trainer:
    def __init__(self, model, opt, train, test, batch=40, scheduler=None, ema=None, eval_batch=100):
        self.model, self.opt, self.scheduler = model, opt, scheduler
        self.xtr, self.ytr = train
        self.xte, self.yte = test
        self.batch, self.eval_batch = batch, eval_batch
        self.loss_fn = nn.CrossEntropyLoss(label_smoothing=0.1 if CASE == 9 else 0.0)
        self.average = ema
        self.best, self.best_state = 0.0, None
        self.step = 0

    def epoch(self):
        if CASE != 2:
            self.model.train()
        perm = torch.randperm(len(self.xtr))
        total = 0.0
        for k in range(0, len(perm) - self.batch + 1, self.batch):
            ids = perm[k:k + self.batch]
            loss = self.loss_fn(self.model(self.xtr[ids]), self.ytr[ids])
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            if self.scheduler:
                self.scheduler.step()
            if self.average is not None:
                self.blend()
            total += loss.item()
            self.step += 1
        return total / (len(perm) // self.batch)

    def blend(self):
        with torch.no_grad():
            for a, p in zip(self.average.parameters(), self.model.parameters()):
                a.mul_(0.98).add_(p, alpha=0.02)
            if CASE == 7 and self.step % 10 == 0:
                for a, p in zip(self.average.parameters(), self.model.parameters()):
                    p.copy_(a)

    @torch.no_grad()
    def evaluate(self):
        if CASE != 1:
            self.model.eval()
        hit, loss = 0, 0.0
        for k in range(0, len(self.xte), self.eval_batch):
            x, y = self.xte[k:k + self.eval_batch], self.yte[k:k + self.eval_batch]
            out = self.model(x)
            loss += nn.functional.cross_entropy(out, y).item() * len(y)
            hit += (out.argmax(-1) == y).sum().item()
        return loss / len(self.xte), hit / len(self.xte)

    def fit(self, epochs):
        print("before training: val %.4f acc %.3f" % self.evaluate())
        for e in range(epochs):
            tr = self.epoch()
            vl, va = self.evaluate()
            if va > self.best:
                self.best, self.best_state = va, copy.deepcopy(self.model.state_dict())
            print("epoch %2d step %4d lr %.2e train %.4f val %.4f acc %.3f best %.3f" % (
                e, self.step, self.opt.param_groups[0]["lr"], tr, vl, va, self.best))


def pretrain(model, gen):
    x, y = textures(1200, gen, noise=0.6)
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for i in range(120):
        ids = torch.randint(0, len(x), (40,))
        loss = nn.functional.cross_entropy(model(x[ids]), y[ids])
        opt.zero_grad()
        loss.backward()
        opt.step()
    return model


gen = np.random.default_rng(SEED + 5)
ntrain = 1200
xtr, ytr = textures(ntrain, gen)
xte, yte = textures(400, gen)

batch, epochs, ema, scheduler, eval_batch, drop = 40, 6, None, None, 100, 0.0
if CASE == 0:
    batch, epochs = 2, 1
if CASE == 1:
    drop = 0.5
    eval_batch = 4
if CASE == 6:
    order = torch.randperm(ntrain)
    xtr = xtr[order]
if CASE == 11:
    batch, epochs = 100, 10

model = ResNet(drop=drop, neck=CASE in (0, 9))

if CASE == 3:
    for name, p in model.named_parameters():
        if "head" not in name:
            p.requires_grad = False
if CASE == 10:
    model = pretrain(model, np.random.default_rng(SEED + 77))
    for p in model.stem.parameters():
        p.requires_grad_(False)
    for p in model.layers.parameters():
        p.requires_grad_(False)
    model.head = nn.Linear(24, 6)
if CASE == 4:
    saved = pretrain(ResNet(), np.random.default_rng(SEED + 77)).state_dict()
    saved = {"module." + k: v for k, v in saved.items()}
    model.load_state_dict(saved, strict=False)
    epochs = 4

trainable = [p for p in model.parameters() if p.requires_grad]
if CASE == 5:
    opt = torch.optim.SGD(trainable, lr=0.05, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(opt, step_size=5, gamma=0.5)
elif CASE == 4:
    opt = torch.optim.SGD(trainable, lr=2e-3, momentum=0.9)
elif CASE == 7:
    opt = torch.optim.SGD(trainable, lr=0.01, momentum=0.9)
    ema = copy.deepcopy(model)
elif CASE == 2:
    opt = torch.optim.SGD(trainable, lr=0.03, momentum=0.9)
elif CASE == 8:
    opt = torch.optim.SGD(trainable, lr=0.05, momentum=0.9, weight_decay=5e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=epochs * (ntrain // batch))
elif CASE == 11:
    opt = torch.optim.SGD(trainable, lr=0.3, momentum=0.9, weight_decay=1e-3)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(opt, 0.3, total_steps=epochs * (ntrain // batch))
elif CASE == 12:
    opt = torch.optim.Adam(trainable, lr=1e-3)
    ema = copy.deepcopy(model)
else:
    opt = torch.optim.Adam(trainable, lr=3e-3)

trainer = Trainer(model, opt, (xtr, ytr), (xte, yte), batch, scheduler, ema, eval_batch)
trainer.fit(epochs)
model.load_state_dict(trainer.best_state)
print("final accuracy with the best weights: %.3f" % trainer.evaluate()[1])
