"""VAE on 16x16 sprites (one rectangle or disc at a random place and size)."""
import os

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
np.random.seed(SEED)
torch.manual_seed(SEED)
torch.set_num_threads(1)

LATENT = 6
EPOCHS = 6
BATCH = 64
LR = 2e-3
BETA = 1.0
FREE_BITS = 0.0
KL_WARM = 0


def draw(n, rs):
    yy, xx = np.mgrid[0:16, 0:16]
    out = np.zeros((n, 1, 16, 16), np.float32)
    for i in range(n):
        cx, cy = rs.uniform(3, 13, 2)
        r = rs.uniform(1.8, 4.5)
        if rs.rand() < 0.5:
            d = np.maximum(abs(xx - cx), abs(yy - cy))
        else:
            d = np.sqrt((xx - cx) ** 2 + (yy - cy) ** 2)
        out[i, 0] = 1 / (1 + np.exp(4 * (d - r)))
    return out


class Sprites(Dataset):
    def __init__(self, n, rs):
        self.x = torch.from_numpy(draw(n, rs))

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        x = self.x[i]
        if CASE == 3:
            x = x * 2 - 1
        return x


class VAE(nn.Module):
    def __init__(self, latent):
        super().__init__()
        self.enc = nn.Sequential(
            nn.Conv2d(1, 16, 3, 2, 1), nn.LeakyReLU(0.2),
            nn.Conv2d(16, 32, 3, 2, 1), nn.LeakyReLU(0.2),
            nn.Flatten(), nn.Linear(32 * 16, 128), nn.LeakyReLU(0.2))
        self.fc_mu = nn.Linear(128, latent)
        self.fc_var = nn.Linear(128, latent)
        self.fc_dec = nn.Linear(latent, 32 * 16)
        self.dec = nn.Sequential(
            nn.LeakyReLU(0.2),
            nn.Unflatten(1, (32, 4, 4)),
            nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.LeakyReLU(0.2),
            nn.ConvTranspose2d(16, 1, 4, 2, 1))
        if CASE == 5:
            for m in self.modules():
                if isinstance(m, (nn.Linear, nn.Conv2d, nn.ConvTranspose2d)):
                    nn.init.constant_(m.weight, 0.02)
                    nn.init.zeros_(m.bias)

    def encode(self, x):
        h = self.enc(x)
        return self.fc_mu(h), self.fc_var(h)

    def reparameterize(self, mu, logvar):
        if not self.training:
            return mu
        std = (0.5 * logvar).exp()
        if CASE == 10:
            g = torch.Generator().manual_seed(SEED)
            eps = torch.randn(std.shape, generator=g)
        else:
            eps = torch.randn_like(std)
        return mu + eps * std

    def decode(self, z):
        y = self.dec(self.fc_dec(z))
        if CASE == 2:
            y = torch.sigmoid(y)
        return y

    def forward(self, x):
        mu, logvar = self.encode(x)
        if CASE == 4:
            with torch.no_grad():
                z = self.reparameterize(mu, logvar)
        else:
            z = self.reparameterize(mu, logvar)
        return self.decode(z), mu, logvar


def loss_function(out, x, mu, logvar, beta):
    n = x.size(0)
    if CASE == 1:
        rec = F.binary_cross_entropy_with_logits(out, x)
        kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp()) / n
    elif CASE == 9:
        rec = F.mse_loss(torch.sigmoid(out), x, reduction="sum") / n * 4
        kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp()) / n
    else:
        rec = F.binary_cross_entropy_with_logits(out, x, reduction="sum") / n
        kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp())
        if FREE_BITS:
            kl = kl.mean(0).clamp(min=FREE_BITS)
            kld = kl.sum()
        else:
            kld = kl.sum() / n
    if CASE == 6:
        return rec - beta * kld, rec, kld
    return rec + beta * kld, rec, kld


if CASE == 7:
    KL_WARM = 250
if CASE == 8:
    FREE_BITS = 0.3
if CASE == 11:
    LR = 3e-5
if CASE == 12:
    BETA = 0.5

train_set = Sprites(4000, np.random.RandomState(SEED + 1))
test_set = Sprites(500, np.random.RandomState(SEED + 2))
loader = DataLoader(train_set, batch_size=BATCH, shuffle=True, drop_last=True)
model = VAE(LATENT)
opt = torch.optim.Adam(model.parameters(), lr=LR)


@torch.no_grad()
def test():
    model.eval()
    x = test_set.x
    out, mu, logvar = model(x * 2 - 1 if CASE == 3 else x)
    mse = F.mse_loss(torch.sigmoid(out), x).item()
    active = (mu.var(0) > 0.01).sum().item()
    model.train()
    return mse, active


base = train_set.x.var(0).mean().item()
print(f"per-pixel variance of the data {base:.4f}")
step = 0
for epoch in range(1, EPOCHS + 1):
    tot = rec_t = kl_t = 0.0
    for x in loader:
        beta = BETA * min(1.0, step / KL_WARM) if KL_WARM else BETA
        recon, mu, logvar = model(x)
        loss, rec, kld = loss_function(recon, x, mu, logvar, beta)
        opt.zero_grad()
        loss.backward()
        opt.step()
        step += 1
        tot += loss.item()
        rec_t += rec.item()
        kl_t += kld.item()
    k = len(loader)
    mse, active = test()
    print(f"====> Epoch {epoch} loss {tot / k:.3f} rec {rec_t / k:.3f} kl {kl_t / k:.3f} | test mse {mse:.4f} active {active}/{LATENT}")
