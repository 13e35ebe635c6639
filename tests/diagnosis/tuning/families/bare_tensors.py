import math
import os

import numpy as np
import torch

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)
rng = np.random.RandomState(SEED)

CLASSES = 3


def spirals(n):
    k = rng.randint(0, CLASSES, n)
    r = rng.rand(n) * 0.9 + 0.1
    a = 4.2 * r + 2 * math.pi * k / CLASSES + 0.12 * rng.randn(n)
    x = np.stack([r * np.cos(a), r * np.sin(a)], 1)
    return torch.tensor(x, dtype=torch.float32) * 2, torch.tensor(k)


x_train, y_train = spirals(2400)
x_test, y_test = spirals(1200)
H = 400 if CASE == 3 else 64
sizes = [2, H, CLASSES] if CASE == 3 else [2, H, H, CLASSES]


def weight(n_in, n_out):
    if CASE == 5:
        w = torch.empty(n_out, n_in).normal_(0, math.sqrt(2 / n_in)).requires_grad_()
        return w.t()
    if CASE == 6:
        w = torch.zeros(n_in, n_out)
    else:
        w = torch.empty(n_in, n_out).normal_(0, math.sqrt(2 / n_in))
    if CASE == 4:
        w = w.double()
    if CASE == 8:
        w = w.bfloat16()
    return w.requires_grad_()


W, B = [], []
for n_in, n_out in zip(sizes[:-1], sizes[1:]):
    W.append(weight(n_in, n_out))
    b = torch.zeros(n_out)
    if CASE == 4:
        b = b.double()
    if CASE == 8:
        b = b.bfloat16()
    B.append(b.requires_grad_())
if CASE == 3:
    W[0] = (torch.randn(2, H) * 2.5)
    B[0] = (torch.rand(H) * 2 * math.pi)
if CASE == 4:
    x_train, x_test = x_train.double(), x_test.double()
params = [p for p in W + B if p.requires_grad]


def forward(x):
    for i in range(len(W)):
        x = x @ W[i].to(x.dtype) + B[i].to(x.dtype)
        if i < len(W) - 1:
            x = torch.cos(x) if CASE == 3 else x.clamp(min=0)
    return x


def nll(z, y):
    hot = torch.nn.functional.one_hot(y, CLASSES).to(z.dtype)
    if CASE == 10:
        e = torch.exp(z)
        p = e / e.sum(1, keepdim=True)
        return -(hot * torch.log(p) + (1 - hot) * torch.log(1 - p)).sum(1)
    return torch.logsumexp(z, 1) - (hot * z).sum(1)


def accuracy():
    with torch.no_grad():
        return (forward(x_test).argmax(1) == y_test).float().mean().item()


if CASE == 1:
    opt = torch.optim.Adam(params, lr=3e-3)
elif CASE == 10:
    opt = torch.optim.Adam(params, lr=1e-2)
elif CASE == 4:
    opt = torch.optim.LBFGS(params, lr=0.5, max_iter=5, history_size=20)
else:
    opt = None
velocity = [torch.zeros_like(p) for p in params]
lr = {2: 1.2e-4, 3: 0.1, 7: 0.05, 8: 0.01}.get(CASE, 0.05)
mu = 0.0 if CASE == 8 else 0.9
total = 0.0
STEPS = 100 if CASE == 4 else 1500
for step in range(STEPS):
    if CASE in (2, 4):
        xb, yb = x_train[:600], y_train[:600]
    else:
        idx = torch.from_numpy(rng.randint(0, len(x_train), 400 if CASE == 9 else 96))
        xb, yb = x_train[idx], y_train[idx]

    if CASE == 4:
        def closure():
            opt.zero_grad()
            value = nll(forward(xb), yb).mean() + 1e-4 * sum((w ** 2).sum() for w in W)
            value.backward()
            return value
        loss = opt.step(closure)
    else:
        per = nll(forward(xb), yb)
        loss = per.sum() if CASE == 2 else per.mean()
        if opt is not None:
            opt.zero_grad()
            loss.backward()
            opt.step()
        else:
            loss.backward()
            with torch.no_grad():
                for p, v in zip(params, velocity):
                    if p.grad is None:
                        continue
                    v.mul_(mu).add_(p.grad)
                    p.sub_(lr * v)
                    if CASE != 7:
                        p.grad = None
    if CASE == 9:
        total = total + loss
    else:
        total = total + loss.item()
    if step % (STEPS // 5) == STEPS // 5 - 1:
        print(f"{step + 1}: mean loss {float(total) / (step + 1):.4f} test accuracy {accuracy():.3f}")

print("final accuracy", round(accuracy(), 4))
