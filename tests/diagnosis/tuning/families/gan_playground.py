import os
import math
import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)
torch.set_num_threads(1)

PRESETS = {
    0: "--loss wgan --critic-steps 4 --lr 1e-3 --opt rmsprop",
    1: "--loss wgan-gp --critic-steps 3 --lr 1e-3 --beta1 0.5",
    2: "--loss bce --gen-steps 8 --lr-g 3e-3 --lr 2e-4 --steps 350",
    3: "--loss bce --lr 1e-3 --beta1 0.5 --steps 900",
    4: "--loss hinge --lr 1e-3 --beta1 0.5 --critic-steps 2",
    5: "--loss bce --lr 1e-3 --beta1 0.5 --steps 900",
    6: "--loss wgan --critic-steps 4 --lr 1e-3 --opt rmsprop",
    7: "--data stripes --loss bce --lr 2e-3 --beta1 0.5 --steps 500 --batch 48",
    8: "--loss bce --lr 1e-3 --beta1 0.5 --steps 900",
    9: "--loss bce --lr 1e-3 --beta1 0.5 --smooth 0.1 --steps 900",
    10: "--data stripes --loss bce --lr 2e-3 --beta1 0.5 --steps 500 --batch 48",
}
ap = argparse.ArgumentParser()
ap.add_argument("--data", default="ring", choices=["ring", "stripes"])
ap.add_argument("--loss", default="bce", choices=["bce", "wgan", "wgan-gp", "hinge"])
ap.add_argument("--opt", default="adam")
ap.add_argument("--lr", type=float, default=1e-3)
ap.add_argument("--lr-g", type=float, default=None)
ap.add_argument("--beta1", type=float, default=0.9)
ap.add_argument("--critic-steps", type=int, default=1)
ap.add_argument("--gen-steps", type=int, default=1)
ap.add_argument("--clip", type=float, default=0.1)
ap.add_argument("--smooth", type=float, default=0.0)
ap.add_argument("--batch", type=int, default=128)
ap.add_argument("--steps", type=int, default=500)
ap.add_argument("--z", type=int, default=8)
args = ap.parse_args(PRESETS[CASE].split())


def real_batch(n):
    k = torch.randint(8, (n,))
    if args.data == "ring":
        ang = k * (2 * math.pi / 8)
        return torch.stack([ang.cos(), ang.sin()], 1) * 2 + 0.2 * torch.randn(n, 2)
    x = -torch.ones(n, 1, 8, 8)
    for m in range(4):
        x[k == m, :, 2 * m:2 * m + 2, :] = 1
        x[k == m + 4, :, :, 2 * m:2 * m + 2] = 1
    return (x + 0.1 * torch.randn_like(x)).clamp(-1, 1)


if args.data == "ring":
    G = nn.Sequential(nn.Linear(args.z, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
    D = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
else:
    G = nn.Sequential(
        nn.Linear(args.z, 32 * 4), nn.Unflatten(1, (32, 2, 2)), nn.BatchNorm2d(32), nn.ReLU(),
        nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.BatchNorm2d(16), nn.ReLU(),
        nn.ConvTranspose2d(16, 1, 4, 2, 1), nn.Tanh())
    D = nn.Sequential(
        nn.Conv2d(1, 16, 4, 2, 1), nn.LeakyReLU(0.2),
        nn.Conv2d(16, 32, 4, 2, 1), nn.LeakyReLU(0.2),
        nn.Flatten(), nn.Linear(128, 1))


def optim(params, lr):
    if args.opt == "rmsprop":
        return torch.optim.RMSprop(params, lr=lr)
    return torch.optim.Adam(params, lr=lr, betas=(args.beta1, 0.999))


opt_d = optim(D.parameters(), args.lr)
opt_g = optim((D if CASE == 5 else G).parameters(), args.lr_g or args.lr)


def loss_d(r, f):
    if args.loss == "bce":
        one = torch.full_like(r, 1 - args.smooth)
        return F.binary_cross_entropy_with_logits(r, one) + F.binary_cross_entropy_with_logits(f, torch.zeros_like(f))
    if args.loss == "hinge":
        return F.relu(1 - r).mean() + F.relu(1 + f).mean()
    return f.mean() - r.mean()


def loss_g(f):
    if args.loss == "bce":
        return F.binary_cross_entropy_with_logits(f, torch.ones_like(f))
    if CASE == 6:
        return f.mean()
    return -f.mean()


def penalty(real, fake):
    a = torch.rand(len(real), 1)
    x = (a * real + (1 - a) * fake).requires_grad_()
    g, = torch.autograd.grad(D(x).sum(), x, create_graph=True)
    return 2.0 * ((g.norm(2, 1) - 1) ** 2).mean()


@torch.no_grad()
def coverage(n=512):
    """modes reached, and the share of samples close to one"""
    G.eval()
    s = G(torch.randn(n, args.z))
    G.train()
    if args.data == "ring":
        ang = torch.arange(8) * (2 * math.pi / 8)
        c = torch.stack([ang.cos(), ang.sin()], 1) * 2
        d = torch.cdist(s, c)
        lim = 0.6
    else:
        c = -torch.ones(8, 8, 8)
        for k in range(4):
            c[k, 2 * k:2 * k + 2, :] = 1
            c[k + 4, :, 2 * k:2 * k + 2] = 1
        d = torch.cdist(s.flatten(1), c.flatten(1)) / 8
        lim = 0.5
    m, who = d.min(1)
    ok = m < lim
    hits = torch.bincount(who[ok], minlength=8)
    return int((hits > n / 100).sum()), ok.float().mean().item()


log = {"d": [], "g": [], "fake": []}
for step in range(1, args.steps + 1):
    for _ in range(args.critic_steps):
        real = real_batch(args.batch)
        with torch.no_grad():
            fake = G(torch.randn(args.batch, args.z))
        if CASE != 8:
            opt_d.zero_grad()
        ld = loss_d(D(real), D(fake))
        if args.loss == "wgan-gp":
            ld = ld + penalty(real, fake)
        ld.backward()
        opt_d.step()
        if args.loss == "wgan":
            for p in D.parameters():
                p.data.clamp_(-args.clip, args.clip)

    for _ in range(args.gen_steps):
        opt_g.zero_grad()
        fake = G(torch.randn(args.batch, args.z))
        if CASE == 3:
            fake = fake.detach()
        lg = loss_g(D(fake))
        lg.backward()
        opt_g.step()

    log["d"].append(ld.item())
    log["g"].append(lg.item())
    if CASE == 10:
        log["fake"].append(fake)
    else:
        log["fake"] = [fake.detach()]
    if step % 100 == 0:
        modes, good = coverage()
        print(f"{step:5d}  D {sum(log['d'][-50:]) / 50:8.4f}  G {sum(log['g'][-50:]) / 50:8.4f}  modes {modes}/8  good {good:.2f}")
print(len(log["fake"]), "batches of samples kept, last mean", round(log["fake"][-1].mean().item(), 3))
