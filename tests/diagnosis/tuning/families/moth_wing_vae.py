"""Compress 20x20 grey pictures of moth wings.

CASE 1 trains the denoising relative and uses its error to find damaged wings; all others are the variational model.
"""
import os
import resource
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.RandomState(SEED + 3)

Z = 8
EPOCHS = 10
BATCH = 50


def wings(n, damaged=False):
    v, u = np.meshgrid(np.linspace(-1, 1, 20), np.linspace(-1, 1, 20), indexing="ij")
    u, v = u[None], v[None]
    c = lambda lo, hi: rng.uniform(lo, hi, (n, 1, 1))
    ang = c(-0.7, 0.7)
    x = u * np.cos(ang) + v * np.sin(ang) + c(-0.15, 0.15)
    y = -u * np.sin(ang) + v * np.cos(ang)
    edge = c(0.55, 0.9) - np.sqrt((x / c(0.8, 1.1)) ** 2 + (y / c(0.55, 0.95)) ** 2)
    body = 1 / (1 + np.exp(-edge * 14))
    stripes = 0.25 * np.sin(c(4, 8) * x + c(0, 6.28))
    eye_x, eye_y, eye_r = c(-0.3, 0.35), c(-0.25, 0.25), c(0.1, 0.22)
    eye = np.exp(-((x - eye_x) ** 2 + (y - eye_y) ** 2) / eye_r ** 2)
    img = body * (0.55 + stripes - 0.5 * eye)
    if damaged:
        hx, hy = c(-0.5, 0.5), c(-0.4, 0.4)
        img = img * (1 - np.exp(-(np.abs(x - hx) / 0.3) ** 4 - (np.abs(y - hy) / 0.3) ** 4))
    img = img + rng.normal(0, 0.05, img.shape)
    return torch.tensor(img[:, None], dtype=torch.float32)


def stage(layer):
    return nn.Sequential(layer, nn.GELU())


def start_values(m):
    if isinstance(m, (nn.Linear, nn.Conv2d, nn.ConvTranspose2d)):
        if CASE == 3:
            nn.init.constant_(m.weight, 0.02)
        else:
            nn.init.xavier_normal_(m.weight)
        nn.init.zeros_(m.bias)


class Encoder(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.body = nn.Sequential(stage(nn.Conv2d(1, 8, 3, padding=1)),
                                  stage(nn.Conv2d(8, 12, 4, stride=2, padding=1)),
                                  stage(nn.Conv2d(12, 20, 4, stride=2, padding=1)),
                                  nn.Flatten(), stage(nn.Linear(500, 96)))
        self.out = nn.Linear(96, n_out)

    def forward(self, x):
        return self.out(self.body(x))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = stage(nn.Linear(Z, 500))
        self.up = nn.Sequential(stage(nn.ConvTranspose2d(20, 12, 4, stride=2, padding=1)),
                                stage(nn.ConvTranspose2d(12, 8, 4, stride=2, padding=1)),
                                nn.Conv2d(8, 1, 3, padding=1))
        if CASE == 6:
            self.up.append(nn.Sigmoid())

    def forward(self, z):
        return self.up(self.inp(z).view(-1, 20, 5, 5))


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.dec = Encoder(2 * Z), Decoder()
        self.apply(start_values)

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, dim=1)
        logvar = logvar.clamp(-8, 4)
        z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu) if self.training else mu
        return self.dec(z), mu, logvar


def elbo(x, x_hat, mu, logvar, beta):
    kl = -0.5 * (1 + logvar - mu ** 2 - logvar.exp()).sum(1).mean()
    if CASE == 2:
        rec = nn.functional.mse_loss(x_hat, x)
    else:
        rec = 0.5 * ((x_hat - x) ** 2).flatten(1).sum(1).mean() / 0.4 ** 2
    return rec + beta * kl, rec, kl


def run_vae(train, val):
    model = VAE()
    params = model.dec.parameters() if CASE == 4 else model.parameters()
    opt = torch.optim.Adam(params, lr=3e-3)
    path = os.path.join(tempfile.mkdtemp(), "vae.pt")
    curve, best, step = [], float("inf"), 0
    for epoch in range(EPOCHS):
        model.train()
        for (x,) in DataLoader(train, batch_size=BATCH, shuffle=True):
            beta = min(1.0, (step + 1) / 100)
            loss, rec, kl = elbo(x, *model(x), beta)
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            if step % 30 == 0:
                print(f"step {step} loss {loss.item():.3f} rec {rec.item():.3f} kl {kl.item():.3f}")
        model.eval()
        mse = n = 0
        with torch.set_grad_enabled(CASE == 5):
            for (x,) in DataLoader(val, batch_size=BATCH):
                x_hat, mu, logvar = model(x)
                curve.append(elbo(x, x_hat, mu, logvar, 1.0)[0])
                mse += (x_hat - x).pow(2).mean().item() * len(x)
                n += len(x)
        last = sum(curve[-6:]).item() / 6
        rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"epoch {epoch}: val -elbo {last:.3f}  val mse {mse / n:.4f}  peak memory {rss:.0f} MB")
        if last < best:
            best = last
            torch.save(model.state_dict(), path)
    model.load_state_dict(torch.load(path))
    with torch.no_grad():
        x = torch.stack([v[0] for v in val])
        x_hat, mu, _ = model.eval()(x)
        print("final mse %.4f (variance of the data %.4f); spread of the codes %s"
              % ((x_hat - x).pow(2).mean(), x.var(), np.round(mu.std(0).numpy(), 2)))


def forever(loader):
    while True:
        yield from loader


def run_denoiser(train, val, bad):
    enc, dec = Encoder(Z), Decoder()
    opts = [torch.optim.Adam(enc.parameters(), lr=3e-3), torch.optim.Adam(dec.parameters(), lr=1e-3)]
    loader = forever(DataLoader(train, batch_size=BATCH, shuffle=True))
    good = torch.stack([v[0] for v in val])
    for step in range(1, 301):
        (x,) = next(loader)
        keep = (torch.rand_like(x) > 0.25).float()
        noisy = keep * x + 0.3 * torch.randn_like(x)
        loss = nn.functional.mse_loss(dec(enc(noisy)), x)
        for o in opts:
            o.zero_grad()
        loss.backward()
        for o in opts:
            o.step()
        if step % 30 == 0:
            print(f"step {step} loss {loss.item():.4f}")
        if step % 100 == 0:
            with torch.no_grad():
                e = [(dec(enc(s)) - s).pow(2).flatten(1).mean(1) for s in (good, bad)]
            auc = (e[1][:, None] > e[0][None, :]).float().mean()
            print(f"   clean wings: error {e[0].mean():.4f}  damaged: {e[1].mean():.4f}  AUC {auc:.3f}")


x = wings(1500)
shift, scale = x.mean(), x.std()
data = TensorDataset((x - shift) / scale)
train_set, val_set = random_split(data, [1200, 300], generator=torch.Generator().manual_seed(SEED))
if CASE == 1:
    run_denoiser(train_set, val_set, (wings(300, damaged=True) - shift) / scale)
else:
    run_vae(train_set, val_set)
