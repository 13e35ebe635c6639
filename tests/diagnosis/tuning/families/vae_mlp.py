import os
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)


def blobs(n, s=10):
    cx, cy = torch.rand(n, 1, 1) * 6 + 2, torch.rand(n, 1, 1) * 6 + 2
    r = torch.rand(n, 1, 1) * 1.5 + 1.0
    g = torch.arange(float(s))
    d = ((g[None, :, None] - cy) ** 2 + (g[None, None, :] - cx) ** 2).sqrt()
    return torch.sigmoid((r - d) * 4).reshape(n, s * s)


class VAE(nn.Module):
    def __init__(self, d=100, h=96, z=6):
        super().__init__()
        self.e1, self.e2 = nn.Linear(d, h), nn.Linear(h, h)
        self.mu, self.lv = nn.Linear(h, z), nn.Linear(h, z)
        self.d1, self.d2, self.d3 = nn.Linear(z, h), nn.Linear(h, h), nn.Linear(h, d)

    def encode(self, x):
        h = F.relu(self.e2(F.relu(self.e1(x))))
        return self.mu(h), (0.5 * self.lv(h)).exp()

    def decode(self, z):
        return self.d3(F.relu(self.d2(F.relu(self.d1(z)))))

    def forward(self, x):
        mu, std = self.encode(x)
        if CASE == 5:
            z = Normal(mu, std).sample()
        else:
            z = mu + std * torch.randn_like(std)
        return self.decode(z), mu, std


def elbo(out, x, mu, std, step):
    kl = -0.5 * (1 + 2 * std.log() - mu ** 2 - std ** 2).sum(1).mean()
    if CASE == 3:
        kl = 0.5 * (1 + 2 * std.log() - mu ** 2 - std ** 2).sum(1).mean()
    if CASE == 7:
        rec = (0.5 * ((torch.sigmoid(out) - x) / 0.1) ** 2 + math.log(0.1)).sum(1).mean()
    elif CASE == 2:
        rec = F.binary_cross_entropy_with_logits(out, x)
    else:
        rec = F.binary_cross_entropy_with_logits(out, x, reduction="none").sum(1).mean()
    beta = 1.0
    if CASE == 1:
        beta = 60.0
    if CASE == 6:
        beta = min(1.0, step / 300)
    if CASE == 8:
        beta = 0.1
    if CASE == 9:
        kl = kl.clamp(min=3.0)
    return rec + beta * kl, rec, kl


data, test = blobs(4000), blobs(500)
net = VAE()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
step = 0
for epoch in range(12):
    for idx in torch.randperm(len(data)).split(80):
        x = data[idx]
        out, mu, std = net(x)
        loss, rec, kl = elbo(out, x, mu, std, step)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if CASE == 4:
            for p in net.parameters():
                p.data.clamp_(-0.03, 0.03)
        step += 1
    with torch.no_grad():
        mu, std = net.encode(test)
        err = F.mse_loss(torch.sigmoid(net.decode(mu)), test).item() / test.var(0).mean().item()
    print(f"epoch {epoch} loss {loss.item():.3f} rec {rec.item():.3f} kl {kl.item():.3f} unexplained {err:.4f}")
print("METRIC", err)
