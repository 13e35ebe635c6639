"""Adversarial training on small dial images: every step first searches a worst-case perturbation, then trains on it."""
import os
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
S = 14


def dials(n):
    y = torch.randint(8, (n,))
    ang = y * (2 * torch.pi / 8) + 0.15 * torch.randn(n)
    g = torch.linspace(-1, 1, S)
    yy, xx = torch.meshgrid(g, g, indexing="ij")
    dx, dy = torch.cos(ang)[:, None, None], torch.sin(ang)[:, None, None]
    along = xx * dx + yy * dy
    across = (xx * dy - yy * dx).abs()
    img = torch.sigmoid((0.25 - across) * 12) * (along > -0.1) * (along < 0.9)
    return (img * (0.5 + 0.5 * torch.rand(n, 1, 1)) + 0.2 * torch.randn(n, S, S))[:, None].clamp(0, 1), y


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.c2 = nn.Conv2d(1, 12, 3, 2, 1), nn.Conv2d(12, 24, 3, 2, 1)
        self.fc = nn.Sequential(nn.Linear(24 * 16, 64), nn.ReLU(), nn.Linear(64, 8))

    def forward(self, x):
        return self.fc(F.relu(self.c2(F.relu(self.c1(x)))).flatten(1))


def attack(model, x, y, eps=0.12, alpha=0.05, iters=4):
    delta = torch.empty_like(x).uniform_(-eps, eps)
    for _ in range(iters):
        delta.requires_grad_(True)
        loss = F.cross_entropy(model((x + delta).clamp(0, 1)), y)
        grad, = torch.autograd.grad(loss, delta)
        delta = (delta.detach() + alpha * grad.sign()).clamp(-eps, eps)
    return (x + delta).clamp(0, 1).detach()


x, y = dials(2000)
xv, yv = dials(400)
model = Net()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(1, 9):
    tot, hits = 0., 0
    for i in torch.randperm(len(x)).split(80):
        adv = attack(model, x[i], y[i])
        out = model(adv)
        loss = F.cross_entropy(out, y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(i)
        hits += (out.argmax(1) == y[i]).sum().item()
    clean = (model(xv).argmax(1) == yv).float().mean().item()
    robust = (model(attack(model, xv, yv)).argmax(1) == yv).float().mean().item()
    print(f"epoch {epoch} adversarial loss {tot/len(x):.4f} adversarial acc {hits/len(x):.3f} | val clean {clean:.3f} val robust {robust:.3f}")
