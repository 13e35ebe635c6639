# Conditional LSGAN / hinge GAN on 16x16 shapes, projection discriminator with spectral norm.
import argparse
import copy
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import spectral_norm

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=650)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--nz", type=int, default=16)
    p.add_argument("--ngf", type=int, default=16)
    p.add_argument("--ndf", type=int, default=20)
    p.add_argument("--lr-g", type=float, default=6e-4)
    p.add_argument("--lr-d", type=float, default=2e-3)
    p.add_argument("--beta1", type=float, default=0.0)
    p.add_argument("--norm", default="bn")
    p.add_argument("--loss", default="ls")
    p.add_argument("--critic", type=int, default=1)
    p.add_argument("--real-label", type=float, default=1.0)
    p.add_argument("--inst-noise", type=float, default=0.0)
    p.add_argument("--ema", type=float, default=0.0)
    p.add_argument("--decay", action="store_true")
    p.add_argument("--optim", default="adam")
    a = p.parse_args([])
    a.__dict__.update({
        0: dict(nz=20),
        1: dict(),
        2: dict(ndf=24, lr_d=1.5e-3),
        3: dict(loss="hinge", critic=2, lr_g=6e-4, lr_d=1.2e-3, steps=450),
        4: dict(nz=24),
        5: dict(batch=24),
        6: dict(optim="rmsprop", loss="hinge", critic=2, lr_g=4e-4, lr_d=8e-4, steps=450),
        7: dict(batch=16, norm="gn", steps=900, lr_g=4e-4, lr_d=1.2e-3),
        8: dict(real_label=0.9, inst_noise=0.2),
        9: dict(norm="gn", lr_g=8e-4),
        10: dict(ema=0.98, decay=True, lr_g=8e-4, lr_d=2e-3, batch=24),
        11: dict(lr_d=2.5e-3, nz=12),
    }[CASE])
    return a


N_CLASS = 4


def make_shapes(n, rng):
    yy, xx = np.mgrid[0:16, 0:16]
    imgs = -np.ones((n, 1, 16, 16), np.float32)
    lab = rng.randint(0, N_CLASS, n)
    for i, c in enumerate(lab):
        cy, cx = rng.randint(5, 11, 2)
        v = rng.uniform(0.5, 1.0)
        if c == 0:
            m = np.abs(yy - cy) <= 1
        elif c == 1:
            m = np.abs(xx - cx) <= 1
        elif c == 2:
            m = (yy - cy) ** 2 + (xx - cx) ** 2 <= 14
        else:
            m = (np.abs((yy - cy) - (xx - cx)) <= 1) | (np.abs((yy - cy) + (xx - cx)) <= 1)
        imgs[i, 0][m] = v
    return torch.from_numpy(imgs), torch.from_numpy(lab).long()


def norm2d(kind, c):
    return nn.BatchNorm2d(c) if kind == "bn" else nn.GroupNorm(4, c)


class Generator(nn.Module):
    def __init__(self, a):
        super().__init__()
        f = a.ngf
        self.emb = nn.Embedding(N_CLASS, 16)
        self.fc = nn.Linear(a.nz + 16, f * 2 * 16)
        self.main = nn.Sequential(
            norm2d(a.norm, f * 2), nn.ReLU(True),
            nn.Upsample(scale_factor=2), nn.Conv2d(f * 2, f, 3, 1, 1), norm2d(a.norm, f), nn.ReLU(True),
            nn.Upsample(scale_factor=2), nn.Conv2d(f, f, 3, 1, 1), norm2d(a.norm, f), nn.ReLU(True),
            nn.Conv2d(f, 1, 3, 1, 1), nn.Tanh())

    def forward(self, z, y):
        h = self.fc(torch.cat([z, self.emb(y)], 1))
        return self.main(h.view(h.shape[0], -1, 4, 4))


class Discriminator(nn.Module):
    def __init__(self, a, sn=True):
        super().__init__()
        f = a.ndf
        wrap = spectral_norm if sn else (lambda m: m)
        self.trunk = nn.Sequential(
            wrap(nn.Conv2d(1, f, 4, 2, 1)), nn.LeakyReLU(0.2),
            wrap(nn.Conv2d(f, f * 2, 4, 2, 1)), nn.LeakyReLU(0.2),
            nn.Flatten())
        self.fc = nn.Sequential(wrap(nn.Linear(f * 2 * 16 + 1, 64)), nn.LeakyReLU(0.2))
        self.out = wrap(nn.Linear(64, 1))
        self.proj = wrap(nn.Embedding(N_CLASS, 64))

    def forward(self, x, y):
        h = self.trunk(x)
        sd = h.std(0).mean().expand(h.shape[0], 1)       # minibatch stddev feature
        h = self.fc(torch.cat([h, sd], 1))
        return self.out(h).squeeze(1) + (self.proj(y) * h).sum(1)


