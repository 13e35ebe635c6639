"""Siamese self-supervision (BYOL / SimSiam / Barlow Twins / VICReg) on small synthetic pictures, with a linear probe."""
import copy
import math
import os

import torch
from torch import nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
torch.set_num_threads(1)

METHOD = {0: "simsiam", 1: "byol", 2: "byol", 3: "barlow", 4: "byol", 5: "simsiam",
          6: "vicreg", 7: "vicreg", 8: "barlow", 9: "barlow", 10: "byol", 11: "simsiam"}[CASE]
HP = dict(width=12, feat=48, proj=48, batch=64, steps=500, lr=2e-3, wd=1e-4, opt="adamw", tau=0.97,
          norm="bn", act=nn.ReLU, schedule=None)
HP.update({
    0: dict(opt="sgd", lr=0.06, batch=64, steps=400),
    1: dict(schedule="warm_cosine", steps=600, lr=3e-3, tau=0.95),
    2: dict(steps=400, opt="adam", lr=1e-3),
    3: dict(opt="sgd", lr=0.002, batch=80, steps=500, proj=32),
    4: dict(tau=0.95, lr=1.5e-3, wd=0.0),
    5: dict(opt="sgd", lr=0.06, batch=64, steps=600, schedule="warm_cosine", wd=5e-4),
    6: dict(act=nn.GELU, lr=1e-3),
    7: dict(lr=2e-3, opt="adam"),
    8: dict(batch=48, lr=1e-3, opt="adam", steps=600),
    9: dict(batch=64, steps=500, lr=2e-3, opt="adam", schedule="step"),
    10: dict(norm="gn", wd=0.05, lr=1.5e-3, tau=0.99, steps=600, act=nn.SiLU),
    11: dict(opt="sgd", lr=0.05, batch=64, steps=500),
}[CASE])


# ----------------------------------------------------------------- data
N_CLASS = 8
g = torch.Generator().manual_seed(1234)
yy, xx = torch.meshgrid(torch.arange(16.0), torch.arange(16.0), indexing="ij")


def template():
    img = torch.zeros(16, 16)
    for _ in range(4):
        cy, cx = torch.rand(2, generator=g) * 9 + 3
        a = torch.rand(1, generator=g) * math.pi
        u = (yy - cy) * torch.cos(a) + (xx - cx) * torch.sin(a)
        v = -(yy - cy) * torch.sin(a) + (xx - cx) * torch.cos(a)
        img += torch.exp(-(u ** 2) / 8 - (v ** 2) / 0.8)
    return img


TEMPLATES = torch.stack([template() for _ in range(N_CLASS)])


def roll_each(x):
    b = x.shape[0]
    dy, dx = torch.randint(-2, 3, (b, 1, 1)), torch.randint(-2, 3, (b, 1, 1))
    iy = (torch.arange(16).view(1, 16, 1) + dy) % 16
    ix = (torch.arange(16).view(1, 1, 16) + dx) % 16
    return x[torch.arange(b).view(b, 1, 1), iy, ix]


def pictures(n):
    y = torch.randint(0, N_CLASS, (n,))
    x = roll_each(TEMPLATES[y]) * (0.7 + 0.6 * torch.rand(n, 1, 1)) + 0.25 * torch.randn(n, 16, 16)
    return x.unsqueeze(1), y


def view_of(x):
    x = roll_each(x.squeeze(1))
    x = x * (0.6 + 0.8 * torch.rand(len(x), 1, 1)) + 0.2 * torch.randn_like(x)
    flip = torch.rand(len(x)) < 0.15
    cy = torch.randint(0, 12, (len(x), 1, 1))
    cx = torch.randint(0, 12, (len(x), 1, 1))
    hole = ((yy >= cy) & (yy < cy + 5) & (xx >= cx) & (xx < cx + 5)) & flip.view(-1, 1, 1)
    return x.masked_fill(hole, 0.0).unsqueeze(1)


