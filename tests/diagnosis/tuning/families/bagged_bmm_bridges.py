"""Twelve bagged networks held in one set of stacked tensors and trained at the same time with baddbmm."""
import os
import torch
import torch.nn as nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)


def bridges(n):
    x = torch.randn(n, 9)
    load = torch.relu(x[:, 0] + 0.5 * x[:, 1]) + 0.4 * x[:, 2] * x[:, 3] + 0.3 * torch.cos(3 * x[:, 4]) - 0.2 * x[:, 5]
    return x, load + 0.4 * torch.randn(n)


class StackedLinear(nn.Module):
    def __init__(self, m, i, o):
        super().__init__()
        b = i ** -0.5
        self.w = nn.Parameter(torch.empty(m, i, o).uniform_(-b, b))
        self.b = nn.Parameter(torch.empty(m, 1, o).uniform_(-b, b))

    def forward(self, x):
        return torch.baddbmm(self.b, x, self.w)


class Committee(nn.Module):
    def __init__(self, m=12, d=9, h=40):
        super().__init__()
        self.m = m
        self.net = nn.Sequential(StackedLinear(m, d, h), nn.ReLU(), StackedLinear(m, h, h), nn.ReLU(), StackedLinear(m, h, 1))

    def forward(self, x):                      # x: (m, batch, d) or (batch, d)
        if x.dim() == 2:
            x = x.expand(self.m, -1, -1)
        return self.net(x).squeeze(-1)


M, N = 12, 900
X, Y = bridges(N + 800)
xv, yv = X[N:], Y[N:]
bags = torch.randint(N, (M, N))                # one bootstrap sample for each member
inbag = torch.zeros(M, N).scatter_(1, bags, 1.0)
net = Committee(M)
opt = torch.optim.Adam(net.parameters(), lr=2e-3, weight_decay=1e-3)
for epoch in range(1, 16):
    order = torch.stack([torch.randperm(N) for _ in range(M)])
    total = 0.
    for k in range(0, N, 30):
        idx = bags.gather(1, order[:, k:k + 30])
        loss = ((net(X[idx]) - Y[idx]) ** 2).mean(1).sum()     # members are independent: sum, not mean
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    if epoch % 3 == 0:
        with torch.no_grad():
            p = net(xv)
            oob = net(X[:N]); w = 1 - inbag
            oob_mse = (((oob * w).sum(0) / w.sum(0).clamp(min=1) - Y[:N]) ** 2)[w.sum(0) > 0].mean()
        single = ((p - yv) ** 2).mean(1)
        print(f"epoch {epoch} sum of losses {total/30:.4f} | val mse single {single.mean():.4f} committee {((p.mean(0)-yv)**2).mean():.4f} out-of-bag {oob_mse:.4f} var {yv.var():.3f}")
