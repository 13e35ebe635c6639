import os
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.RandomState(SEED + 100)

# ---------------------------------------------------------------- data
def make_clusters(n, dim=12, classes=4, per_class=4, spread=0.75, extra=0):
    r = np.random.RandomState(7 + SEED)
    centers = r.randn(classes * per_class, dim) * 1.2
    which = rng.randint(0, classes * per_class, size=n)
    x = centers[which] + spread * rng.randn(n, dim)
    if extra:
        x = np.concatenate([x, rng.randn(n, extra)], axis=1)
    x = (x - x.mean(0)) / x.std(0)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(which % classes)


def make_curve(n, noise=0.1):
    x = rng.uniform(-1, 1, size=(n, 3))
    y = np.sin(3 * x[:, 0]) + x[:, 1] * x[:, 2] + noise * rng.randn(n)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)


regression = CASE in (6, 9, 10)
n_train, extra = 2000, 0
if CASE == 7:
    n_train, extra = 120, 20
if CASE == 11:
    n_train = 32
if regression:
    noise = 0.6 if CASE == 10 else 0.1
    xa, ya = make_curve(n_train + 600, noise)
else:
    xa, ya = make_clusters(n_train + 600, extra=extra)
x_train, y_train, x_test, y_test = xa[:n_train], ya[:n_train], xa[n_train:], ya[n_train:]
dim = x_train.shape[1]
out = 1 if regression else 4

# ---------------------------------------------------------------- model
class Stack(nn.Module):
    def __init__(self, dim, width, depth, out, act):
        super().__init__()
        self.first = nn.Linear(dim, width)
        self.hidden = [nn.Linear(width, width) for _ in range(depth)]
        if CASE != 2:
            self.hidden = nn.ModuleList(self.hidden)
        self.last = nn.Linear(width, out)
        self.act = act

    def forward(self, x):
        h = self.act(self.first(x))
        for layer in self.hidden:
            h = self.act(layer(h))
        return self.last(h)


if CASE in (0,):
    net = Stack(dim, 48, 1, out, torch.relu)
    for p in net.parameters():
        nn.init.constant_(p, 0.05)
elif CASE == 2:
    net = Stack(dim, 16, 4, out, torch.relu)
elif CASE == 3:
    net = Stack(dim, 64, 2, out, torch.tanh)
    for m in net.modules():
        if isinstance(m, nn.Linear):
            nn.init.normal_(m.weight, 0.0, 2.0)
elif CASE == 4:
    net = Stack(dim, 32, 8, out, torch.sigmoid)
elif CASE == 5:
    net = Stack(dim, 128, 2, out, F.gelu).to(torch.bfloat16)
elif CASE == 7:
    net = nn.Sequential(nn.Linear(dim, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, out))
elif CASE == 12:
    net = nn.Sequential(nn.Linear(dim, 768), nn.ReLU(), nn.Linear(768, out))
elif CASE == 8:
    net = Stack(dim, 32, 5, out, torch.relu)
else:
    net = nn.Sequential(nn.Linear(dim, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, out))

steps, batch = 1300, 64
if CASE == 1:
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.998)
elif CASE == 4:
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
elif CASE == 5:
    opt = torch.optim.SGD(net.parameters(), lr=0.02)
    steps = 1500
elif CASE == 3:
    opt = torch.optim.SGD(net.parameters(), lr=0.02)
elif CASE == 8:
    opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9, nesterov=True, weight_decay=2e-3)
    steps = 900
elif CASE == 12:
    opt = torch.optim.AdamW(net.parameters(), lr=4e-5)
    steps = 1500
elif CASE in (7, 11):
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
else:
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)

dtype = next(net.parameters()).dtype


def criterion(pred, target):
    if regression:
        if CASE == 6:
            return ((pred - target) ** 2).mean()
        if CASE == 9:
            return 1000.0 * F.mse_loss(pred.squeeze(1), target)
        return F.mse_loss(pred.squeeze(1), target)
    return F.cross_entropy(pred.float(), target)


def test():
    net.eval()
    with torch.no_grad():
        p = net(x_test.to(dtype)).float()
        if regression:
            p = p[:, 0]
            r2 = 1 - ((p - y_test) ** 2).sum() / ((y_test - y_test.mean()) ** 2).sum()
            res = r2.item()
        else:
            res = (p.argmax(1) == y_test).float().mean().item()
        l = criterion(net(x_test.to(dtype)), y_test).item()
    net.train()
    return l, res


# ---------------------------------------------------------------- training
best = -1e9
for step in range(steps):
    idx = torch.randint(0, n_train, (batch,)) if CASE != 11 else torch.arange(n_train)
    opt.zero_grad()
    loss = criterion(net(x_train[idx].to(dtype)), y_train[idx])
    loss.backward()
    opt.step()
    if step % 100 == 99 or step == steps - 1:
        tl, tm = test()
        best = max(best, tm)
        print("step %4d train loss %.4f test loss %.4f metric %.3f best %.3f" % (step + 1, loss.item(), tl, tm, best))
if CASE == 11:
    with torch.no_grad():
        print("accuracy on the batch we meant to memorise: %.3f" % (net(x_train).argmax(1) == y_train).float().mean())
