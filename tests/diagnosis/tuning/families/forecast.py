import os, math, copy
import numpy as np
import torch
from torch import nn
from torch.nn.utils import weight_norm

CASE, SEED = int(os.getenv("CASE", "5")), int(os.getenv("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)

# hourly visitors of a museum
T = 3000
t = np.arange(T)
series = 5200 + 1400 * np.sin(2 * np.pi * t / 24) + 700 * np.sin(2 * np.pi * t / 168 + 1) + 400 * np.sin(2 * np.pi * t / 12 + 2)
ar = np.zeros(T)
for i in range(1, T):
    ar[i] = 0.8 * ar[i - 1] + rng.normal() * 180
series = (series + ar).astype(np.float32)
SPLIT = 2400
mean, std = series[:SPLIT].mean(), series[:SPLIT].std()
WIN = 36


def windows(s):
    x = np.stack([s[i:i + WIN] for i in range(len(s) - WIN)])
    y = s[WIN:]
    return torch.from_numpy(x)[..., None], torch.from_numpy(np.ascontiguousarray(y))


class GRUNet(nn.Module):
    def __init__(self, h=32):
        super().__init__()
        self.rnn = nn.GRU(1, h, batch_first=True)
        self.head = nn.Linear(h, 1)

    def forward(self, x):
        o, _ = self.rnn(x)
        return self.head(o[:, -1])


class Block(nn.Module):
    def __init__(self, ci, co, d):
        super().__init__()
        self.pad = 2 * d
        self.conv = weight_norm(nn.Conv1d(ci, co, 3, dilation=d))
        self.res = nn.Conv1d(ci, co, 1) if ci != co else nn.Identity()

    def forward(self, x):
        z = self.conv(nn.functional.pad(x, (self.pad, 0)))
        return torch.relu(z) + self.res(x)


class TCN(nn.Module):
    def __init__(self, c=24):
        super().__init__()
        self.net = nn.Sequential(Block(1, c, 1), Block(c, c, 2), Block(c, c, 4), Block(c, c, 8))
        self.head = nn.Linear(c, 1)

    def forward(self, x):
        return self.head(self.net(x.transpose(1, 2))[..., -1])


class InUnits(nn.Module):
    """forecast in visitors"""
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.register_buffer("m", torch.tensor(mean))
        self.register_buffer("s", torch.tensor(std))

    def forward(self, x):
        return self.net((x - self.m) / self.s) * self.s + self.m


def batches(x, y, bs):
    perm = torch.randperm(len(x))
    for i in range(0, len(x) - bs + 1, bs):
        j = perm[i:i + bs]
        yield x[j], y[j]


norm = (series - mean) / std
xtr, ytr = windows(norm[:SPLIT])
xva, yva = windows(norm[SPLIT:])
unit = std
if CASE == 1:
    ytr = windows(series[:SPLIT])[1]
    yva = windows(series[SPLIT:])[1]
    unit = 1.0
if CASE == 7:
    xtr, ytr = windows(series[:SPLIT])
    xva, yva = windows(series[SPLIT:])
    unit = 1.0
if CASE == 4:
    xva = windows(series[SPLIT:])[0]


def skill(model):
    model.eval()
    with torch.no_grad():
        p = model(xva).reshape(-1)
    model.train()
    rmse = ((p - yva) ** 2).mean().sqrt().item() * unit
    return 1 - rmse / std, rmse


EPOCHS, BS = 8, 48
if CASE == 8:
    # autoregression on the last day and a half, all data at once
    model = nn.Sequential(nn.Flatten(), nn.Linear(WIN, 1))
    opt = torch.optim.LBFGS(model.parameters(), lr=1.0, max_iter=4, history_size=10, line_search_fn="strong_wolfe")
    for it in range(60):
        def closure():
            opt.zero_grad()
            l = ((model(xtr)[:, 0] - ytr) ** 2).mean()
            l.backward()
            return l
        l = opt.step(closure)
        if it % 10 == 0:
            print("iter", it, "mse", float(l), "val rmse", skill(model)[1])
elif CASE == 10:
    # walk along the series with the state carried over, one chunk at a time
    class Walker(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn = nn.GRU(1, 32, batch_first=True)
            self.head = nn.Linear(32, 1)

        def forward(self, x, h=None):
            o, h = self.rnn(x, h)
            return self.head(o), h
    walker = Walker()
    opt = torch.optim.Adam(walker.parameters(), lr=4e-3)
    z = torch.from_numpy(norm)
    n = 0
    for epoch in range(10):
        h = None
        for i in range(0, SPLIT - 33, 32):
            x, y = z[i:i + 32].view(1, 32, 1), z[i + 1:i + 33].view(1, 32, 1)
            out, h = walker(x, h)
            h = h.detach()
            loss = nn.functional.mse_loss(out, y)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(walker.parameters(), 0.25)
            opt.step()
            n += 1
            if n % 75 == 0:
                print(epoch, n, loss.item())

    class Last(nn.Module):
        def forward(self, x):
            return walker(x)[0][:, -1]
    model = Last()
else:
    if CASE == 6:
        model, opt = TCN(), None
        opt = torch.optim.RMSprop(model.parameters(), lr=1e-3)
        criterion = nn.SmoothL1Loss(beta=0.5)
    elif CASE == 7:
        model = InUnits(GRUNet())
        opt = torch.optim.Adam(model.parameters(), lr=5e-3)
        criterion = nn.MSELoss()
    else:
        model = GRUNet()
        opt = torch.optim.Adam(model.parameters(), lr=5e-3)
        criterion = nn.MSELoss()
    sched = plateau = None
    best, best_state, bad = math.inf, None, 0
    if CASE == 3:
        sched = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.8)
    elif CASE == 9:
        plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.3, patience=1)
        EPOCHS = 14
    for epoch in range(EPOCHS):
        tot, k = 0.0, 0
        for x, y in batches(xtr, ytr, BS):
            opt.zero_grad()
            pred = model(x)
            if CASE == 2:
                loss = criterion(pred, y)
            else:
                loss = criterion(pred.squeeze(-1), y)
            loss.backward()
            opt.step()
            tot, k = tot + loss.item(), k + 1
            if sched:
                sched.step()
        sk, rmse = skill(model)
        print(f"epoch {epoch + 1:2d}  train {tot / k:.4f}  val rmse {rmse:.1f} visitors  lr {opt.param_groups[0]['lr']:.2e}")
        if plateau:
            plateau.step(rmse)
            if rmse < best:
                best, best_state, bad = rmse, copy.deepcopy(model.state_dict()), 0
            else:
                bad += 1
                if bad == 4:
                    print("early stop")
                    break
    if best_state:
        model.load_state_dict(best_state)
print("METRIC %.4f" % skill(model)[0])