class GANTrainer:
    def __init__(self, a, images, labels):
        self.a, self.images, self.labels = a, images, labels
        self.G = Generator(a)
        self.D = Discriminator(a, sn=CASE != 11)
        self.ema = copy.deepcopy(self.G) if a.ema else None
        if a.optim == "rmsprop":
            self.opt_g = torch.optim.RMSprop(self.G.parameters(), lr=a.lr_g)
            self.opt_d = torch.optim.RMSprop(self.D.parameters(), lr=a.lr_d)
        else:
            self.opt_g = torch.optim.Adam(self.G.parameters(), lr=a.lr_g, betas=(a.beta1, 0.99))
            self.opt_d = torch.optim.Adam(self.D.parameters(), lr=a.lr_d, betas=(a.beta1, 0.99))
        if CASE == 11:
            self.D = Discriminator(a, sn=True)
        self.scheds = []
        if a.decay:
            self.scheds = [torch.optim.lr_scheduler.LambdaLR(o, lambda s: 1.0 - s / a.steps) for o in (self.opt_g, self.opt_d)]

    def batch(self):
        idx = torch.randint(0, len(self.images), (self.a.batch,))
        x = self.images[idx]
        if CASE == 2:
            idx = torch.randint(0, len(self.images), (self.a.batch,))
        return x, self.labels[idx]

    def criterion(self, pred, real):
        if self.a.loss == "hinge":
            return F.relu(1 - pred).mean() if real else F.relu(1 + pred).mean()
        target = self.a.real_label if real else 0.0
        return ((pred - target) ** 2).mean()

    def noisy(self, x, t):
        s = self.a.inst_noise * max(0.0, 1 - t)
        return x + s * torch.randn_like(x) if s else x

    def fake_batch(self):
        z = torch.randn(self.a.batch, self.a.nz)
        y = torch.randint(0, N_CLASS, (self.a.batch,))
        return self.G(z, y), y

    def train_step(self, step):
        t = step / self.a.steps * 1.5
        for _ in range(self.a.critic):
            x, y = self.batch()
            fake, fy = self.fake_batch()
            if CASE == 4:
                fake = fake.detach()
            d_loss = self.criterion(self.D(self.noisy(x, t), y), True) + \
                self.criterion(self.D(self.noisy(fake.detach(), t), fy), False)
            self.opt_d.zero_grad()
            d_loss.backward()
            self.opt_d.step()

        if CASE == 0:
            for p in list(self.D.trunk.parameters()) + list(self.D.fc.parameters()):
                p.requires_grad_(False)
        if CASE != 4:
            fake, fy = self.fake_batch()
        pred = self.D(self.noisy(fake, t), fy)
        if self.a.loss == "hinge":
            g_loss = -pred.mean()
        elif CASE == 9:
            g_loss = self.criterion(pred, False)
        else:
            g_loss = self.criterion(pred, True)
        self.opt_g.zero_grad()
        g_loss.backward()
        self.opt_g.step()

        for s in self.scheds:
            s.step()
        if self.ema is not None:
            with torch.no_grad():
                for pe, p in zip(self.ema.parameters(), self.G.parameters()):
                    pe.lerp_(p, 1 - self.a.ema)
                for be, b in zip(self.ema.buffers(), self.G.buffers()):
                    be.copy_(b)
        return d_loss.item(), g_loss.item()

    @torch.no_grad()
    def preview(self, n=64):
        g = self.ema if self.ema is not None else self.G
        g.eval()
        y = torch.arange(n) % N_CLASS
        out = g(torch.randn(n, self.a.nz), y)
        if CASE != 5:
            g.train()
        return out, y


@torch.no_grad()
def score(fake, y, ref, ref_y):
    d = torch.cdist(fake.flatten(1), ref.flatten(1))
    near = d.argmin(1)
    acc = (ref_y[near] == y).float().mean().item()
    spread = np.mean([fake[y == c].std(0).mean().item() for c in range(N_CLASS)])
    return acc, d.min(1).values.mean().item(), spread


def main():
    a = get_args()
    torch.manual_seed(SEED)
    rng = np.random.RandomState(SEED)
    images, labels = make_shapes(2000, rng)
    ref, ref_y = make_shapes(1000, rng)
    tr = GANTrainer(a, images, labels)
    real_spread = np.mean([ref[ref_y == c].std(0).mean().item() for c in range(N_CLASS)])
    for step in range(a.steps):
        d, g = tr.train_step(step)
        if step % 100 == 0:
            acc, dist, spread = score(*tr.preview(), ref, ref_y)
            print(f"[{step:4d}/{a.steps}] D {d:.3f} G {g:.3f} | class match {acc:.2f} nn-dist {dist:.2f} spread {spread:.2f}/{real_spread:.2f}")
    acc, dist, spread = score(*tr.preview(400), ref, ref_y)
    print(f"done: class match {acc:.3f} nn-dist {dist:.2f} spread {spread:.3f}/{real_spread:.3f}")


if __name__ == "__main__":
    main()
