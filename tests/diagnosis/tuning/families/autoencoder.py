import os
import torch
import torch.nn as nn
from torch.utils.data import DataLoader

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", "0"))
torch.manual_seed(int(os.environ.get("SEED", "0")))

DIM, LATENT = 40, 4


def world():
    f = nn.Sequential(nn.Linear(LATENT, 32), nn.Tanh(), nn.Linear(32, DIM))
    with torch.no_grad():
        f[0].weight.normal_(0, 0.9)
        f[2].weight.normal_(0, 0.4)
    return f


@torch.no_grad()
def sample(f, n):
    z = torch.rand(n, LATENT) * 3 - 1.5
    if CASE in (7, 10):
        return z @ torch.randn(LATENT, DIM, generator=torch.Generator().manual_seed(3)) + 0.05 * torch.randn(n, DIM)
    x = f(z)
    return x + 0.03 * torch.randn_like(x)


class Tied(nn.Module):
    """decoder uses the transposed encoder matrices"""

    def __init__(self):
        super().__init__()
        self.w1 = nn.Parameter(torch.randn(DIM, 64) / DIM ** 0.5)
        self.w2 = nn.Parameter(torch.randn(64, 6) / 8)
        self.b = nn.ParameterList([nn.Parameter(torch.zeros(k)) for k in (64, 6, 64, DIM)])

    def forward(self, x):
        h = torch.tanh(x @ self.w1 + self.b[0])
        z = h @ self.w2 + self.b[1]
        h = torch.tanh(z @ self.w2.T + self.b[2])
        return h @ self.w1.T + self.b[3]


def build():
    act = nn.Tanh
    if CASE == 9:
        return Tied()
    if CASE == 7:
        return nn.Sequential(nn.Linear(DIM, 4), nn.Linear(4, DIM))
    if CASE == 10:
        return nn.Sequential(nn.Linear(DIM, 20), nn.Linear(20, 4), nn.Linear(4, 20), nn.Linear(20, DIM))
    k = 1 if CASE == 4 else 5
    if CASE == 3:
        return nn.Sequential(nn.Linear(DIM, 64), nn.Linear(64, 32), nn.Linear(32, k), nn.Linear(k, 32),
                             nn.Linear(32, 64), nn.Linear(64, DIM))
    net = nn.Sequential(nn.Linear(DIM, 64), act(), nn.Linear(64, 32), act(), nn.Linear(32, k), nn.Linear(k, 32), act(),
                        nn.Linear(32, 64), act(), nn.Linear(64, DIM))
    if CASE == 5:
        net.add_module("out", nn.Sigmoid())
    for m in net:
        if isinstance(m, nn.Linear):
            if CASE == 1:
                nn.init.constant_(m.weight, 0.05)
                nn.init.zeros_(m.bias)
            elif CASE == 2:
                nn.init.normal_(m.weight, 0, 4.0)
    return net


f = world()
train, test = sample(f, 4000), sample(f, 800)
mean, std = train.mean(0), train.std(0)
train, test = (train - mean) / std, (test - mean) / std
net = build()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.9)
crit = nn.MSELoss()
for epoch in range(20):
    tot = 0
    for x in DataLoader(train, batch_size=100, shuffle=True):
        inp = x
        if CASE == 8:
            inp = x * (torch.rand_like(x) > 0.2)
        opt.zero_grad()
        loss = crit(net(inp), x)
        if CASE != 6:
            loss.backward()
        opt.step()
        tot += loss.item()
    sched.step()
    with torch.no_grad():
        err = crit(net(test), test).item()
    if epoch % 2 == 1:
        print("epoch", epoch, "train", tot / 40, "test", err)
print("METRIC", err)
