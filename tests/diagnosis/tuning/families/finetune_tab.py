"""Pretrain a backbone on a large source task, store it, then tune it on a small target task."""
import os
import tempfile
import numpy as np
import torch
import torch.nn as nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.set_num_threads(1)
torch.manual_seed(SEED)
np.random.seed(SEED)

world = np.random.RandomState(5)
DZ, DX = 8, 48
A1 = world.randn(DZ, 64) * 0.9
A2 = world.randn(64, DX) * 0.35
SRC = world.randn(DZ, 12)
TGT = world.randn(DZ, 5)
MIX = np.linalg.qr(world.randn(DX, DX))[0]


def sensors(z, rng, moved=False):
    x = np.tanh(z @ A1) @ A2 + 0.15 * rng.randn(len(z), DX)
    if moved:
        x = 0.55 * x + 0.8 * (x @ MIX)
    return x * 40 + 120


def source_data(n, rng):
    z = rng.randn(n, DZ)
    y = np.argmax(z @ SRC, 1)
    return torch.tensor(sensors(z, rng), dtype=torch.float32), torch.tensor(y)


def target_data(n, rng, moved):
    z = rng.randn(n, DZ)
    y = np.argmax(z @ TGT, 1)
    return torch.tensor(sensors(z, rng, moved), dtype=torch.float32), torch.tensor(y)


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(DX, 96)
        self.bn1 = nn.BatchNorm1d(96)
        self.l2 = nn.Linear(96, 96)
        self.bn2 = nn.BatchNorm1d(96)
        self.l3 = nn.Linear(96, 48)
        self.bn3 = nn.BatchNorm1d(48)

    def forward(self, x):
        x = torch.relu(self.bn1(self.l1(x)))
        x = torch.relu(self.bn2(self.l2(x)))
        return torch.relu(self.bn3(self.l3(x)))


class Net(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.backbone = Backbone()
        self.head = nn.Linear(48, n_classes)

    def forward(self, x):
        if CASE == 6:
            with torch.no_grad():
                f = self.backbone(x)
        else:
            f = self.backbone(x)
        return self.head(f)


class Wrapper(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(x)


def batches(x, y, bs):
    p = torch.randperm(len(x))
    for i in range(0, len(x) - bs + 1, bs):
        j = p[i:i + bs]
        yield x[j], y[j]


def accuracy(net, x, y):
    net.eval()
    with torch.no_grad():
        return (net(x).argmax(1) == y).float().mean().item()


def pretrain(path, mu, sd, rng):
    x, y = source_data(4000, rng)
    x = (x - mu) / sd
    net = Wrapper(Net2(12)) if CASE == 2 else Net2(12)
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for ep in range(10):
        net.train()
        for xb, yb in batches(x, y, 64):
            opt.zero_grad()
            loss = nn.functional.cross_entropy(net(xb), yb)
            loss.backward()
            opt.step()
    print("source accuracy %.3f" % accuracy(net, x, y))
    torch.save({"state_dict": net.state_dict(), "mean": mu, "std": sd}, path)


class Net2(Net):
    def forward(self, x):
        return self.head(self.backbone(x))


def load_backbone(net, path):
    ck = torch.load(path)
    if CASE in (2,):
        net.load_state_dict(ck["state_dict"], strict=False)
    elif CASE == 9:
        own = net.state_dict()
        keep = {k: v for k, v in ck["state_dict"].items() if k in own and own[k].shape == v.shape}
        missing = net.load_state_dict(keep, strict=False).missing_keys
        print("new parts:", missing)
    else:
        net.backbone.load_state_dict({k[len("backbone."):]: v for k, v in ck["state_dict"].items()
                                      if k.startswith("backbone.")})
    return ck["mean"], ck["std"]


def tune(path, rng):
    moved = CASE in (1, 4, 6, 8)
    n = 900 if moved else 240
    xt, yt = target_data(n, rng, moved)
    xv, yv = target_data(800, rng, moved)
    net = Net(12 if CASE == 3 else 5)
    mu, sd = load_backbone(net, path)
    xt = (xt - mu) / sd
    if CASE != 7:
        xv = (xv - mu) / sd
    frozen = CASE in (0, 2, 4, 5, 7, 8)
    if frozen:
        for p in net.backbone.parameters():
            p.requires_grad = False
    if CASE == 1:
        opt = torch.optim.AdamW([{"params": net.backbone.parameters(), "lr": 5e-4},
                                 {"params": net.head.parameters(), "lr": 1e-2}])
    elif CASE == 3:
        opt = torch.optim.Adam([{"params": net.backbone.parameters(), "lr": 1e-5},
                                {"params": net.head.parameters(), "lr": 1e-2}])
        net.head = nn.Linear(48, 5)
    elif CASE == 9:
        opt = torch.optim.SGD([{"params": net.backbone.parameters(), "lr": 1e-4},
                               {"params": net.head.parameters(), "lr": 0.1}], momentum=0.9)
    elif CASE == 6:
        opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    else:
        opt = torch.optim.Adam(filter(lambda p: p.requires_grad, net.parameters()), lr=5e-3)
    epochs = 40
    bs = 32
    if CASE == 5:
        bs, epochs = 2, 15
    start = {k: v.clone() for k, v in net.backbone.state_dict().items()} if CASE == 9 else None
    for ep in range(epochs):
        if CASE in (4, 8) and ep == 12:
            for p in net.backbone.parameters():
                p.requires_grad = True
            if CASE == 8:
                opt.add_param_group({"params": net.backbone.parameters(), "lr": 2e-3})
        net.train()
        if CASE in (0, 2, 7, 3, 9) or (CASE in (4, 8) and ep < 12):
            net.backbone.eval()
        tot, k = 0.0, 0
        for xb, yb in batches(xt, yt, bs):
            opt.zero_grad()
            loss = nn.functional.cross_entropy(net(xb), yb)
            if CASE == 9:
                reg = sum(((p - start[name]) ** 2).sum() for name, p in net.backbone.named_parameters())
                loss = loss + 0.01 * reg
            loss.backward()
            opt.step()
            tot += loss.item()
            k += 1
        if ep % 5 == 4:
            print("epoch %d loss %.4f target accuracy %.3f" % (ep, tot / k, accuracy(net, xv, yv)))
    print("target accuracy %.4f" % accuracy(net, xv, yv))


def main():
    rng = np.random.RandomState(70 + SEED)
    x, _ = source_data(4000, rng)
    mu, sd = x.mean(0), x.std(0)
    fd, path = tempfile.mkstemp(suffix=".pt")
    os.close(fd)
    pretrain(path, mu, sd, rng)
    tune(path, rng)
    os.remove(path)


main()
