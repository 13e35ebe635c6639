"""Conditional VAE for vase outlines (16x16 grey images, 4 workshops)."""
import copy
import os
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal, kl_divergence

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
S, K = 16, 4


class Vases(torch.utils.data.Dataset):
    def __init__(self, n, seed):
        g = np.random.default_rng(seed)
        self.label = g.integers(0, K, n)
        yy = np.linspace(0, 1, S)[:, None]
        xx = np.arange(S)[None, :] - 7.5
        self.img = np.zeros((n, S, S), np.float32)
        for i, k in enumerate(self.label):
            a, b, lean = g.uniform(2, 4), g.uniform(.6, 1.6), g.normal(0, 1.1)
            top = g.uniform(0, .25)
            if k == 0:
                r = a + b * np.sin(np.pi * 1.5 * yy)
            elif k == 1:
                r = a * (.5 + yy) + .4 * b
            elif k == 2:
                r = a + b * np.cos(2 * np.pi * yy * 1.3)
            else:
                r = np.where(yy < .45, a * .45, a + b)
            edge = r - np.abs(xx - lean * (yy - .5) * 2)
            img = 1 / (1 + np.exp(-2.2 * edge)) * (yy >= top)
            shade = .55 + .35 * np.tanh((xx - (2 if k % 2 else -2) * g.uniform(.5, 1.2)) / 4) * (1 if k % 2 else -1)
            band = g.uniform(.35, .8)
            img = img * shade * np.where(np.abs(yy - band) < .06, .45, 1.)
            self.img[i] = img.clip(0, 1)
        self.img = (self.img + g.normal(0, .03, self.img.shape)).clip(0, 1).astype(np.float32)
        if CASE in (2, 7):                       # centred and scaled
            self.img = (self.img - .25) / .3

    def __len__(self):
        return len(self.label)

    def __getitem__(self, i):
        return torch.from_numpy(self.img[i])[None], int(self.label[i])


class CVAE(nn.Module):
    def __init__(self, z=6, h=128, conv=False):
        super().__init__()
        self.z = z
        if conv:
            self.enc = nn.Sequential(nn.Conv2d(1, 8, 4, 2, 1), nn.SiLU(), nn.Conv2d(8, 16, 4, 2, 1), nn.SiLU(), nn.Flatten())
            width = 256
        else:
            self.enc = nn.Sequential(nn.Flatten(), nn.Linear(S * S, h), nn.ReLU())
            width = h
        self.stat = nn.Sequential(nn.Linear(width + K, h), nn.ReLU(), nn.Linear(h, 2 * z))
        self.dec = nn.Sequential(nn.Linear(z + K, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, S * S))

    def encode(self, x, c):
        mu, logvar = self.stat(torch.cat([self.enc(x), c], 1)).chunk(2, 1)
        return mu, logvar.clamp(-10, 10)

    def decode(self, z, c):
        out = self.dec(torch.cat([z, c], 1)).view(-1, 1, S, S)
        if CASE == 2:
            out = torch.sigmoid(out)
        return out

    def forward(self, x, c):
        mu, logvar = self.encode(x, c)
        if CASE == 3:
            z = Normal(mu, (.5 * logvar).exp()).sample()
        elif CASE == 4:
            z = Normal(mu, (.5 * logvar).exp()).rsample()
        else:
            z = mu + torch.randn_like(mu) * (.5 * logvar).exp()
        return self.decode(z, c), mu, logvar


def elbo_terms(out, x, mu, logvar):
    n = len(x)
    if CASE in (2, 7):
        rec = .5 * ((out - x) ** 2).sum() / n / .12
    elif CASE == 10:
        rec = F.mse_loss(torch.sigmoid(out), x)
    elif CASE == 8:
        rec = F.l1_loss(torch.sigmoid(out), x, reduction="sum") / n * 12
    else:
        rec = .5 * ((torch.sigmoid(out) - x) ** 2).sum() / n / .01
    if CASE == 4:
        kl = kl_divergence(Normal(mu, (.5 * logvar).exp()), Normal(0., 1.)).sum() / n
    elif CASE == 6:
        kl = .5 * (1 + logvar - mu ** 2 - logvar.exp()).sum(1).mean()
    else:
        kl = -.5 * (1 + logvar - mu ** 2 - logvar.exp()).sum(1).mean()
    return rec, kl


