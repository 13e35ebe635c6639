"""Robot arm inverse dynamics. Phase one at a large rate; then ONCE back to the best weights with a fresh optimizer and a smaller, warm rate."""
import copy
import os
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)


def arm(n):
    q, dq, ddq = torch.rand(n, 2) * 6.283 - 3.1416, torch.randn(n, 2), torch.randn(n, 2)
    c2, s2 = torch.cos(q[:, 1]), torch.sin(q[:, 1])
    t1 = (2 + 1.2 * c2) * ddq[:, 0] + (0.6 + 0.6 * c2) * ddq[:, 1] - 0.6 * s2 * (2 * dq[:, 0] * dq[:, 1] + dq[:, 1] ** 2) + 3 * torch.cos(q[:, 0])
    t2 = (0.6 + 0.6 * c2) * ddq[:, 0] + 0.6 * ddq[:, 1] + 0.6 * s2 * dq[:, 0] ** 2 + torch.cos(q.sum(1))
    x = torch.cat([torch.cos(q), torch.sin(q), dq, ddq], 1)
    y = torch.stack([t1, t2], 1)
    return x, (y + 0.15 * torch.randn_like(y))


xtr, ytr = arm(6000)
xva, yva = arm(1500)
scale = ytr.std(0)
ytr, yva = ytr / scale, yva / scale
net = nn.Sequential(nn.Linear(8, 96), nn.Tanh(), nn.Linear(96, 96), nn.Tanh(), nn.Linear(96, 2))


def val():
    with torch.no_grad():
        return F.mse_loss(net(xva), yva).item()


def phase(name, opt, sched, epochs, bs):
    best, state = float("inf"), None
    for e in range(epochs):
        run = 0.0
        for idx in torch.randperm(len(xtr)).split(bs):
            loss = F.mse_loss(net(xtr[idx]), ytr[idx])
            opt.zero_grad(); loss.backward(); opt.step()
            if sched is not None:
                sched.step()
            run += loss.item() * len(idx)
        v = val()
        if v < best:
            best, state = v, copy.deepcopy(net.state_dict())
        print(f"{name} epoch {e} lr {opt.param_groups[0]['lr']:.5f} train {run / len(xtr):.4f} val {v:.4f} best {best:.4f}")
    return best, state


opt = torch.optim.Adam(net.parameters(), lr=8e-3)
best, state = phase("phase 1", opt, None, 8, 100)
net.load_state_dict(state)
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, 4e-3, total_steps=8 * 60, pct_start=0.1)
best2, state = phase("phase 2", opt, sched, 8, 100)
net.load_state_dict(state)
print("noise floor", [round(v, 4) for v in (0.15 ** 2 / scale ** 2).tolist()], "final", round(val(), 4))
