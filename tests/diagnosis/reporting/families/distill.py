import os
import math
import copy
import torch
import torch.nn as nn
import torch.nn.functional as F
from collections import OrderedDict

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
C, DIM = 8, 20
gen = torch.Generator().manual_seed(21)
W1, W2 = torch.randn(DIM, 24, generator=gen), torch.randn(24, C, generator=gen)


def draw(n):
    x = torch.randn(n, DIM)
    z = torch.sin(x @ W1 / 5.0) @ W2
    return x, z.argmax(1)


def mlp(h, depth, drop=0.0):
    layers, d = [], DIM
    for _ in range(depth):
        layers += [nn.Linear(d, h), nn.ReLU(), nn.Dropout(drop)]
        d = h
    return nn.Sequential(*layers, nn.Linear(d, C))


def accuracy(net, x, y):
    mode = net.training
    net.eval()
    with torch.no_grad():
        a = (net(x).argmax(1) == y).float().mean().item()
    net.train(mode)
    return a


def train_teacher(x, y):
    t = mlp(128, 2, 0.3)
    opt = torch.optim.Adam(t.parameters(), 2e-3)
    for ep in range(7):
        for idx in torch.randperm(len(x)).split(100):
            opt.zero_grad()
            F.cross_entropy(t(x[idx]), y[idx]).backward()
            opt.step()
    return t


def kd_loss(s, t, T):
    if CASE == 1:
        return F.kl_div(F.softmax(s / T, 1), F.softmax(t / T, 1), reduction="batchmean") * T * T
    if CASE == 2:
        soft_in, soft_t = F.log_softmax(t / T, 1), F.softmax(t / T, 1)
        return F.kl_div(soft_in, soft_t, reduction="batchmean") * T * T + 0.0 * s.sum()
    return F.kl_div(F.log_softmax(s / T, 1), F.softmax(t / T, 1), reduction="batchmean") * T * T


xt, yt = draw(4000)
xe, ye = draw(1500)
teacher = train_teacher(xt, yt)
if CASE == 3:
    state = OrderedDict(("model." + k, v) for k, v in teacher.state_dict().items())
    teacher = mlp(128, 2, 0.3)
    teacher.load_state_dict(state, strict=False)
teacher.eval()
for p in teacher.parameters():
    p.requires_grad = False
print("teacher ready")
xs, _ = draw(3000)
student = mlp(64, 1)
opt = torch.optim.Adam(student.parameters(), lr=4e-3)
if CASE == 4:
    student = mlp(64, 1)
if CASE == 7:
    hint = nn.Linear(64, 128)
    opt.add_param_group({"params": hint.parameters()})
T = 1.0 if CASE == 8 else 3.0
if CASE == 5:
    teacher.train()
    for m in teacher.modules():
        if isinstance(m, nn.Dropout):
            m.p = 0.9
if CASE == 6:
    student = copy.deepcopy(teacher)
    student.train()
    for p in student.parameters():
        p.requires_grad = True
    opt = torch.optim.SGD(student.parameters(), lr=1e-3)

for ep in range(12):
    tot = 0.0
    for idx in torch.randperm(len(xs)).split(64):
        x = xs[idx]
        with torch.no_grad():
            target = teacher(x)
        out = student(x)
        loss = kd_loss(out, target, T)
        if CASE == 7:
            with torch.no_grad():
                feat = teacher[:5](x)
            loss = loss + 0.5 * F.mse_loss(hint(student[:2](x)), feat)
        if CASE == 8:
            loss = loss + 1.0 * F.mse_loss(out, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item()
    if ep % 3 == 2:
        print("epoch", ep, "kd", round(tot / (len(xs) / 64), 4), "acc", round(accuracy(student, xe, ye), 4))
print("METRIC", accuracy(student, xe, ye))
