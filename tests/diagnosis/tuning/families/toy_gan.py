import os

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)

S, Z, B = 8, (32 if CASE == 8 else 12), 48
LOSS = {3: "hinge"}.get(CASE, "wgan")
STEPS = {8: 600, 2: 300, 3: 200}.get(CASE, 360)
N_CRITIC = {2: 3, 3: 1, 7: 1, 8: 1}.get(CASE, 2)
N_GEN = 6 if CASE == 3 else 1
G_LR = {5: 1e-3}.get(CASE, 2e-3)
D_LR = {5: 4e-3}.get(CASE, 2e-3)
BETAS = (0.5, 0.95)


def pictures(n):
    k = torch.randint(0, 4, (n,))
    yy = torch.arange(S)[:, None].expand(S, S)
    xx = torch.arange(S)[None, :].expand(S, S)
    fields = [yy < 4, xx < 4, (yy + xx) < 7, (yy - xx).abs() < 2]
    bank = torch.stack([f.float() for f in fields])
    img = bank[k] * (0.6 + 0.4 * torch.rand(n, 1, 1))
    img = (img + 0.04 * torch.randn(n, S, S)).clamp(0, 1)
    return (img * 2 - 1)[:, None], k


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(Z, 32 * 4)
        self.up1 = nn.ConvTranspose2d(32, 24, 4, 2, 1)
        self.up2 = nn.ConvTranspose2d(24, 1, 4, 2, 1)
        self.n0, self.n1 = nn.BatchNorm2d(32), nn.BatchNorm2d(24)

    def forward(self, z):
        h = F.relu(self.n0(self.fc(z).view(-1, 32, 2, 2)))
        h = F.relu(self.n1(self.up1(h)))
        out = self.up2(h)
        if CASE == 6:
            return torch.sigmoid(out)
        return torch.tanh(out)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, 24, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(24, 32, 4, 2, 1),
                                 nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(32 * 4, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


def penalty(D, real, fake):
    a = torch.rand(len(real), 1, 1, 1)
    mid = (a * real + (1 - a) * fake).requires_grad_(True)
    g, = torch.autograd.grad(D(mid).sum(), mid, create_graph=True)
    return ((g.flatten(1).norm(dim=1) - 1) ** 2).mean()


def d_loss(D, real, fake):
    r, f = D(real), D(fake)
    if LOSS == "hinge":
        loss = F.relu(1 - r).mean() + F.relu(1 + f).mean()
        return loss if CASE == 3 else loss + 2 * penalty(D, real, fake)
    return f.mean() - r.mean() + (10 if CASE == 5 else 5) * penalty(D, real, fake)


def g_loss(out):
    return -out.mean()


xj, kj = pictures(1200)
judge = nn.Sequential(nn.Flatten(), nn.Linear(S * S, 32), nn.ReLU(), nn.Linear(32, 4))
jo = torch.optim.Adam(judge.parameters(), lr=5e-3)
for _ in range(60):
    i = torch.randint(0, len(xj), (128,))
    l = F.cross_entropy(judge(xj[i]), kj[i])
    jo.zero_grad()
    l.backward()
    jo.step()
for q in judge.parameters():
    q.requires_grad_(False)
protos = torch.stack([xj[kj == k].mean(0) for k in range(4)])


@torch.no_grad()
def report(G):
    G.eval()
    f = G(torch.randn(256, Z))
    G.train()
    d = ((f[:, None] - protos[None]) ** 2).mean((2, 3, 4))
    near, k = d.min(1)
    ok = near < 0.12
    share = torch.bincount(k[ok], minlength=4).float() / 256
    return ok.float().mean().item(), (share > 0.04).sum().item(), f.std(0).mean().item()


real_all, _ = pictures(60 if CASE == 10 else 2500)
G, D = Generator(), Discriminator()
g_opt = torch.optim.Adam(G.parameters(), lr=G_LR, betas=BETAS)
d_opt = torch.optim.Adam(D.parameters(), lr=D_LR, betas=BETAS)
if CASE == 9:
    def init(m):
        if isinstance(m, (nn.Conv2d, nn.ConvTranspose2d, nn.Linear)):
            m.weight = nn.Parameter(torch.randn_like(m.weight) * 0.06)
    G.apply(init)
    D.apply(init)
bench_z = torch.randn(B, Z)

for step in range(STEPS):
    for _ in range(N_CRITIC):
        real = real_all[torch.randint(0, len(real_all), (B,))]
        if CASE == 11:
            z = bench_z[:1].expand(B, Z)
        else:
            z = torch.randn(B, Z)
        fake = G(z)
        loss_d = d_loss(D, real, fake.detach())
        if CASE != 7:
            d_opt.zero_grad()
        loss_d.backward()
        d_opt.step()
    for _ in range(N_GEN):
        if CASE == 11:
            z = bench_z[:1].expand(B, Z)
        else:
            z = torch.randn(B, Z)
        fake = G(z)
        loss_g = g_loss(D(fake.detach() if CASE == 1 else fake))
        if CASE == 4:
            loss_g = -loss_g
        g_opt.zero_grad()
        if CASE == 7:
            keep = [None if q.grad is None else q.grad.clone() for q in D.parameters()]
        loss_g.backward()
        if CASE == 7:
            for q, k in zip(D.parameters(), keep):
                q.grad = k
        g_opt.step()
    if step % 50 == 49:
        good, modes, spread = report(G)
        print(f"step {step + 1} d {loss_d.item():.3f} g {loss_g.item():.3f} good {good:.2f} modes {modes} spread {spread:.3f}")
