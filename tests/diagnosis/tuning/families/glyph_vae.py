import argparse
import os
import numpy as np
import torch
from torch import nn, optim
from torch.nn import functional as F

parser = argparse.ArgumentParser(description="VAE on drawn glyphs")
parser.add_argument("--batch-size", type=int, default=64)
parser.add_argument("--epochs", type=int, default=30)
parser.add_argument("--latent", type=int, default=6)
parser.add_argument("--lr", type=float, default=2e-3)
parser.add_argument("--variant", type=int, default=int(os.environ.get("CASE", 0)))
parser.add_argument("--seed", type=int, default=int(os.environ.get("SEED", 0)))
args = parser.parse_args()
V = args.variant
torch.set_num_threads(1)
torch.manual_seed(args.seed)


def glyphs(n, seed):
    r = np.random.RandomState(seed)
    X = np.zeros((n, 14, 14), dtype=np.float32)
    for i in range(n):
        a, b = r.randint(2, 6), r.randint(8, 12)
        c, d = r.randint(2, 6), r.randint(8, 12)
        k = r.randint(4)
        if k != 1:
            X[i, a, c:d] = 1
        if k != 2:
            X[i, b, c:d] = 1
        if k != 3:
            X[i, a:b, c] = 1
        if k != 0:
            X[i, a:b + 1, d] = 1
    return torch.from_numpy(np.clip(X + 0.03 * np.abs(r.randn(n, 14, 14)), 0, 1).astype(np.float32)).view(n, -1)


train_x = glyphs(2048, args.seed)
test_x = glyphs(400, args.seed + 77)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(196, 128)
        self.fc21 = nn.Linear(128, args.latent)
        self.fc22 = nn.Linear(128, args.latent)
        self.fc3 = nn.Linear(args.latent, 128)
        self.fc4 = nn.Linear(128, 196)
        if V == 11:
            for m in self.modules():
                if isinstance(m, nn.Linear):
                    nn.init.constant_(m.weight, 0.01)
                    nn.init.zeros_(m.bias)

    def encode(self, x):
        h = F.relu(self.fc1(x))
        return self.fc21(h), self.fc22(h)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        z = torch.normal(mu, std) if V == 8 else mu + std * torch.randn_like(std)
        return z

    def decode(self, z):
        h = self.fc4(F.relu(self.fc3(z)))
        return torch.sigmoid(h)

    def forward(self, x):
        mu, logvar = self.encode(x)
        return self.decode(self.reparameterize(mu, logvar)), mu, logvar


beta = 1.0


def loss_function(recon, x, mu, logvar):
    if V in (5, 4):
        rec = F.mse_loss(recon, x, reduction="mean" if V == 5 else "sum")
    elif V == 9:
        rec = F.binary_cross_entropy_with_logits(recon, x, reduction="sum")
    elif V == 6:
        rec = -(x * torch.log(recon) + (1 - x) * torch.log(1 - recon)).sum()
    else:
        rec = F.binary_cross_entropy(recon, x, reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    if V == 7:
        kld = -kld
    if V == 5:
        return rec + kld / len(x), rec, kld / len(x)
    if V == 10:
        return rec + kld, rec, kld
    return (rec + beta * kld) / len(x), rec / len(x), kld / len(x)


model = VAE()
if V in (3, 10):
    optimizer = optim.SGD(model.parameters(), lr=5e-3, momentum=0.9)
else:
    optimizer = optim.Adam(model.parameters(), lr=0.01 if V == 6 else args.lr)
bs = 16 if V == 2 else args.batch_size
for epoch in range(1, (args.epochs // 3 if V == 2 else args.epochs) + 1):
    model.train()
    if V == 1:
        beta = min(1.0, epoch / 8)
    order = np.random.RandomState(epoch).permutation(len(train_x))
    sums = np.zeros(3)
    for i in range(0, len(order), bs):
        x = train_x[order[i:i + bs]]
        optimizer.zero_grad()
        recon, mu, logvar = model(x)
        loss, rec, kld = loss_function(recon, x, mu, logvar)
        loss.backward()
        optimizer.step()
        sums += np.array([loss.item(), rec.item(), kld.item()])
    sums /= len(order) / bs
    print("====> Epoch: %d loss %.3f rec %.3f kl %.3f" % (epoch, *sums))

model.eval()
with torch.no_grad():
    mu, logvar = model.encode(test_x)
    err = F.mse_loss(model.decode(mu), test_x).item()
    var = F.mse_loss(test_x.mean(0).expand_as(test_x), test_x).item()
    samples = model.decode(torch.randn(400, args.latent))
    nn_dist = torch.cdist(samples, train_x).min(1).values.mean().item()
    print("test mse %.4f (mean image %.4f), latent std %.3f, sample distance %.3f, sample spread %.3f" % (
        err, var, mu.std(0).mean().item(), nn_dist, samples.std(0).mean().item()))
