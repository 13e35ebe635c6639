# Learning the motion of a damped pendulum from data: neural ODE with a hand-written solver.
import copy
import math
import os

import torch
import torch.nn as nn

CASE = int(os.environ.get('CASE', '6'))
SEED = int(os.environ.get('SEED', '0'))
torch.manual_seed(SEED)
torch.set_num_threads(1)


# ---------------------------------------------------------------- solver
def rk4(f, y, dt):
    k1 = f(y)
    k2 = f(y + dt / 2 * k1)
    k3 = f(y + dt / 2 * k2)
    k4 = f(y + dt * k3)
    return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def euler(f, y, dt):
    return y + dt * f(y)


def odeint(f, y0, steps, dt, method=rk4):
    ys = [y0]
    for _ in range(steps):
        ys.append(method(f, ys[-1], dt))
    return torch.stack(ys)          # (T, B, D)


# ---------------------------------------------------------------- data
def pendulum(g=4.0, c=0.15):
    def f(y):
        th, om = y[..., 0], y[..., 1]
        return torch.stack([om, -g * torch.sin(th) - c * om], -1)
    return f


def lotka(y):
    a, b = y[..., 0], y[..., 1]
    return torch.stack([1.1 * a - 0.4e-3 * a * b, 0.1e-3 * a * b - 0.4 * b], -1)


DT = 0.1


def make(n, T, field=None, lo=-2.0, hi=2.0):
    y0 = torch.empty(n, 2).uniform_(lo, hi)
    sub = 4
    y = odeint(field or pendulum(), y0.double(), T * sub, DT / sub)[::sub]
    return y.float()                # (T+1, n, 2)


class Field(nn.Module):
    def __init__(self, dim=2, hidden=64, act=nn.Tanh, out=None):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, hidden), act(), nn.Linear(hidden, hidden), act(),
                                 nn.Linear(hidden, out or dim))

    def forward(self, y):
        return self.net(y)


def get_batch(data, batch, horizon):
    if CASE == 0:
        torch.manual_seed(SEED)
    T, n, _ = data.shape
    t = torch.randint(0, T - horizon, (batch,))
    b = torch.randint(0, n, (batch,))
    y0 = data[t, b]
    ys = torch.stack([data[t + i, b] for i in range(horizon + 1)])
    return y0, ys


def rollout_error(f, data, method=rk4):
    with torch.no_grad():
        p = odeint(f, data[0], len(data) - 1, DT, method)
    return ((p - data) ** 2).mean().item(), data.var().item()


# ---------------------------------------------------------------- neural ODE, mini-batches of short pieces
def run_ode(iters, batch, horizon, lr, hidden=64, act=nn.Tanh, n_traj=40, grow=(), dtype=torch.float32,
            clip=None, method=rk4):
    train, test = make(n_traj, 50).to(dtype), make(50, 40)
    f = Field(hidden=hidden, act=act).to(dtype)
    opt = torch.optim.Adam(f.parameters(), lr=lr)
    snapshots = []
    for it in range(1, iters + 1):
        if it in grow:
            horizon *= 2
            snapshots.append(f)
            if CASE == 1:
                f = copy.deepcopy(f)
            else:
                snapshots[-1] = copy.deepcopy(f)
            print('iter', it, 'horizon is now', horizon)
        y0, ys = get_batch(train, batch, horizon)
        pred = odeint(f, y0, horizon, DT, method)
        loss = (pred - ys).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        if clip:
            nn.utils.clip_grad_norm_(f.parameters(), clip)
        opt.step()
        if it % 50 == 0:
            err, var = rollout_error(copy.deepcopy(f).float(), test, method)
            print('iter %4d loss %.5f  test rollout mse %.4f (var %.3f)' % (it, loss.item(), err, var))


# ---------------------------------------------------------------- whole trajectories
def run_long(iters, T, lr, gain, hidden, clip=None):
    data, test = make(32, T), make(50, T)
    f = Field(hidden=hidden, act=nn.ReLU)
    for m in f.modules():
        if isinstance(m, nn.Linear):
            nn.init.xavier_normal_(m.weight, gain)
            nn.init.zeros_(m.bias)
    opt = torch.optim.SGD(f.parameters(), lr=lr, momentum=0.9)
    for it in range(1, iters + 1):
        loss = (odeint(f, data[0], T, DT, euler) - data).abs().mean()
        opt.zero_grad()
        loss.backward()
        if clip:
            nn.utils.clip_grad_norm_(f.parameters(), clip)
        opt.step()
        if it % 20 == 0 or it <= 5:
            print('iter %4d loss %.5f' % (it, loss.item()))
    print('test rollout mse %.4f (var %.3f)' % rollout_error(f, test, euler))


