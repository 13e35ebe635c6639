# toy GAN: points on eight spots of a circle
import os
import math
import torch
import torch.nn as nn

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", 0))
torch.manual_seed(int(os.environ.get("SEED", 0)))

nz = 8
batch = 32 if CASE == 3 else 128
steps = 1500 if CASE != 3 else 1800
centres = torch.tensor([[math.cos(2 * math.pi * k / 8), math.sin(2 * math.pi * k / 8)] for k in range(8)]) * 2.0


def real_points(n):
    return centres[torch.randint(0, 8, (n,))] + 0.1 * torch.randn(n, 2)


def mlp(i, h, o, act):
    return nn.Sequential(nn.Linear(i, h), act(), nn.Linear(h, h), act(), nn.Linear(h, o))


def leaky():
    return nn.LeakyReLU(0.2)


netG = mlp(nz, 64, 2, nn.ReLU)
if CASE == 9:
    netG.add_module("last", nn.Sigmoid())
netD = mlp(2, 64, 1, leaky)
if CASE == 10:
    netD.add_module("last", nn.Sigmoid())


def init_weights(m):
    if isinstance(m, nn.Linear):
        nn.init.xavier_uniform_(m.weight)
        nn.init.zeros_(m.bias)


netG.apply(init_weights)
netD.apply(init_weights)
criterion = nn.BCEWithLogitsLoss()
lrG = lrD = 1e-3
if CASE == 4:
    lrG, lrD = 5e-4, 1e-3
if CASE == 11:
    lrG = lrD = 0.1
optG = torch.optim.Adam(netG.parameters(), lr=lrG, betas=(0.5, 0.999))
optD = torch.optim.Adam((netG if CASE == 6 else netD).parameters(), lr=lrD, betas=(0.5, 0.999))
smooth = 0.9 if CASE == 2 else 1.0
ones, zeros = torch.ones(batch, 1), torch.zeros(batch, 1)

for it in range(steps):
    # discriminator
    x = real_points(batch)
    z = torch.randn(batch, nz)
    fake = netG(z)
    lossD = criterion(netD(x), ones * smooth) + criterion(netD(fake.detach()), zeros)
    netD.zero_grad()
    lossD.backward()
    optD.step()

    # generator
    if CASE in (1, 6):
        fake = netG(torch.randn(batch, nz))
    scores = netD(fake.detach() if CASE == 5 else fake)
    lossG = criterion(scores, zeros if CASE == 7 else ones)
    netG.zero_grad()
    lossG.backward()
    optG.step()
    if CASE == 8:
        with torch.no_grad():
            for p in netD.parameters():
                p.clamp_(-0.01, 0.01)
    if it % 150 == 0 or it == steps - 1:
        print("[%d/%d] Loss_D: %.4f Loss_G: %.4f D(x): %.3f D(G(z)): %.3f" % (
            it, steps, lossD.item(), lossG.item(), torch.sigmoid(netD(x)).mean().item(), torch.sigmoid(scores).mean().item()))

with torch.no_grad():
    g = netG(torch.randn(2000, nz))
    d = torch.cdist(g, centres)
    near = d.min(1).values < 0.4
    hit = torch.bincount(d.argmin(1)[near], minlength=8)
    print("points near a spot: %.2f, spots covered: %d/8, spread %.3f" % (near.float().mean(), (hit > 40).sum(), g.std(0).mean()))
