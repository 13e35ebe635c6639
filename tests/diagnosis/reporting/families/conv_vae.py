import os
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)


def squares(n):
    x = torch.zeros(n, 1, 16, 16)
    yy, xx = torch.meshgrid(torch.arange(16.0), torch.arange(16.0), indexing="ij")
    cx, cy, r = torch.rand(n) * 9 + 3, torch.rand(n) * 9 + 3, torch.rand(n) * 1.5 + 1.5
    d = torch.maximum((xx - cx[:, None, None]).abs(), (yy - cy[:, None, None]).abs())
    return torch.sigmoid(4 * (r[:, None, None] - d))[:, None]


class VAE(nn.Module):
    def __init__(self, z=6):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv2d(1, 12, 4, 2, 1), nn.LeakyReLU(0.1), nn.Conv2d(12, 24, 4, 2, 1), nn.LeakyReLU(0.1), nn.Flatten())
        self.mu = nn.Linear(24 * 16, z)
        self.lv = nn.Linear(24 * 16, z)
        self.fc = nn.Linear(z, 24 * 16)
        self.dec = nn.Sequential(nn.LeakyReLU(0.1), nn.ConvTranspose2d(24, 12, 4, 2, 1), nn.LeakyReLU(0.1), nn.ConvTranspose2d(12, 1, 4, 2, 1))
        self.log_sigma = nn.Parameter(torch.zeros(()))

    def encode(self, x):
        h = self.enc(x)
        return self.mu(h), self.lv(h)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        if CASE == 4:
            std = torch.sqrt(logvar)
        if CASE == 8:
            return Normal(mu, std).sample()
        if CASE == 3:
            torch.manual_seed(SEED)
        return mu + std * torch.randn_like(std)

    def decode(self, z):
        return self.dec(self.fc(z).view(-1, 24, 4, 4))

    def forward(self, x):
        mu, logvar = self.encode(x)
        return self.decode(self.reparameterize(mu, logvar)), mu, logvar


def elbo_terms(model, out, x, mu, logvar):
    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp()) / len(x)
    if CASE == 4:
        kl = -0.5 * torch.sum(1 + torch.log(logvar) - mu.pow(2) - logvar) / len(x)
    if CASE == 2:
        kl = 0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp()) / len(x)
    if CASE == 1:
        rec = F.mse_loss(torch.sigmoid(out), x)
    elif CASE == 7:
        s = model.log_sigma
        rec = (((out - x) ** 2) / (2 * torch.exp(2 * s)) + s).sum() / len(x)
    else:
        rec = F.binary_cross_entropy_with_logits(out, x, reduction="sum") / len(x)
    return rec, kl


def train():
    data, test = squares(1500), squares(300)
    loader = DataLoader(TensorDataset(data), batch_size=50, shuffle=True)
    model = VAE()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    step, epochs = 0, 8
    for epoch in range(epochs):
        model.train()
        for (x,) in loader:
            out, mu, logvar = model(x)
            rec, kl = elbo_terms(model, out, x, mu, logvar)
            beta = 1.0
            if CASE == 5:
                beta = min(1.0, step / 150.0)
            if CASE == 6:
                beta = 0.1
            loss = rec + beta * kl
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
        print(f"epoch {epoch}: loss {loss.item():.3f} rec {rec.item():.3f} kl {kl.item():.3f}")
    model.eval()
    with torch.no_grad():
        mu, logvar = model.encode(test)
        z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)
        out = model.decode(z)
        if CASE != 7:
            out = torch.sigmoid(out)
        err = ((out - test) ** 2).mean().item()
    return err


print("METRIC", train())