def picture(out):
    return out if CASE in (2, 7) else torch.sigmoid(out)


@torch.no_grad()
def report(model, val, train_img, train_lab):
    """mean squared error of reconstruction; of samples: distance to the nearest real vase of the workshop"""
    model.eval()
    x = torch.from_numpy(val.img)[:, None]
    y = torch.from_numpy(val.label)
    c = F.one_hot(y, K).float()
    mu, logvar = model.encode(x, c)
    mse = ((picture(model.decode(mu, c)) - x) ** 2).mean().item()
    near = []
    for k in range(K):
        s = picture(model.decode(torch.randn(60, model.z), F.one_hot(torch.full((60,), k), K).float())).flatten(1)
        near.append((torch.cdist(s, train_img[train_lab == k].flatten(1)).min(1).values ** 2 / S / S).mean().item())
    kl = (-.5 * (1 + logvar - mu ** 2 - logvar.exp())).mean(0)
    return mse, float(np.mean(near)), int((kl > .05).sum())


def main():
    torch.manual_seed(SEED)
    train, val = Vases(2000, 31 + SEED), Vases(400, 77 + SEED)
    timg, tlab = torch.from_numpy(train.img)[:, None], torch.from_numpy(train.label)
    if CASE in (1, 5):
        timg, tlab = torch.cat([timg, timg.flip(3)]), torch.cat([tlab, tlab])
    loader = torch.utils.data.DataLoader(train, batch_size=50, shuffle=True)
    model = CVAE(conv=CASE == 4)
    shadow = copy.deepcopy(model) if CASE == 8 else None
    if CASE == 4:
        opts = [torch.optim.Adam(list(model.enc.parameters()) + list(model.stat.parameters()), lr=1e-3),
                torch.optim.Adam(model.dec.parameters(), lr=3e-3)]
    else:
        opts = [torch.optim.Adam(model.parameters(), lr=2e-3)]
    step, t0, epochs = 0, time.time(), 12
    for epoch in range(epochs):
        model.train()
        sums = np.zeros(2)
        for x, y in loader:
            if CASE in (1, 5):                   # mirror images are as good
                x = torch.cat([x, x.flip(3)])
                y = torch.cat([y, y]) if CASE == 1 else y.repeat_interleave(2)
            noisy = x
            if CASE in (0, 9):                   # denoising: the encoder sees speckles and gaps
                noisy = x * (torch.rand_like(x) > .15) + .25 * torch.randn_like(x)
            c = F.one_hot(y, K).float()
            if CASE == 8:                        # now and then without the workshop
                c = c * (torch.rand(len(c), 1) > .1)
            out, mu, logvar = model(noisy, c)
            rec, kl = elbo_terms(out, noisy.clamp(0, 1) if CASE == 9 else x, mu, logvar)
            beta = min(1., step / 150) if CASE in (0, 8) else 1.
            loss = rec + beta * kl
            for o in opts:
                o.zero_grad()
            loss.backward()
            for o in opts:
                o.step()
            if shadow is not None:
                with torch.no_grad():
                    for a, b in zip(shadow.parameters(), model.parameters()):
                        a.lerp_(b, .02)
            step += 1
            sums += rec.item(), kl.item()
        if epoch % 2 or epoch == epochs - 1:
            mse, near, active = report(shadow or model, val, timg, tlab)
            r, k = sums / len(loader)
            print(f"[{epoch + 1:2d}/{epochs}] rec {r:.3f} kl {k:.3f} | val mse {mse:.4f} samples {near:.4f} active {active}")
    print(f"{step} steps in {time.time() - t0:.1f} s")


if __name__ == "__main__":
    main()
