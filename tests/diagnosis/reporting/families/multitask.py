import os
import torch
from torch import nn, optim
from torch.nn import functional as F

torch.set_num_threads(1)
SEED = int(os.environ.get("SEED", 0))
CASE = int(os.environ.get("CASE", 0))
torch.manual_seed(SEED)

DIM, CLASSES = 16, 5
gg = torch.Generator().manual_seed(9)
A, B, Cw = torch.randn(DIM, 12, generator=gg) / 3, torch.randn(12, CLASSES, generator=gg), torch.randn(12, generator=gg)


def world(n):
    x = torch.randn(n, DIM)
    h = torch.sin(1.2 * (x @ A))
    cls = (h @ B).argmax(1)
    reg = h @ Cw + 0.1 * torch.randn(n)
    if CASE == 2:
        reg = reg * 40000 + 250000
    return x, cls, reg


class Trunk(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.l2 = nn.Linear(DIM, 96), nn.Linear(96, 48)

    def forward(self, x):
        return torch.relu(self.l2(torch.relu(self.l1(x))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()
        self.cls_head = nn.Linear(48, CLASSES if CASE != 3 else 1)
        self.reg_head = nn.Linear(48, 1)
        self.extra_head = nn.Linear(48, 7)
        self.s = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        f = self.trunk(x)
        return self.cls_head(f), self.reg_head(f).squeeze(1)


def losses(model, x, c, r):
    lc, lr = model(x)
    if CASE == 3:
        a = F.mse_loss(lc.squeeze(1), c.float())
    else:
        a = F.cross_entropy(lc, c)
    return a, F.mse_loss(lr, r)


x, c, r = world(3000)
xe, ce, re = world(800)
model = Model()
epochs, bs = 14, 60
opt = optim.Adam(model.parameters(), lr=3e-3)
if CASE == 1:
    opt = optim.Adam(list(model.cls_head.parameters()) + list(model.reg_head.parameters()), lr=3e-3)
tasks = None
if CASE in (5, 6, 8):
    model.trunk2 = Trunk()
    def fwd(xx):
        return model.cls_head(model.trunk(xx)), model.reg_head(model.trunk2(xx)).squeeze(1)
    model.forward = fwd
    tasks = [optim.Adam(list(model.trunk.parameters()) + list(model.cls_head.parameters()), lr=3e-3),
             optim.Adam(list(model.trunk2.parameters()) + list(model.reg_head.parameters()), lr=3e-3)]


def evaluate():
    with torch.no_grad():
        lc, lr = model(xe)
        if CASE == 3:
            acc = (lc.squeeze(1).round() == ce).float().mean().item()
        else:
            acc = (lc.argmax(1) == ce).float().mean().item()
        r2 = 1 - (F.mse_loss(lr, re) / re.var()).item()
    return acc, r2


for epoch in range(epochs):
    order = torch.randperm(len(x))
    for k in range(0, len(x), bs):
        i = order[k:k + bs]
        la, lb = losses(model, x[i], c[i], r[i])
        if tasks:
            for o in tasks:
                o.zero_grad()
            la.backward()
            if CASE != 6:
                lb.backward()
            tasks[0].step()
            if CASE != 5:
                tasks[1].step()
            continue
        if CASE == 4:
            total = torch.tensor([la.item(), lb.item()], requires_grad=True).sum()
        elif CASE == 7:
            total = (torch.exp(-model.s[0]) * la + torch.exp(-model.s[1]) * lb + model.s.sum())
        elif CASE == 9:
            total = la if (k // bs) % 2 else lb
        else:
            total = la + lb
        opt.zero_grad()
        total.backward()
        opt.step()
    if epoch % 3 == 1:
        print("epoch", epoch, "losses %.4f %.4f" % (la.item(), lb.item()), "acc %.3f r2 %.3f" % evaluate())
acc, r2 = evaluate()
print("METRIC", 0.5 * (acc + max(r2, 0.0)))
