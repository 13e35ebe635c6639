# variational autoencoder for 16x16 pictures of soft boxes
import os
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim import Adam, SGD, AdamW

CASE = int(os.environ.get("CASE", 1))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)
torch.set_num_threads(1)

Z, H, D = 6, 96, 256


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


def make_pictures(n):
    r = np.random.RandomState(SEED)
    cx, cy = r.uniform(4, 12, (2, n, 1, 1))
    w, h = r.uniform(1.5, 4, (2, n, 1, 1))
    yy, xx = np.mgrid[0:16, 0:16]
    a = sigmoid(3 * (w - abs(xx - cx))) * sigmoid(3 * (h - abs(yy - cy)))
    return torch.tensor(a.reshape(n, D), dtype=torch.float32)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(D, H)
        self.fc2 = nn.Linear(H, H)
        self.mu = nn.Linear(H, Z)
        self.logvar = nn.Linear(H, Z)
        self.dec = nn.Sequential(nn.Linear(Z, H), nn.ReLU(), nn.Linear(H, H), nn.ReLU(), nn.Linear(H, D))
        if CASE == 6:
            self.log_sigma = nn.Parameter(torch.zeros(()))
        if CASE == 4:
            self.apply(self.init)

    @staticmethod
    def init(m):
        if isinstance(m, nn.Linear):
            nn.init.normal_(m.weight, 0.0, 0.35)
            nn.init.zeros_(m.bias)

    def encode(self, x):
        h = F.relu(self.fc2(F.relu(self.fc1(x))))
        return self.mu(h), self.logvar(h)

    def sample(self, mu, logvar):
        q = torch.distributions.Normal(mu, (0.5 * logvar).exp())
        if CASE == 5:
            return q.sample()
        return q.rsample()

    def forward(self, x):
        mu, logvar = self.encode(x)
        logits = self.dec(self.sample(mu, logvar))
        if CASE == 9:
            logits = torch.sigmoid(logits)
        return logits, mu, logvar


def elbo_terms(model, x):
    logits, mu, logvar = model(x)
    kl = -0.5 * (1 + logvar - mu ** 2 - logvar.exp()).sum(1).mean()
    if CASE == 3:
        kl = 0.5 * (1 + logvar - mu ** 2 - logvar.exp()).sum(1).mean()
    if CASE == 0:
        rec = F.binary_cross_entropy_with_logits(logits, x)
    elif CASE == 6:
        ls = model.log_sigma
        rec = (0.5 * ((x - torch.sigmoid(logits)) / ls.exp()) ** 2 + ls).sum(1).mean()
    elif CASE in (7, 10):
        rec = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")
        kl = kl * len(x)
    else:
        rec = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(1).mean()
    return rec, kl


def report(model, x):
    model.eval()
    with torch.no_grad():
        mu, logvar = model.encode(x)
        out = model.dec(mu)
        pic = torch.sigmoid(torch.sigmoid(out) if CASE == 9 else out)
        mse = F.mse_loss(pic, x).item()
        active = int((mu.var(0) > 0.05).sum())
    model.train()
    return mse, active


def run(epochs=16, bs=50):
    data = make_pictures(2200)
    train, test = data[:2000], data[2000:]
    model = VAE()
    if CASE == 7:
        opt = SGD(model.parameters(), lr=1e-3, momentum=0.9)
    elif CASE == 8:
        opt = AdamW(model.parameters(), lr=4e-3, betas=(0.5, 0.9), weight_decay=0.0)
    else:
        opt = Adam(model.parameters(), lr=2e-3)
    step = 0
    for ep in range(epochs):
        sums = np.zeros(2)
        for idx in torch.randperm(len(train)).split(bs):
            rec, kl = elbo_terms(model, train[idx])
            beta = 1.0
            if CASE == 2:
                beta = min(1.0, step / 300)
            if CASE == 8:
                kl = kl.clamp(min=3.0)
            loss = rec + beta * kl
            opt.zero_grad()
            loss.backward()
            opt.step()
            sums += [rec.item(), kl.item()]
            step += 1
        if ep % 3 == 0 or ep == epochs - 1:
            mse, active = report(model, test)
            print("ep %2d rec %10.3f kl %8.3f | test mse %.4f, %d of %d units in use"
                  % (ep, *(sums * bs / len(train)), mse, active, Z))


run()
