import copy
import os
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits as bce, softplus

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", "0"))
torch.manual_seed(int(os.environ.get("SEED", "0")))
Z = 16


def real_images(n):
    """one soft bar, at any of 8 rows or 8 columns, in [-1, 1]"""
    k = torch.randint(0, 8, (n,))
    line = torch.exp(-0.5 * (torch.arange(8.0)[None] - k[:, None]) ** 2 / 0.6)
    img = line[:, :, None].expand(n, 8, 8)
    flip = (torch.rand(n) < 0.5)[:, None, None]
    img = torch.where(flip, img.transpose(1, 2), img)
    return (img * 2 - 1 + 0.05 * torch.randn(n, 8, 8)).clamp(-1, 1)[:, None]


def init(m):
    if isinstance(m, (nn.Conv2d, nn.ConvTranspose2d, nn.Linear)):
        nn.init.normal_(m.weight, 0, 0.05)


G = nn.Sequential(
    nn.Linear(Z, 32 * 2 * 2), nn.Unflatten(1, (32, 2, 2)), nn.BatchNorm2d(32), nn.ReLU(),
    nn.ConvTranspose2d(32, 24, 4, 2, 1), nn.BatchNorm2d(24), nn.ReLU(),
    nn.ConvTranspose2d(24, 1, 4, 2, 1), nn.Tanh())
D = nn.Sequential(
    nn.Conv2d(1, 24, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(24, 32, 4, 2, 1), nn.LeakyReLU(0.2),
    nn.Flatten(), nn.Linear(32 * 4, 1))
if CASE == 11:
    G.apply(init), D.apply(init)

lr_g = lr_d = 1e-3
if CASE == 4:
    lr_g, lr_d = 1e-2, 5e-5
opt_g = torch.optim.Adam(G.parameters(), lr=lr_g, betas=(0.5, 0.99))
opt_d = torch.optim.Adam(D.parameters(), lr=lr_d, betas=(0.5, 0.99))
if CASE == 2:
    opt_g = torch.optim.Adam(D.parameters(), lr=lr_g, betas=(0.5, 0.99))
if CASE == 7:
    opt_g, opt_d = torch.optim.RMSprop(G.parameters(), 1e-3), torch.optim.RMSprop(D.parameters(), 1e-3)
ema = copy.deepcopy(G) if CASE == 9 else None


@torch.no_grad()
def distance(net, n=1000):
    """sliced Wasserstein distance to real images"""
    gen = torch.Generator().manual_seed(1)
    w = torch.randn(64, 64, generator=gen)
    w = w / w.norm(dim=0)
    a = (net(torch.randn(n, Z)).flatten(1) @ w).sort(0)[0]
    b = (real_images(n).flatten(1) @ w).sort(0)[0]
    return (a - b).abs().mean().item()


B = 48
d_steps = {7: 3, 10: 2}.get(CASE, 1)
for it in range(700):
    for _ in range(d_steps):
        x = real_images(B)
        fake = G(torch.randn(B, Z)).detach()
        dr, df = D(x), D(fake)
        if CASE == 7:
            loss_d = df.mean() - dr.mean()
        elif CASE == 8:
            loss_d = ((dr - 1) ** 2).mean() + (df ** 2).mean()
        elif CASE == 10:
            loss_d = (1 - dr).relu().mean() + (1 + df).relu().mean()
        else:
            loss_d = bce(dr, torch.full_like(dr, 0.9 if CASE == 9 else 1.0)) + bce(df, torch.zeros_like(df))
        if CASE != 5:
            opt_d.zero_grad()
        loss_d.backward()
        opt_d.step()
        if CASE == 7:
            for p in D.parameters():
                p.data.clamp_(-0.1, 0.1)
    z = torch.randn(B, Z)
    fake = G(z)
    if CASE == 1:
        fake = fake.detach()
    out = D(fake)
    if CASE in (7, 10):
        loss_g = -out.mean()
    elif CASE == 8:
        loss_g = ((out - 1) ** 2).mean()
    elif CASE == 3:
        loss_g = bce(out, torch.zeros_like(out))
    else:
        loss_g = bce(out, torch.ones_like(out))
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    if ema is not None:
        with torch.no_grad():
            for a, b in zip(ema.parameters(), G.parameters()):
                a.lerp_(b, 0.05)
            for a, b in zip(ema.buffers(), G.buffers()):
                a.copy_(b)
    if (it + 1) % 100 == 0:
        print(f"{it + 1:4d} D {loss_d.item():.3f} G {loss_g.item():.3f} distance {distance(ema or G):.4f}")
print("METRIC", distance(ema or G))
