import os, random
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
random.seed(SEED); np.random.seed(SEED); torch.manual_seed(SEED)

H, W, CUTS = 16, 48, 7


def photograph(depths):
    """Silhouette of a worn key under a cheap scanner."""
    x = (np.arange(W) + np.random.uniform(-2, 2)) * np.random.uniform(0.95, 1.05)
    pos = (np.arange(CUTS) + 0.5) * W / CUTS
    d = depths + np.random.normal(0, 0.45, CUTS)
    prof = np.interp(x, pos, d)
    sharp = np.random.uniform(0.3, 1)
    near = np.abs(x[:, None] - pos[None]).argmin(1)
    prof = sharp * d[near] + (1 - sharp) * prof
    edge = 2.5 + prof * 1.35 + np.random.normal(0, 0.5) + np.random.normal(0, 0.03) * (x - W / 2)
    yy = np.arange(H)[:, None]
    img = 1 / (1 + np.exp(-(yy - edge[None]) * np.random.uniform(1, 3)))
    img = img * np.random.uniform(0.6, 1.1) + np.random.normal(0, 0.22, (H, W))
    if np.random.rand() < 0.5:
        c = np.random.randint(0, W - 6)
        img[:, c:c + 6] = np.random.rand()
    return img


def collection(n_keys, per_key):
    X, y = [], []
    for k in range(n_keys):
        depths = np.random.randint(0, 7, CUTS).astype(float)
        X += [photograph(depths) for _ in range(per_key)]
        y += [k] * per_key
    X = torch.tensor(np.array(X), dtype=torch.float32)[:, None]
    return (X - 0.5) * 2, torch.tensor(y)


class EmbedNet(nn.Module):
    def __init__(self, dim=24, normalise=True):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU())
        self.fc = nn.Linear(24 * 4 * 12, dim)
        self.normalise = normalise

    def forward(self, x):
        z = self.fc(self.conv(x).flatten(1))
        return F.normalize(z, dim=1) if self.normalise else z


def recall_at_1(net, X, y):
    net.eval()
    with torch.no_grad():
        z = net(X)
    net.train()
    d = torch.cdist(z, z)
    if CASE != 3:
        d.fill_diagonal_(float("inf"))
    return (y[d.argmin(1)] == y).float().mean().item(), z.std(0).mean().item()


def pk_batch(y, P=8, K=4):
    keys = np.random.choice(int(y.max()) + 1, P, replace=False)
    return torch.cat([torch.from_numpy(np.random.choice(np.flatnonzero(y.numpy() == k), K, replace=False)) for k in keys])


def batch_hard(z, y, margin=0.25):
    sq = (z ** 2).sum(1)
    d2 = sq[:, None] + sq[None] - 2 * z @ z.T
    if CASE == 2:
        d = d2.clamp(min=0).sqrt()
    else:
        d = d2.clamp(min=1e-8).sqrt()
    same = y[:, None] == y[None]
    pos = d.masked_fill(~same, -1.0).max(1)[0]
    neg = d.masked_fill(same, float("inf")).min(1)[0]
    return F.softplus((pos - neg + margin) * 4).mean() / 4


def train_triplets(X, y, Xv, yv):
    net = EmbedNet()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for it in range(1, 201):
        i = pk_batch(y)
        loss = batch_hard(net(X[i]), y[i])
        opt.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        if torch.isfinite(norm):          # a bad batch must not spoil the weights
            opt.step()
        if it % 20 == 0:
            print(f"it {it} loss {loss.item():.4f}")
        if it % 100 == 0:
            print(f"it {it} new keys: recall@1 {recall_at_1(net, Xv, yv)[0]:.4f}")


def train_pairs(X, y, Xv, yv):
    net = EmbedNet(normalise=False)
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    rows = [np.flatnonzero(y.numpy() == k) for k in range(int(y.max()) + 1)]
    dice = np.random if CASE == 1 else random
    for it in range(1, 201):
        a, b, same = [], [], []
        for _ in range(32):
            k = np.random.randint(len(rows))
            j = k
            if dice.randint(0, 1) == 1:
                j = (k + np.random.randint(1, len(rows))) % len(rows)
            a.append(np.random.choice(rows[k]))
            b.append(np.random.choice(rows[j]))
            same.append(float(j == k))
        same = torch.tensor(same)
        z = net(X[torch.tensor(a + b)])
        d = F.pairwise_distance(z[:32], z[32:])
        loss = (same * d ** 2 + (1 - same) * F.relu(2.0 - d) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 20 == 0:
            print(f"it {it} contrastive loss {loss.item():.5f}")
        if it % 100 == 0:
            print(f"it {it} new keys: recall@1 {recall_at_1(net, Xv, yv)[0]:.4f}")


def train_proxies(X, y, Xv, yv):
    net = EmbedNet()
    proxies = nn.Parameter(torch.randn(int(y.max()) + 1, 24))
    o1 = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-3)
    o2 = torch.optim.SGD([proxies], lr=2.0)
    it, temperature, m = 0, 12.0, 0.1
    for epoch in range(4):
        for i in torch.randperm(len(y)).split(32):
            cos = net(X[i]) @ F.normalize(proxies, dim=1).T
            cos = cos - m * F.one_hot(y[i], cos.shape[1])
            loss = F.cross_entropy(temperature * cos, y[i])
            o1.zero_grad(); o2.zero_grad()
            loss.backward()
            o1.step(); o2.step()
            it += 1
            if it % 30 == 0:
                print(f"it {it} proxy loss {loss.item():.4f}")
        print(f"epoch {epoch} new keys: recall@1 {recall_at_1(net, Xv, yv)[0]:.4f}")


if __name__ == "__main__":
    X, y = collection(90, 20)
    Xv, yv = collection(60, 10)
    if CASE in (1, 5):
        train_pairs(X, y, Xv, yv)
    elif CASE == 4:
        train_proxies(X, y, Xv, yv)
    else:
        train_triplets(X, y, Xv, yv)
