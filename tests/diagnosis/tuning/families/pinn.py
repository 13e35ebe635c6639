"""Physics-informed network for the 1-D Poisson problem  u'' = f,  u(-1) = u(1) = 0,  and relatives."""
import math
import os

import torch
import torch.nn as nn

CASE = int(os.environ.get("CASE", "5"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
PI = math.pi


class Sine(nn.Module):
    def forward(self, x):
        return torch.sin(x)


class Net(nn.Module):
    def __init__(self, n_in=1, width=32, depth=3, act=nn.Tanh):
        super().__init__()
        sizes = [n_in] + [width] * depth
        hidden = [nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:])]
        if CASE == 4:
            self.hidden = hidden
        else:
            self.hidden = nn.ModuleList(hidden)
        self.act = act()
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        for layer in self.hidden:
            x = self.act(layer(x))
        return self.out(x)


def diff(y, x):
    return torch.autograd.grad(y, x, grad_outputs=torch.ones_like(y), create_graph=True)[0]


def exact(x):
    return torch.sin(PI * x)


def source(x):
    return -PI ** 2 * torch.sin(PI * x)


def rel_l2(predict):
    x = torch.linspace(-1, 1, 401).unsqueeze(1)
    with torch.no_grad():
        return ((predict(x) - exact(x)).norm() / exact(x).norm()).item()


def poisson(net):
    """the usual soft-constraint PINN with Adam"""
    xb = torch.tensor([[-1.0], [1.0]])
    x = torch.linspace(-1, 1, 64).unsqueeze(1).requires_grad_(True)
    f = source(x.detach())
    if CASE == 3:
        f = source(torch.linspace(-1, 1, 64))
    lr = 2e-3
    if CASE == 2:
        lr = 0.5
    opt = torch.optim.Adam(net.parameters(), lr=lr)
    for it in range(1, 1201):
        opt.zero_grad()
        u = net(x)
        u_x = diff(u, x)
        if CASE == 1:
            u_xx = torch.autograd.grad(u_x, x, grad_outputs=torch.ones_like(u_x), retain_graph=True)[0]
        else:
            u_xx = diff(u_x, x)
        loss_pde = torch.mean((u_xx - f) ** 2)
        loss_bc = torch.mean(net(xb) ** 2)
        loss = loss_pde + 20.0 * loss_bc
        loss.backward()
        opt.step()
        if it % 200 == 0:
            print(f"it {it:5d}  pde {loss_pde.item():.3e}  bc {loss_bc.item():.3e}  err {rel_l2(net):.3e}")
    return rel_l2(net)


def poisson_lbfgs(net):
    xb = torch.tensor([[-1.0], [1.0]])
    x = torch.linspace(-1, 1, 64).unsqueeze(1).requires_grad_(True)
    f = source(x.detach())
    opt = torch.optim.LBFGS(net.parameters(), lr=1.0, max_iter=5, history_size=50, line_search_fn="strong_wolfe")
    last = [0.0]

    def closure():
        opt.zero_grad()
        u = net(x)
        loss = ((diff(diff(u, x), x) - f) ** 2).mean() + 20 * (net(xb) ** 2).mean()
        loss.backward()
        last[0] = loss.item()
        return loss

    for outer in range(120):
        opt.step(closure)
        if outer % 20 == 0:
            print("outer", outer, "loss %.4e" % last[0], "err %.3e" % rel_l2(net))
    return rel_l2(net)


