import os
import copy
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
seed = int(os.environ.get("SEED", 0))
CASE = int(os.environ.get("CASE", 0))
torch.manual_seed(seed)

MODES = 8
centers = torch.stack([torch.tensor([math.cos(2 * math.pi * k / MODES), math.sin(2 * math.pi * k / MODES)]) for k in range(MODES)]) * 2


def real_batch(n):
    k = torch.randint(0, MODES, (n,))
    return centers[k] + 0.08 * torch.randn(n, 2)


def mlp(i, o, h=64, act=nn.ReLU):
    return nn.Sequential(nn.Linear(i, h), act(), nn.Linear(h, h), act(), nn.Linear(h, o))


G, D = mlp(4, 2), mlp(2, 1, act=lambda: nn.LeakyReLU(0.2))
ema = copy.deepcopy(G)
GP = CASE in (0, 1, 2, 4, 7, 9)
BCE = CASE in (3, 6)
if CASE in (5, 8):
    optD = torch.optim.RMSprop(D.parameters(), lr=2e-3)
    optG = torch.optim.RMSprop(G.parameters(), lr=1e-3)
else:
    optD = torch.optim.Adam(D.parameters(), lr=2e-3, betas=(0.5, 0.9))
    optG = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.9))
if CASE == 3:
    optG = torch.optim.Adam(G.parameters(), lr=2e-3, betas=(0.5, 0.9))
    optD = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.9))


def penalty(a, b):
    e = torch.rand(len(a), 1)
    x = (e * a + (1 - e) * b).requires_grad_(True)
    gr, = torch.autograd.grad(D(x).sum(), x, create_graph=True)
    return ((gr.norm(2, dim=1) - 1) ** 2).mean()


def critic_step(B):
    x, fake = real_batch(B), G(torch.randn(B, 4)).detach()
    if BCE:
        loss = F.softplus(-D(x)).mean() + F.softplus(D(fake)).mean()
    elif CASE == 2:
        loss = -torch.mean(D(x) + torch.mean(D(fake)))
    else:
        loss = -torch.mean(D(x)) + torch.mean(D(fake))
    if GP:
        loss = loss + 1.0 * penalty(x, fake)
    optD.zero_grad()
    loss.backward()
    optD.step()
    if CASE in (5, 8):
        for p in D.parameters():
            p.data.clamp_(-0.1, 0.1)
    if CASE == 8:
        for p in G.parameters():
            p.data.clamp_(-0.02, 0.02)
    return loss.item()


def generator_step(B):
    fake = G(torch.randn(B, 4))
    if CASE == 4:
        fake = fake.detach().requires_grad_(True)
    score = D(fake)
    if BCE:
        loss = F.softplus(-score).mean()
    elif CASE == 1:
        loss = score.mean()
    else:
        loss = -score.mean()
    optG.zero_grad()
    loss.backward()
    optG.step()
    with torch.no_grad():
        for a, b in zip(ema.parameters(), G.parameters()):
            a.lerp_(b, 0.02)
    return loss.item()


def quality(net):
    """mean distance of samples to the nearest centre plus the share of missed modes"""
    with torch.no_grad():
        s = net(torch.randn(1000, 4))
        d = torch.cdist(s, centers)
        near, which = d.min(1)
        hist = torch.bincount(which[near < 0.5], minlength=MODES).float() / 1000
        missed = (hist < 0.02).float().mean().item()
    return near.mean().item() + missed


steps = 1200 if CASE == 5 else 700
nd, ng = (1, 10) if CASE == 3 else ((1, 1) if CASE == 6 else (3, 1))
if CASE == 3:
    steps = 250
for it in range(steps):
    for _ in range(nd):
        ld = critic_step(100)
    for _ in range(ng):
        lg = generator_step(100)
    if it % (steps // 5) == 0:
        print("it", it, "critic %.4f gen %.4f quality %.3f" % (ld, lg, quality(G)), "spread %.3f" % G(torch.randn(300, 4)).std(0).mean().item())
print("METRIC", quality(ema if CASE == 7 else G))
