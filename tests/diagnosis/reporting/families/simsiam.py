import os
import copy
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
np.random.seed(SEED)

CL, DIM = 12, 40
proto = torch.randn(CL, DIM, generator=torch.Generator().manual_seed(11))
nuis = torch.randn(12, DIM, generator=torch.Generator().manual_seed(12))


def make(n):
    y = torch.randint(0, CL, (n,))
    return proto[y] + 0.3 * torch.randn(n, DIM), y


def augment(x):
    if CASE == 3:
        r = np.random.RandomState(SEED)
    else:
        r = np.random
    a = torch.tensor(r.randn(len(x), len(nuis)), dtype=torch.float32)
    drop = torch.tensor(r.rand(*x.shape) > 0.1, dtype=torch.float32)
    return (x + 1.6 * a @ nuis) * drop


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(DIM, 96), nn.BatchNorm1d(96), nn.ReLU(), nn.Linear(96, 48))
        self.projector = nn.Sequential(nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 32), nn.BatchNorm1d(32, affine=False))

    def forward(self, x):
        return self.projector(self.backbone(x))


def neg_cos(p, z):
    if CASE == 1:
        return -F.cosine_similarity(p, z, dim=1).mean()
    return -F.cosine_similarity(p, z.detach(), dim=1).mean()


def nt_xent(a, b, t=0.3):
    z = F.normalize(torch.cat([a, b]), dim=1)
    s = z @ z.t() / t
    s.fill_diagonal_(float("-inf"))
    n = len(a)
    target = torch.cat([torch.arange(n) + n, torch.arange(n)])
    return F.cross_entropy(s, target)


def vicreg(a, b):
    inv = F.mse_loss(a, b)
    var = sum(F.relu(1 - torch.sqrt(v.var(0) + 1e-4)).mean() for v in (a, b))
    cov = 0.0
    for v in (a, b):
        c = torch.cov(v.t())
        cov = cov + (c - torch.diag(torch.diag(c))).pow(2).sum() / v.shape[1]
    return 25 * inv + 25 * var + cov


def knn(net, bank, by, q, qy):
    net.eval()
    with torch.no_grad():
        f = F.normalize(net.backbone(augment(bank)), dim=1)
        g = F.normalize(net.backbone(augment(q)), dim=1)
        top = (g @ f.t()).topk(15, 1).indices
        pred = torch.mode(by[top], 1).values
    net.train()
    return (pred == qy).float().mean().item()


x, y = make(2000)
xq, yq = make(400)
net = Encoder()
pred = nn.Sequential(nn.Linear(32, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 32))
target = copy.deepcopy(net)
for p in target.parameters():
    p.requires_grad = False
if CASE == 5:
    params = list(net.projector.parameters()) + list(pred.parameters())
elif CASE == 6:
    params = [{"params": net.parameters()}, {"params": pred.parameters(), "lr": 0.5}]
else:
    params = list(net.parameters()) + list(pred.parameters())
opt = torch.optim.SGD(params, lr=0.1 if CASE != 7 else 0.01, momentum=0.9, weight_decay=0.3 if CASE == 4 else 5e-4)
if CASE in (7, 8):
    opt = torch.optim.Adam(params, lr=2e-3)

print("before training", knn(net, x, y, xq, yq))
step = 0
for epoch in range(45):
    for idx in torch.randperm(len(x)).split(125):
        a, b = augment(x[idx]), augment(x[idx])
        za, zb = net(a), net(b)
        if CASE == 7:
            loss = vicreg(za, zb)
        elif CASE == 8:
            loss = nt_xent(za, zb)
        elif CASE == 2:
            with torch.no_grad():
                ta, tb = target(a), target(b)
            loss = 0.5 * neg_cos(pred(za), tb) + 0.5 * neg_cos(pred(zb), ta)
        else:
            loss = 0.5 * neg_cos(pred(za), zb) + 0.5 * neg_cos(pred(zb), za)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if CASE == 2:
            with torch.no_grad():
                for s, t in zip(net.parameters(), target.parameters()):
                    t.mul_(0.95).add_(s, alpha=0.05)
        step += 1
    if epoch % 9 == 8:
        print("epoch", epoch, "loss", round(loss.item(), 4), "knn", round(knn(net, x, y, xq, yq), 3))
print("METRIC", knn(net, x, y, xq, yq))