def inverse(net):
    """find lambda in u'' = -lambda * u + noise-free data; true lambda is pi^2"""
    lam = nn.Parameter(torch.tensor(4.0))
    xd = torch.rand(40, 1) * 2 - 1
    ud = exact(xd) + 0.01 * torch.randn(40, 1)
    opt_net = torch.optim.Adam(net.parameters(), lr=2e-3)
    opt_lam = torch.optim.Adam([lam], lr=0.05)
    x = torch.linspace(-1, 1, 64).unsqueeze(1).requires_grad_(True)
    step = 0
    while step < 1200:
        u = net(x)
        res = diff(diff(u, x), x) + lam * u
        loss = 100 * nn.functional.mse_loss(net(xd), ud) + 0.1 * res.pow(2).mean()
        opt_net.zero_grad()
        opt_lam.zero_grad()
        loss.backward()
        opt_net.step()
        opt_lam.step()
        step += 1
        if step % 200 == 0:
            print(f"{step}: loss {loss.item():.5f} lambda {lam.item():.4f}")
    print("lambda error", abs(lam.item() - PI ** 2))
    return rel_l2(net)


def resampled(net):
    """collocation points are drawn again for each step, gradients are clipped"""
    xb = torch.tensor([[-1.0], [1.0]])
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 1200, eta_min=1e-4)
    for it in range(1200):
        x = (torch.rand(48, 1) * 2 - 1).requires_grad_(True)
        loss = ((diff(diff(net(x), x), x) - source(x.detach())) ** 2).sum() + 500 * (net(xb) ** 2).sum()
        opt.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        sched.step()
        if it % 200 == 199:
            print("iter", it + 1, "loss", round(loss.item(), 4), "grad norm", round(norm.item(), 2))
    return rel_l2(net)


def heat():
    """u_t = a u_xx on [-1,1] x [0,1], u(x,0) = sin(pi x)"""
    net = Net(n_in=2)
    a = 0.1
    opt = torch.optim.Adam(net.parameters(), lr=4e-3)
    sched = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.999)
    for epoch in range(1000):
        x = (torch.rand(100, 1) * 2 - 1).requires_grad_(True)
        t = torch.rand(100, 1).requires_grad_(True)
        u = net(torch.cat([x, t], 1))
        res = diff(u, t) - a * diff(diff(u, x), x)
        x0 = torch.rand(50, 1) * 2 - 1
        ic = net(torch.cat([x0, torch.zeros_like(x0)], 1)) - exact(x0)
        tb = torch.rand(50, 1)
        side = torch.where(torch.rand(50, 1) < 0.5, -1.0, 1.0)
        bc = net(torch.cat([side, tb], 1))
        loss = res.square().mean() + 5 * ic.square().mean() + 5 * bc.square().mean()
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        sched.step()
        if epoch % 200 == 0:
            print(f"epoch {epoch} loss {loss:.5f}")
    xs = torch.linspace(-1, 1, 101).unsqueeze(1)
    ts = torch.full_like(xs, 0.5)
    with torch.no_grad():
        ref = exact(xs) * math.exp(-a * PI ** 2 * 0.5)
        return ((net(torch.cat([xs, ts], 1)) - ref).norm() / ref.norm()).item()


def deep_ritz(net):
    """minimise the energy  1/2 |u'|^2 + f u  with the boundary values built in"""
    def u_of(x):
        return (1 - x ** 2) * net(x)

    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    n = 128
    for i in range(1500):
        x = (torch.arange(n) + torch.rand(n)).div(n).mul(2).sub(1).unsqueeze(1).requires_grad_(True)
        u = u_of(x)
        energy = 2 * (0.5 * diff(u, x) ** 2 + source(x.detach()) * u).mean()
        opt.zero_grad()
        energy.backward()
        opt.step()
        if (i + 1) % 300 == 0:
            print("step", i + 1, "energy", energy.item(), "err", rel_l2(u_of))
    return rel_l2(u_of)


if CASE == 6:
    metric = poisson_lbfgs(Net(width=20))
elif CASE == 7:
    metric = inverse(Net())
elif CASE == 8:
    metric = resampled(Net(act=Sine))
elif CASE == 9:
    metric = heat()
elif CASE == 10:
    metric = deep_ritz(Net())
else:
    metric = poisson(Net())
print("METRIC rel_l2 %.5f" % metric)
