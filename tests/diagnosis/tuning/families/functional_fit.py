# Functional-style regression on mixed inputs (a category and five numbers).  Parameters live in a dict, forward is a plain function.
# Several ways to update: L-BFGS on everything, torch optimizers on mini-batches, or update rules written out here; with or
# without averaged weights (EMA / SWA) for the evaluation.
import copy
import math
import os

import numpy as np
import torch
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED + 5)

settings = {
    #     rule       lr     batch steps  average  act     hidden  dtype
    0:  ("lbfgs",   1.0,   None, 110,   None,   "tanh", 40, torch.float64),
    1:  ("adam",    3e-3,  64,   1600,  "ema",  "silu", 64, torch.float32),
    2:  ("heavy",   0.008, 64,   1500,  None,   "tanh", 64, torch.float32),
    3:  ("adamw",   3e-3,  128,  1500,  None,   "silu", 64, torch.float32),
    4:  ("adam",    4e-3,  32,   1800,  "ema",  "silu", 64, torch.float32),
    5:  ("adam",    2e-3,  64,   1500,  None,   "tanh", 16, torch.float32),
    6:  ("sgd",     0.04,  50,   2000,  "swa",  "tanh", 64, torch.float32),
    7:  ("adam",    3e-3,  64,   1500,  None,   "tanh", 48, torch.float32),
    8:  ("heavy",   3e-4,  64,   2000,  None,   "tanh", 64, torch.float64),
    9:  ("lbfgs",   0.8,   None, 100,   None,   "silu", 32, torch.float32),
    10: ("lbfgs",   1.0,   None, 100,   None,   "relu", 400, torch.float64),
    11: ("lion",    1e-3,  16,   2500,  None,   "silu", 96, torch.float32),
}
rule, lr, batch, steps, average, act_name, hidden, dtype = settings[CASE]
act = {"tanh": torch.tanh, "silu": F.silu, "relu": torch.relu}[act_name]
LEVELS, CONT, EMB = 24, 5, 2


# ---------------------------------------------------------------- data
def generate(n, world):
    a, b, w = world
    c = rng.integers(0, LEVELS, n)
    x = rng.normal(size=(n, CONT))
    y = a[c] * np.sin(x @ w) + b[c] + 0.4 * x[:, 0] * x[:, 1] + 0.1 * rng.normal(size=n)
    return torch.as_tensor(c), torch.as_tensor(x, dtype=dtype), torch.as_tensor(y, dtype=dtype)


world = (rng.normal(size=LEVELS), 1.2 * rng.normal(size=LEVELS), 0.7 * rng.normal(size=CONT))
c_tr, x_tr, y_tr = generate(1200 if CASE == 9 else 2400, world)
c_te, x_te, y_te = generate(800, world)
mu, sd = y_tr.mean(), y_tr.std()
y_tr, y_te = (y_tr - mu) / sd, (y_te - mu) / sd


# ---------------------------------------------------------------- model
def glorot(o, i):
    return torch.randn(o, i, dtype=dtype) * math.sqrt(2.0 / (o + i))


def flat(o, i):
    return torch.full((o, i), 1.0 / i, dtype=dtype)


def init_params():
    make = flat if CASE == 7 else glorot
    p = {
        "embed": torch.randn(LEVELS, EMB, dtype=dtype),
        "w0": make(hidden, CONT + EMB), "b0": torch.zeros(hidden, dtype=dtype),
        "gain": torch.ones(hidden, dtype=dtype), "shift": torch.zeros(hidden, dtype=dtype),
        "w1": make(hidden, hidden), "b1": torch.zeros(hidden, dtype=dtype),
        "w2": make(1, hidden), "b2": torch.zeros(1, dtype=dtype),
    }
    if CASE == 10:
        p["embed"] = torch.eye(LEVELS, dtype=dtype)
        p["w0"] = torch.randn(hidden, CONT + LEVELS, dtype=dtype) * 0.7
        p["b0"] = torch.rand(hidden, dtype=dtype) * 4 - 2
        p["w1"], p["b1"] = None, None
        fixed = ("embed", "w0", "b0", "gain", "shift", "w1", "b1")
    else:
        fixed = ()
    for k, v in p.items():
        if v is not None and k not in fixed:
            v.requires_grad_(True)
    return p


def centre(h):
    m = h.mean(1, keepdim=True)
    v = ((h - m) ** 2).mean(1, keepdim=True)
    return (h - m) / torch.sqrt(v + 1e-5)


if CASE == 5:
    centre = torch.no_grad()(centre)


def forward(p, c, x):
    h = torch.cat([x, p["embed"][c]], 1)
    h = F.linear(h, p["w0"], p["b0"])
    if CASE != 10 and CASE != 7:
        h = centre(h)
    h = act(h * p["gain"] + p["shift"])
    if p["w1"] is not None:
        h = act(F.linear(h, p["w1"], p["b1"]))
    return F.linear(h, p["w2"], p["b2"])


