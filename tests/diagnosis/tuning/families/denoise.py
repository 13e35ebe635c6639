"""Denoising autoencoder on smooth random textures, no normalisation layers."""
import copy
import math
import os

import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", 5))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)
SIGMA = 0.5


def textures(n, size=16):
    g = torch.arange(size).float() / size
    a = torch.rand(n, 3, 1, 1) * 6 + 1
    th = torch.rand(n, 3, 1, 1) * math.pi
    ph = torch.rand(n, 3, 1, 1) * 2 * math.pi
    xx, yy = g[None, None, None, :], g[None, None, :, None]
    w = torch.sin(a * (torch.cos(th) * xx + torch.sin(th) * yy) * 2 + ph)
    img = torch.sign(w[:, :1] + 0.3 * w[:, 1:2]) * 0.7 + 0.5 * w[:, 2:]
    return (img - img.mean()) / img.std()


class AE(nn.Module):
    def __init__(self, ch=16, skip=False):
        super().__init__()
        self.enc = nn.Sequential(
            nn.Conv2d(1, ch, 3, padding=1), nn.ReLU(),
            nn.Conv2d(ch, 2 * ch, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(2 * ch, 2 * ch, 3, padding=1), nn.ReLU())
        self.dec = nn.Sequential(
            nn.ConvTranspose2d(2 * ch, ch, 4, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(ch, 1, 3, padding=1))
        self.skip = skip
        if skip:
            nn.init.zeros_(self.dec[-1].weight)
            nn.init.zeros_(self.dec[-1].bias)
        if CASE == 3:
            for m in self.modules():
                if isinstance(m, (nn.Conv2d, nn.ConvTranspose2d)):
                    nn.init.normal_(m.weight, 0.0, 0.02)
                    nn.init.constant_(m.bias, -0.5)

    def forward(self, x):
        out = self.dec(self.enc(x))
        if CASE == 1:
            out = torch.sigmoid(out)
        return x - out if self.skip else out


class NormSGD:
    """layer-wise normalised momentum (LARS without weight decay)"""

    def __init__(self, params, lr, beta=0.9):
        self.params, self.lr, self.beta = list(params), lr, beta
        self.buf = [torch.zeros_like(p) for p in self.params]

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    @torch.no_grad()
    def step(self):
        for p, b in zip(self.params, self.buf):
            b.mul_(self.beta).add_(p.grad, alpha=1 - self.beta)
            p.add_(b / (b.norm() + 1e-8) * (p.norm() + 0.05), alpha=-self.lr)


class Trainer:
    def __init__(self):
        self.train_x = textures(1024)
        self.val_x = textures(200)
        self.val_noisy = self.val_x + SIGMA * torch.randn_like(self.val_x)
        self.net = AE(skip=CASE == 6)
        self.bs = 32
        self.steps = 400
        self.lr = 2e-3
        if CASE == 4:
            self.lr = 2e-6
        if CASE == 8:
            self.bs, self.steps, self.lr = 1, 1500, 5e-4
        if CASE == 7:
            self.opt = NormSGD(self.net.parameters(), lr=0.01)
        elif CASE == 10:
            self.opt = torch.optim.RMSprop(self.net.parameters(), lr=3e-3)
            self.shadow = copy.deepcopy(self.net).requires_grad_(False)
        else:
            self.opt = torch.optim.Adam(self.net.parameters(), lr=self.lr)

    def batches(self):
        while True:
            for idx in torch.randperm(len(self.train_x)).split(self.bs):
                clean = self.train_x[idx]
                yield clean + SIGMA * torch.randn_like(clean), clean

    def loss(self, out, clean):
        if CASE == 9:
            peak = clean.amax((1, 2, 3)) - clean.amin((1, 2, 3))
            mse = (out - clean).pow(2).mean((1, 2, 3))
            return -(10 * torch.log10(peak ** 2 / (mse + 1e-8))).mean()
        if CASE == 10:
            return torch.sqrt((out - clean) ** 2 + 1e-6).mean()
        return F.mse_loss(out, clean)

    def after_step(self, step):
        if CASE == 10:
            with torch.no_grad():
                for s, p in zip(self.shadow.parameters(), self.net.parameters()):
                    s.lerp_(p, min(1 - step / (step + 10.0), 1) if step < 90 else 0.02)

    @torch.no_grad()
    def validate(self, net=None):
        net = net or self.net
        return F.mse_loss(net(self.val_noisy), self.val_x).item()

    def fit(self):
        run = 0.0
        for step, (noisy, clean) in enumerate(self.batches(), 1):
            if CASE != 2:
                self.opt.zero_grad()
            out = self.net(noisy)
            loss = self.loss(out, clean)
            loss.backward()
            self.opt.step()
            self.after_step(step)
            run = loss.item() if step == 1 else 0.95 * run + 0.05 * loss.item()
            if step % (self.steps // 8) == 0:
                print(f"[{step:4d}] train {run:.4f}  val mse {self.validate():.4f}")
            if step >= self.steps:
                break
        v = self.validate(self.shadow if CASE == 10 else None)
        print(f"noisy input mse {SIGMA ** 2:.4f}, restored {v:.4f}")
        print(f"METRIC {v:.4f}")


Trainer().fit()