# ----------------------------------------------------------------- networks
def norm2d(c):
    return nn.BatchNorm2d(c) if HP["norm"] == "bn" else nn.GroupNorm(4, c)


class Encoder(nn.Module):
    def __init__(self, w, out):
        super().__init__()
        act = HP["act"]
        self.net = nn.Sequential(
            nn.Conv2d(1, w, 5, stride=2, padding=2, bias=False), norm2d(w), act(),
            nn.Conv2d(w, 2 * w, 3, stride=2, padding=1, bias=False), norm2d(2 * w), act(),
            nn.Conv2d(2 * w, out, 3, padding=1, bias=False), norm2d(out), act())

    def forward(self, x):
        return self.net(x).mean((2, 3))


def mlp(i, h, o, last_norm=False):
    layers = [nn.Linear(i, h), nn.BatchNorm1d(h), HP["act"](), nn.Linear(h, o)]
    if last_norm:
        layers.append(nn.BatchNorm1d(o, affine=False))
    return nn.Sequential(*layers)


class SSL(nn.Module):
    def __init__(self):
        super().__init__()
        f, p = HP["feat"], HP["proj"]
        self.encoder = Encoder(HP["width"], f)
        self.projector = mlp(f, 2 * p, p, last_norm=(METHOD == "simsiam" and CASE != 0))
        if METHOD in ("byol", "simsiam"):
            self.predictor = mlp(p, p // 2, p)

    def project(self, x):
        return self.projector(self.encoder(x))


def neg_cos(p, z):
    return -F.cosine_similarity(p, z, dim=-1).mean()


def barlow(za, zb, lam=0.02):
    n, d = za.shape
    za = (za - za.mean(0)) / (za.std(0) + 1e-4)
    zb = (zb - zb.mean(0)) / (zb.std(0) + 1e-4)
    c = za.t() @ zb / n
    on = (torch.diagonal(c) - 1).pow(2).sum()
    off = (c - torch.diag(torch.diagonal(c))).pow(2).sum()
    return on + lam * off


def vicreg(za, zb):
    sim = F.mse_loss(za, zb)
    total = 25 * sim
    for z in (za, zb):
        std = torch.sqrt(z.var(0) + 1e-4)
        zc = z - z.mean(0)
        cov = zc.t() @ zc / (len(z) - 1)
        off = (cov.pow(2).sum() - torch.diagonal(cov).pow(2).sum()) / z.shape[1]
        total = total + 25 * F.relu(1 - std).mean() + off
    return total


@torch.no_grad()
def ema(source, dest, tau):
    for s, d in zip(source.parameters(), dest.parameters()):
        d.mul_(tau).add_(s, alpha=1 - tau)
    for s, d in zip(source.buffers(), dest.buffers()):
        d.copy_(s)


# ----------------------------------------------------------------- pretraining
x_all, y_all = pictures(2600)
x_un = x_all[:2000]
model = SSL()
target = None
if METHOD == "byol":
    if CASE == 2:
        target = nn.Sequential(model.encoder, model.projector)
    else:
        target = copy.deepcopy(nn.Sequential(model.encoder, model.projector))
    for q in target.parameters():
        q.requires_grad = False

if CASE in (6, 7):
    backbone, rest = model.encoder.parameters(), model.projector.parameters()
    if CASE == 7:
        print("backbone parameters:", sum(q.numel() for q in backbone))
    groups = [{"params": backbone, "lr": HP["lr"]}, {"params": rest, "lr": HP["lr"] * 2}]
else:
    groups = [q for q in model.parameters() if q.requires_grad]
if HP["opt"] == "sgd":
    opt = torch.optim.SGD(groups, lr=HP["lr"], momentum=0.9, weight_decay=HP["wd"])
elif HP["opt"] == "adam":
    opt = torch.optim.Adam(groups, lr=HP["lr"])
else:
    opt = torch.optim.AdamW(groups, lr=HP["lr"], weight_decay=HP["wd"])

sched = None
if HP["schedule"] == "warm_cosine":
    sched = torch.optim.lr_scheduler.LambdaLR(
        opt, lambda k: min(k / 50, 0.5 * (1 + math.cos(math.pi * k / HP["steps"]))))
elif HP["schedule"] == "step":
    sched = torch.optim.lr_scheduler.StepLR(opt, step_size=4, gamma=0.5)

online_probe = None
if CASE == 8:
    online_probe = nn.Linear(HP["feat"], N_CLASS)
    probe_opt = torch.optim.Adam(online_probe.parameters(), lr=5e-3)


def batches(n, size):
    while True:
        perm = torch.randperm(n)
        for i in range(0, n - size + 1, size):
            yield perm[i:i + size]


model.train()
feed = batches(len(x_un), HP["batch"])
for step in range(1, HP["steps"] + 1):
    idx = next(feed)
    xb = x_un[idx]
    v1, v2 = view_of(xb), view_of(xb)
    if METHOD == "byol":
        with torch.no_grad():
            t1, t2 = target(v1), target(v2)
        loss = neg_cos(model.predictor(model.project(v1)), t2) + neg_cos(model.predictor(model.project(v2)), t1)
    elif METHOD == "simsiam":
        z1, z2 = model.project(v1), model.project(v2)
        p1, p2 = model.predictor(z1), model.predictor(z2)
        if CASE == 0:
            loss = 0.5 * (neg_cos(p1, z2) + neg_cos(p2, z1))
        else:
            loss = 0.5 * (neg_cos(p1, z2.detach()) + neg_cos(p2, z1.detach()))
    elif METHOD == "barlow":
        loss = barlow(model.project(v1), model.project(v2))
    else:
        loss = vicreg(model.project(v1), model.project(v2))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if sched is not None:
        sched.step()
    if METHOD == "byol" and CASE != 2:
        if CASE == 4:
            ema(target, nn.Sequential(model.encoder, model.projector), HP["tau"])
        else:
            ema(nn.Sequential(model.encoder, model.projector), target, HP["tau"])
    if online_probe is not None:
        with torch.no_grad():
            h = model.encoder(v1)
        ploss = F.cross_entropy(online_probe(h.detach()), y_all[:2000][idx])
        probe_opt.zero_grad()
        ploss.backward()
        probe_opt.step()
    if step % 50 == 0:
        print(f"step {step:4d}  {METHOD} loss {loss.item():.4f}  lr {opt.param_groups[0]['lr']:.2e}")

# ----------------------------------------------------------------- linear probe
model.eval()
with torch.no_grad():
    feats = model.encoder(x_all)
mu, sd = feats[:2000].mean(0), feats[:2000].std(0) + 1e-5
feats = (feats - mu) / sd
print("feature spread", (sd / (mu.abs() + 1e-3)).mean().item())

if CASE == 11:
    fit_idx = torch.randperm(len(feats))[:40]
    test_idx = fit_idx[torch.randperm(len(fit_idx))]
else:
    fit_idx, test_idx = torch.arange(0, 400), torch.arange(2000, 2600)

probe = nn.Linear(HP["feat"], N_CLASS)
popt = torch.optim.Adam(probe.parameters(), lr=5e-3)
for ep in range(30):
    for chunk in fit_idx[torch.randperm(len(fit_idx))].split(len(fit_idx) // 8):
        loss = F.cross_entropy(probe(feats[chunk]), y_all[chunk])
        popt.zero_grad()
        loss.backward()
        popt.step()
    if ep % 10 == 9:
        with torch.no_grad():
            acc = (probe(feats[test_idx]).argmax(1) == y_all[test_idx]).float().mean().item()
        print(f"probe epoch {ep} loss {loss.item():.4f} accuracy {acc:.3f}")
