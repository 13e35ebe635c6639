#!/usr/bin/env python
"""DeepONet for the antiderivative operator, and coordinate networks (SIREN / Fourier features) for a 2-d field."""
import argparse
import math
import os

import numpy as np
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

CASE = int(os.environ.get("CASE", "6"))
SEED = int(os.environ.get("SEED", "0"))


def antiderivative_data(n_func, n_query, seed, sensors=40, length=1.0, unit=1.0):
    """u(x) = random Fourier series on [0, length]; target is the integral of u from 0 to y."""
    rng = np.random.default_rng(seed)
    k = np.arange(1, 5)
    a = rng.normal(size=(n_func, 4)) / k ** 0.5
    ph = rng.uniform(0, 2 * np.pi, size=(n_func, 4))
    xs = np.linspace(0, 1, sensors)
    w = np.pi * k
    u = (a[:, None] * np.cos(w * xs[None, :, None] + ph[:, None])).sum(-1)
    y = rng.uniform(0, 1, size=(n_func, n_query))
    s = (a[:, None] / w * (np.sin(w * y[..., None] + ph[:, None]) - np.sin(ph[:, None]))).sum(-1)
    U = np.repeat(u, n_query, 0) * unit
    Y = y.reshape(-1, 1) * length
    S = s.reshape(-1) * unit * length
    return [torch.tensor(v, dtype=torch.float32) for v in (U, Y, S)]


class MLP(nn.Module):
    def __init__(self, sizes, act=nn.Tanh, act_last=False):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:])])
        self.act = act()
        self.act_last = act_last

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(x)
            if i < len(self.layers) - 1 or self.act_last:
                x = self.act(x)
        return x


class Trunk(nn.Module):
    def __init__(self, sizes, act=nn.Tanh):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:])])
        self.act = act()

    def forward(self, y):
        for layer in self.layers:
            y = layer(y)
            if CASE == 4:
                self.act(y)
            else:
                y = self.act(y)
        return y


class DeepONet(nn.Module):
    def __init__(self, sensors=40, width=64, p=40, act=nn.Tanh, depth=3):
        super().__init__()
        self.branch = MLP([sensors] + [width] * (depth - 1) + [p], act)
        self.trunk = Trunk([1] + [width] * (depth - 1) + [p], act)
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, u, y):
        b, t = self.branch(u), self.trunk(y)
        if CASE == 0:
            return (b * t).sum(1, keepdim=True) + self.bias
        return (b * t).sum(1) + self.bias


class Trainer:
    def __init__(self, model, opt, train, test, args, sched=None, per_batch=False, loss=None, y_scale=1.0):
        self.model, self.opt, self.sched, self.per_batch = model, opt, sched, per_batch
        g = torch.Generator().manual_seed(SEED)
        self.loader = DataLoader(TensorDataset(*train), batch_size=args.batch, shuffle=True, generator=g)
        self.test = test
        self.args = args
        self.loss = loss or (lambda p, s: ((p - s) ** 2).mean())
        self.y_scale = y_scale
        self.step = 0

    def rel_l2(self):
        self.model.eval()
        u, y, s = self.test
        with torch.no_grad():
            p = self.model(u, y).reshape(-1) * self.y_scale
        self.model.train()
        return ((p - s).norm() / (s - s.mean()).norm()).item()

    def fit(self):
        for epoch in range(1, self.args.epochs + 1):
            total = 0.0
            for u, y, s in self.loader:
                self.opt.zero_grad()
                loss = self.loss(self.model(u, y), s / self.y_scale)
                loss.backward()
                self.opt.step()
                if self.sched is not None and self.per_batch:
                    self.sched.step()
                total += loss.item()
                self.step += 1
            if self.sched is not None and not self.per_batch:
                if isinstance(self.sched, optim.lr_scheduler.ReduceLROnPlateau):
                    self.sched.step(total)
                else:
                    self.sched.step()
            if epoch % self.args.log_every == 0:
                print(f"[{self.step:5d}] epoch {epoch} loss {total / len(self.loader):.3e} "
                      f"test rel. L2 {self.rel_l2():.4f} lr {self.opt.param_groups[0]['lr']:.1e}")


# --------------------------------------------------------------------------------------------- coordinate networks
class Sine(nn.Module):
    def __init__(self, fan_in, fan_out, w0=30.0, first=False):
        super().__init__()
        self.w0 = w0
        self.linear = nn.Linear(fan_in, fan_out)
        if CASE != 1:
            bound = 1 / fan_in if first else math.sqrt(6 / fan_in) / w0
            nn.init.uniform_(self.linear.weight, -bound, bound)

    def forward(self, x):
        return torch.sin(self.w0 * self.linear(x))