def criterion(p, c, x, y):
    out = forward(p, c, x)
    if CASE == 8:
        return (out.squeeze(1) - y).pow(2).sum()
    if CASE == 9:
        return (out - y).square().mean()
    if CASE == 10:
        return F.mse_loss(out[:, 0], y) + 1e-5 * p["w2"].pow(2).sum()
    return F.mse_loss(out[:, 0], y)


@torch.no_grad()
def r2(p):
    res = (forward(p, c_te, x_te)[:, 0] - y_te).pow(2).mean()
    return 1 - (res / y_te.var(unbiased=False)).item()


# ---------------------------------------------------------------- update rules
class HeavyBall(torch.optim.Optimizer):
    def __init__(self, ps, lr, mu):
        super().__init__(ps, dict(lr=lr, mu=mu))

    @torch.no_grad()
    def step(self, closure=None):
        for g in self.param_groups:
            for p in g["params"]:
                s = self.state[p]
                if "v" not in s:
                    s["v"] = torch.zeros_like(p)
                s["v"].mul_(g["mu"]).add_(p.grad)
                p.sub_(g["lr"] * s["v"])


def lion_step(ps, grads, ms, lr, b1=0.9, b2=0.99, wd=0.1):
    with torch.no_grad():
        for p, g, m in zip(ps, grads, ms):
            p.mul_(1 - lr * wd).sub_(lr * torch.sign(b1 * m + (1 - b1) * g))
            m.mul_(b2).add_((1 - b2) * g)


class Average:
    def __init__(self, p, decay):
        self.p, self.decay, self.n = {k: v.detach().clone() for k, v in p.items()}, decay, 0

    @torch.no_grad()
    def update(self, p):
        self.n += 1
        d = self.decay if self.decay is not None else 1 - 1 / self.n
        for k in p:
            self.p[k].mul_(d).add_((1 - d) * p[k])

    @torch.no_grad()
    def put(self, p):
        kept = {k: v.detach().clone() for k, v in p.items()}
        for k in p:
            p[k].copy_(self.p[k])
        return kept


params = init_params()
leaves = [v for v in params.values() if v is not None and v.requires_grad]

if rule == "lbfgs":
    opt = torch.optim.LBFGS(leaves, lr=lr, max_iter=4, history_size=20,
                            line_search_fn="strong_wolfe" if CASE != 9 else None)
elif rule == "adam":
    opt = torch.optim.Adam(leaves, lr=lr)
elif rule == "adamw":
    opt = torch.optim.AdamW([
        {"params": [v for k, v in params.items() if k.startswith("w")], "weight_decay": 0.02},
        {"params": [v for k, v in params.items() if k.startswith("b")], "weight_decay": 0.0}], lr=lr)
elif rule == "sgd":
    opt = torch.optim.SGD(leaves, lr=lr, momentum=0.9)
elif rule == "heavy":
    opt = HeavyBall(leaves, lr=lr, mu=0.995 if CASE == 2 else 0.9)
else:
    opt = None
    ms = [torch.zeros_like(v) for v in leaves]

ema = Average(params, 0.998 if CASE == 4 else 0.99) if average == "ema" else None
swa = Average(params, None) if average == "swa" else None


def minibatch():
    i = torch.randint(0, len(y_tr), (batch,))
    return c_tr[i], x_tr[i], y_tr[i]


every = max(1, steps // 15) if CASE != 4 else 40
for step in range(steps):
    if rule == "lbfgs":
        def closure():
            opt.zero_grad()
            l = criterion(params, c_tr, x_tr, y_tr)
            l.backward()
            return l
        loss = opt.step(closure)
    elif rule == "lion":
        rate = lr * 0.5 * (1 + math.cos(math.pi * step / steps))
        loss = criterion(params, *minibatch())
        lion_step(leaves, torch.autograd.grad(loss, leaves), ms, rate)
    else:
        for q in leaves:
            q.grad = None
        loss = criterion(params, *minibatch())
        loss.backward()
        opt.step()

    if ema is not None:
        ema.update(params)
    if swa is not None:
        t = step % 200
        opt.param_groups[0]["lr"] = lr * (1 - 0.9 * t / 200)
        if t == 199 and step > steps // 3:
            swa.update(params)

    if step % every == every - 1:
        if ema is not None:
            kept = ema.put(params)
            score = r2(params)
            if CASE != 4:
                with torch.no_grad():
                    for k in params:
                        params[k].copy_(kept[k])
        else:
            score = r2(params)
        if CASE != 4 or step % 200 == 199:
            print(f"{step + 1:5d}  loss {loss.item():9.4f}  test R2 {score:.3f}")

final = (ema or swa).p if average else params
print("final R2 %.3f" % r2(final))