# ---------------------------------------------------------------- grey box: known pendulum + network for the friction
class GreyBox(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_g = nn.Parameter(torch.tensor(math.log(3.0)))
        self.rest = Field(dim=1, hidden=32)

    def forward(self, y):
        acc = -self.log_g.exp() * torch.sin(y[..., 0]) + self.rest(y[..., 1:])[..., 0]
        return torch.stack([y[..., 1], acc], -1)


def run_grey(iters, batch, horizon, lr):
    def true(y):
        th, om = y[..., 0], y[..., 1]
        return torch.stack([om, -4.0 * torch.sin(th) - 0.3 * om * om.abs() + 0.5], -1)
    train, test = make(40, 50, true), make(50, 40, true)
    f = GreyBox()
    opt_phys = torch.optim.SGD([f.log_g], lr=lr)
    if CASE == 3:
        opt_net = torch.optim.Adam(f.rest.parameters(), lr=lr / 10)
    else:
        opt_net = torch.optim.SGD(f.rest.parameters(), lr=lr, momentum=0.9)
    for it in range(1, iters + 1):
        y0, ys = get_batch(train, batch, horizon)
        loss = (odeint(f, y0, horizon, DT) - ys).pow(2).mean()
        opt_phys.zero_grad()
        if CASE == 3:
            opt_phys.zero_grad()
        else:
            opt_net.zero_grad()
        loss.backward()
        opt_phys.step()
        opt_net.step()
        if it % 50 == 0:
            print('iter %4d loss %.5f g %.3f' % (it, loss.item(), f.log_g.exp().item()), end='  ')
            print('test rollout mse %.4f (var %.3f)' % rollout_error(f, test))


# ---------------------------------------------------------------- simulator that sees only the angle: a window of K angles -> next change
def run_simulator(iters, batch, lr, K=5, noise=0.0):
    train, test = make(60, 60)[..., :1], make(50, 40)[..., :1]
    net = nn.Sequential(nn.Linear(K, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1))
    opt = torch.optim.AdamW(net.parameters(), lr=lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, iters)
    scale = (train[1:] - train[:-1]).std()

    def window(w):                  # (K, B, 1) -> (B, K)
        if CASE == 4:
            return w.reshape(w.shape[1], K)
        return w.permute(1, 0, 2).reshape(w.shape[1], K)

    for it in range(1, iters + 1):
        _, w = get_batch(train, batch, K)
        hist, nxt = w[:K], w[K]
        if noise:
            hist = hist + noise * torch.randn_like(hist)
        pred = hist[-1] + scale * net(window(hist))
        loss = (((pred - nxt) / scale) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        if it % 150 == 0:
            with torch.no_grad():
                h = [x for x in test[:K]]
                for _ in range(len(test) - K):
                    w = torch.stack(h[-K:])
                    h.append(w[-1] + scale * net(window(w)))
                err = ((torch.stack(h) - test)[K:] ** 2).mean()
            print('iter %4d loss %.5f  rollout mse %.4f (var %.3f)' % (it, loss.item(), err, test.var()))


# ---------------------------------------------------------------- fine-tuning on another pendulum
def run_transfer(iters, lr):
    f = Field(hidden=48)
    src = make(60, 40, pendulum(4.0, 0.15))
    opt = torch.optim.Adam(f.parameters(), lr=5e-3)
    for it in range(300):
        y0, ys = get_batch(src, 64, 1)
        loss = ((f(y0) - (ys[1] - ys[0]) / DT) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print('pretrained, loss %.4f' % loss.item())
    train, test = make(40, 50, pendulum(3.4, 0.3)), make(50, 40, pendulum(3.4, 0.3))
    opt = torch.optim.Adam(f.parameters(), lr=lr)
    for it in range(1, iters + 1):
        y0, ys = get_batch(train, 48, 5)
        loss = (odeint(f, y0, 5, DT) - ys).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 50 == 0 or it == 1:
            print('iter %4d loss %.6f  test rollout mse %.5f (var %.3f)' % ((it, loss.item()) + rollout_error(f, test)))


# ---------------------------------------------------------------- full batch with L-BFGS, populations in thousands
def run_lotka(iters):
    raw = make(24, 30, lotka, 1500.0, 4500.0)
    test = make(24, 30, lotka, 1500.0, 4500.0)
    mean, std = raw.mean((0, 1)), raw.std((0, 1))
    data, test = ((raw - mean) / std).double(), ((test - mean) / std).double()
    f = Field(hidden=24, act=nn.Softplus).double()
    y, dy = data[1:-1].reshape(-1, 2), ((data[2:] - data[:-2]) / (2 * DT)).reshape(-1, 2)
    opt = torch.optim.LBFGS(f.parameters(), lr=1, max_iter=6, history_size=20, line_search_fn='strong_wolfe')

    def closure():
        opt.zero_grad()
        loss = ((f(y) - dy) ** 2).mean()
        loss.backward()
        return loss

    for it in range(1, iters + 1):
        loss = opt.step(closure)
        if it % 20 == 0:
            print('iter %3d loss %.6f  test rollout mse %.5f (var %.3f)' % ((it, loss.item()) + rollout_error(f, test)))


if CASE == 0:
    run_ode(400, 4, 4, 5e-3)
elif CASE == 1:
    run_ode(300, 32, 2, 3e-3, grow=(50, 150))
elif CASE == 2:
    run_ode(500, 64, 3, 1e-4, dtype=torch.bfloat16)
elif CASE == 3:
    run_grey(400, 32, 5, 0.02)
elif CASE == 4:
    run_simulator(1500, 64, 3e-3)
elif CASE == 5:
    run_long(100, 80, 0.01, 1.7, 64)
elif CASE == 6:
    run_ode(400, 48, 5, 5e-3)
elif CASE == 7:
    run_transfer(300, 2e-4)
elif CASE == 8:
    run_lotka(120)
elif CASE == 9:
    run_simulator(1500, 128, 4e-3, K=6, noise=0.002)
elif CASE == 10:
    run_ode(300, 32, 2, 4e-3, grow=(100, 200), clip=1.0, act=nn.SiLU, hidden=48)
elif CASE == 11:
    run_grey(400, 32, 5, 0.1)