class Fourier(nn.Module):
    def __init__(self, n, sigma):
        super().__init__()
        self.register_buffer("B", torch.randn(2, n) * sigma)

    def forward(self, x):
        z = 2 * math.pi * x @ self.B
        return torch.cat([z.sin(), z.cos()], -1)


def field(x):
    a, b = x[:, 0], x[:, 1]
    return torch.sin(6 * a + 2 * b) * torch.cos(9 * b - 3 * a * a) + 0.5 * torch.exp(-20 * (a ** 2 + b ** 2))


def fit_field(model, lr, steps, n_train, batch, log_every=100, cosine=False, single=False):
    side = torch.linspace(-1, 1, 64)
    grid = torch.stack(torch.meshgrid(side, side, indexing="ij"), -1).reshape(-1, 2)
    x = grid if single else torch.rand(n_train, 2) * 2 - 1
    y = field(x)
    opt = optim.Adam(model.parameters(), lr=lr)
    sched = optim.lr_scheduler.CosineAnnealingLR(opt, steps) if cosine else None
    target = field(grid)
    for step in range(1, steps + 1):
        idx = slice(None) if single else torch.randint(0, len(x), (batch,))
        loss = nn.functional.mse_loss(model(x[idx]).squeeze(-1), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if sched:
            sched.step()
        if step % log_every == 0:
            with torch.no_grad():
                e = nn.functional.mse_loss(model(grid).squeeze(-1), target)
            psnr = 10 * math.log10(4 / e.item())
            print(f"step {step} loss {loss.item():.2e} field mse {e.item():.2e} (var {target.var().item():.3f}) psnr {psnr:.1f}")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--batch", type=int, default=128)
    ap.add_argument("--epochs", type=int, default=14)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--log-every", type=int, default=2)
    args = ap.parse_args()
    torch.manual_seed(SEED)
    torch.set_num_threads(1)

    if CASE == 1:
        model = nn.Sequential(Sine(2, 64, first=True), Sine(64, 64), Sine(64, 64), nn.Linear(64, 1))
        return fit_field(model, 5e-4, 1500, 2000, 256)
    if CASE == 7:
        model = nn.Sequential(Sine(2, 64, first=True), Sine(64, 64), Sine(64, 64), nn.Linear(64, 1))
        return fit_field(model, 1e-4, 2000, 3000, 512, log_every=200)
    if CASE == 8:
        model = nn.Sequential(Fourier(64, 0.8), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(),
                              nn.Linear(64, 1))
        return fit_field(model, 3e-3, 500, None, None, log_every=50, cosine=True, single=True)

    data = dict(n_func=500, n_query=20, seed=SEED + 1)
    model_kw = dict()
    unit, length = 1.0, 1.0
    if CASE == 2:
        unit, length = 40.0, 250.0
    if CASE == 9:
        unit = 3.0e4
    if CASE == 10:
        model_kw = dict(act=nn.GELU, width=96)
    if CASE == 3:
        model_kw = dict(act=nn.ReLU)
    if CASE == 5:
        model_kw = dict(width=80, act=nn.SiLU)
    train = antiderivative_data(unit=unit, length=length, **data)
    test = antiderivative_data(200, 20, SEED + 2, unit=unit, length=length)
    y_scale = 1.0
    if CASE in (2, 9):
        y_scale = train[2].std().item()
    if CASE == 9:
        m, s = train[0].mean(), train[0].std()
        train[0], test[0] = (train[0] - m) / s, (test[0] - m) / s
    if CASE == 11:
        train, test = [v.double() for v in train], [v.double() for v in test]

    model = DeepONet(**model_kw)
    if CASE == 11:
        model = model.double()
    sched, per_batch, loss = None, False, None
    if CASE == 3:
        opt = optim.Adam(model.parameters(), lr=args.lr, weight_decay=0.02)
    elif CASE == 5:
        opt = optim.Adam(model.parameters(), lr=args.lr)
        sched, per_batch = optim.lr_scheduler.StepLR(opt, step_size=8, gamma=0.6), True
    elif CASE == 9:
        opt = optim.NAdam(model.parameters(), lr=5e-4)
        sched = optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=2)
    elif CASE == 10:
        opt = optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.05)
        args.batch = 96
        steps = args.epochs * math.ceil(len(train[0]) / args.batch)
        sched, per_batch = optim.lr_scheduler.OneCycleLR(opt, 5e-3, total_steps=steps), True
    elif CASE == 11:
        args.batch = 40
        args.epochs = 12
        opt = optim.SGD(model.parameters(), lr=2e-3, momentum=0.9)
        sched = optim.lr_scheduler.MultiStepLR(opt, [8, 10], gamma=0.3)
        loss = lambda p, s: 0.5 * ((p - s) ** 2).sum()
    else:
        opt = optim.Adam(model.parameters(), lr=args.lr)
    Trainer(model, opt, train, test, args, sched, per_batch, loss, y_scale).fit()


if __name__ == "__main__":
    main()
