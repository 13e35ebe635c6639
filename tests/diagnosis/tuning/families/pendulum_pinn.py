"""Physics-informed fit of a damped oscillator  u'' + mu u' + k u = 0,  u(0)=1, u'(0)=0."""
import os
import sys

import numpy as np
import torch
import torch.nn as nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
np.random.seed(SEED)
torch.manual_seed(SEED)
torch.set_num_threads(1)

DELTA, OMEGA = 1.0, 9.0
MU, K = 2 * DELTA, OMEGA ** 2
T_END = 1.0


def exact(t):
    w = np.sqrt(OMEGA ** 2 - DELTA ** 2)
    phi = np.arctan(-DELTA / w)
    a = 1 / (2 * np.cos(phi))
    return torch.exp(-DELTA * t) * 2 * a * torch.cos(phi + w * t)


class Sine(nn.Module):
    def __init__(self, w0):
        super().__init__()
        self.w0 = w0

    def forward(self, x):
        return torch.sin(self.w0 * x)


def fcn(width=32, depth=4 if CASE == 11 else 3, act=nn.Tanh):
    layers = [nn.Linear(1, width), act()]
    for _ in range(depth - 1):
        layers.append(nn.Linear(width, width))
        if CASE != 11:
            layers.append(act())
    layers.append(nn.Linear(width, 1))
    return nn.Sequential(*layers)


def siren(width=32):
    net = nn.Sequential(nn.Linear(1, width), Sine(6.0), nn.Linear(width, width), Sine(1.0), nn.Linear(width, 1))
    with torch.no_grad():
        net[0].weight.uniform_(-1, 1)
        net[2].weight.uniform_(-(6 / width) ** 0.5, (6 / width) ** 0.5)
    return net


def d(u, t):
    return torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)[0]


class Problem:
    def __init__(self, net):
        self.net = net
        scale = 500.0 if CASE == 2 else 1.0         # time stamps of the logger
        self.scale = scale
        dt = next(net.parameters()).dtype
        self.t_phys = (torch.linspace(0, T_END, 60).view(-1, 1) * scale).to(dt).requires_grad_(True)
        self.t0 = torch.zeros(1, 1, dtype=dt, requires_grad=True)
        self.inverse = CASE in (4, 5)
        self.mu = nn.Parameter(torch.tensor(0.5))
        self.k = nn.Parameter(torch.tensor(40.0 / 10))     # in tens
        t_obs = torch.rand(40, 1) * T_END
        self.t_obs, self.u_obs = t_obs, exact(t_obs) + 0.02 * torch.randn(40, 1)

    def loss(self):
        u0 = self.net(self.t0)
        l0 = (u0 - 1).pow(2).mean()
        s = self.scale
        l1 = (d(u0, self.t0) * s).pow(2).mean()
        u = self.net(self.t_phys)
        ut = d(u, self.t_phys) * s
        utt = d(ut, self.t_phys) * s
        mu, k = (self.mu * 4, self.k * 10) if self.inverse else (MU, K)
        lr = (utt + mu * ut + k * u).pow(2).mean()
        if self.inverse:
            data = (self.net(self.t_obs) - self.u_obs).pow(2).mean()
            return 1e3 * data + 2e-3 * lr + l0 + 0.01 * l1
        return l0 + 1e-1 * l1 + 1e-4 * lr

    def error(self):
        with torch.no_grad():
            t = torch.linspace(0, T_END, 200).view(-1, 1)
            dt = next(self.net.parameters()).dtype
            u = self.net((t * self.scale).to(dt)).float()
            return ((u - exact(t)).pow(2).mean().sqrt() / exact(t).pow(2).mean().sqrt()).item()


def run_lbfgs(prob, rounds, lr=1.0, line="strong_wolfe", inner=20):
    opt = torch.optim.LBFGS(prob.net.parameters(), lr=lr, max_iter=inner, history_size=50, line_search_fn=line)

    def closure():
        if CASE != 1:
            opt.zero_grad()
        l = prob.loss()
        l.backward()
        return l

    for r in range(rounds):
        l = opt.step(closure)
        if r % 5 == 0 or r == rounds - 1:
            print(f"lbfgs {r} loss {l.item():.3e} rel err {prob.error():.4f}")


def run_adam(prob, steps, lr, params=None, gamma=None):
    opt = torch.optim.Adam(params if params is not None else prob.net.parameters(), lr=lr)
    sched = torch.optim.lr_scheduler.ExponentialLR(opt, gamma) if gamma else None
    for i in range(steps):
        opt.zero_grad()
        l = prob.loss()
        l.backward()
        opt.step()
        if sched is not None:
            sched.step()
        if i % 250 == 0 or i == steps - 1:
            extra = f" mu {prob.mu.item() * 4:.2f} k {prob.k.item() * 10:.1f}" if prob.inverse else ""
            print(f"adam {i} loss {l.item():.3e} rel err {prob.error():.4f}{extra}")


net = siren() if CASE == 7 else fcn()
if CASE == 6:
    for m in net:
        if isinstance(m, nn.Linear):
            nn.init.constant_(m.weight, 0.1)
            nn.init.zeros_(m.bias)
if CASE == 8:
    net = net.to(torch.bfloat16)
prob = Problem(net)

if CASE in (0, 1):
    run_lbfgs(prob, 30)
elif CASE == 3:
    run_adam(prob, 700, 1e-2)
    run_lbfgs(prob, 14)
elif CASE == 4:
    run_adam(prob, 2000, 5e-3, params=list(net.parameters()))
elif CASE == 5:
    run_adam(prob, 2000, 5e-3, params=list(net.parameters()) + [prob.mu, prob.k])
elif CASE == 8:
    run_adam(prob, 1000, 3e-4)
elif CASE == 9:
    run_adam(prob, 1500, 3e-3, gamma=0.97)
elif CASE == 10:
    run_lbfgs(prob, 40, lr=0.1, line=None, inner=30)
else:
    run_adam(prob, 1500, 3e-3)
sys.stdout.flush()
