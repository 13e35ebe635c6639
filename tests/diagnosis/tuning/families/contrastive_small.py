import os
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)

DIM, CLASSES = 24, 10


# -------------------------------------------------------------------------
# Items: a class prototype seen through a random curved map, plus strong nuisance directions.
proto = rng.normal(size=(CLASSES, 6))
mix1 = rng.normal(size=(6, 40)) / 2.5
mix2 = rng.normal(size=(40, DIM)) / 6
mix3 = rng.normal(size=(4, DIM))


def items(labels):
    z = proto[labels] + 0.25 * rng.normal(size=(len(labels), 6))
    x = np.sin(z @ mix1) @ mix2 + 1.2 * rng.normal(size=(len(labels), 4)) @ mix3
    x = x + 0.05 * rng.normal(size=x.shape)
    return torch.tensor(x, dtype=torch.float32)


def labelled(n):
    y = rng.integers(0, CLASSES, n)
    return items(y), torch.tensor(y)


class Encoder(nn.Module):
    def __init__(self, out=16, width=96, relu_out=False, norm=True):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(DIM, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
                                 nn.Linear(width, out))
        self.norm = norm
        self.relu_out = relu_out

    def forward(self, x):
        z = self.net(x)
        if self.relu_out:
            z = F.relu(z - 0.1)
        if not self.norm:
            return z
        if CASE == 1:
            return z / z.norm(dim=1, keepdim=True)
        return F.normalize(z, dim=1)


def info_nce(a, b, t=0.2):
    logits = a @ b.t() / t
    target = torch.arange(len(a))
    return 0.5 * (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target))


def triplet(a, p, n, margin=0.5):
    return F.relu((a - p).pow(2).sum(1) - (a - n).pow(2).sum(1) + margin).mean()


def pair_loss(a, b, same, margin=1.0):
    d = torch.sqrt((a - b).pow(2).sum(1) + 1e-8)
    return (same * d ** 2 + (1 - same) * F.relu(margin - d) ** 2).mean()


def supcon(z, y, t=0.1):
    s = z @ z.t() / t
    s = s.masked_fill(torch.eye(len(z), dtype=torch.bool), float("-inf"))
    pos = (y[:, None] == y[None, :]) & ~torch.eye(len(z), dtype=torch.bool)
    logp = s.log_softmax(1).masked_fill(~pos, 0.0)
    return -(logp.sum(1) / pos.sum(1).clamp(min=1)).mean()


def knn_accuracy(enc, xa, ya, xb, yb, k=5):
    enc.eval()
    with torch.no_grad():
        za, zb = enc(xa), enc(xb)
    enc.train()
    near = torch.cdist(zb, za).topk(k, largest=False).indices
    votes = F.one_hot(ya[near], CLASSES).sum(1)
    return (votes.argmax(1) == yb).float().mean().item(), zb.std(0).mean().item()


x_train, y_train = labelled(1500)
x_test, y_test = labelled(400)
by_class = [torch.nonzero(y_train == c).flatten() for c in range(CLASSES)]


def partner(y):
    """an index of another item of the same class for each label"""
    return torch.stack([by_class[c][torch.randint(len(by_class[c]), (1,))[0]] for c in y.tolist()])


STEPS, BATCH = 800, 64
enc = Encoder(relu_out=CASE == 1, norm=CASE not in (9,))
momentum_enc = None
if CASE == 4:
    momentum_enc = Encoder()
params = list(enc.parameters())
if CASE == 3:
    opt = torch.optim.AdamW(params, lr=2e-3, weight_decay=60.0)
elif CASE == 5:
    opt = torch.optim.SGD(params, lr=0.3)
elif CASE == 6:
    enc = Encoder(out=24)
    opt = torch.optim.Adam(params, lr=2e-3)
elif CASE == 10:
    opt = torch.optim.SGD(params, lr=0.05, momentum=0.9, nesterov=True)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, STEPS)
elif CASE == 12:
    opt = torch.optim.Adam(params, lr=2e-3)
    BATCH = 128
else:
    opt = torch.optim.Adam(params, lr=2e-3)

if CASE == 7:
    y_train = y_train[torch.randperm(len(y_train))]
    by_class = [torch.nonzero(y_train == c).flatten() for c in range(CLASSES)]

print("raw space knn", "%.3f" % (F.one_hot(y_train[torch.cdist(x_test, x_train).topk(5, largest=False).indices],
                                           CLASSES).sum(1).argmax(1) == y_test).float().mean().item())
for step in range(STEPS):
    ids = torch.randint(0, len(x_train), (BATCH,))
    x, y = x_train[ids], y_train[ids]
    if CASE == 0:
        a, p = enc(x), enc(x_train[partner(y)])
        loss = (1 - (a * p).sum(1)).mean()
    elif CASE == 8:
        a, p, n = enc(x), enc(x_train[partner(y)]), enc(x_train[torch.randint(0, len(x_train), (BATCH,))])
        loss = triplet(a, p, n)
    elif CASE in (9,):
        jd = torch.randint(0, len(x_train), (BATCH,))
        half = BATCH // 2
        jd[:half] = partner(y[:half])
        same = (y == y_train[jd]).float()
        loss = pair_loss(enc(x), enc(x_train[jd]), same, margin=2.0)
    elif CASE in (12, 7):
        loss = supcon(enc(x), y)
    elif CASE == 2:
        loss = -info_nce(enc(x), enc(x_train[partner(y)]))
    elif CASE == 4:
        a = F.normalize(torch.from_numpy(enc(x).detach().numpy()), dim=1)
        b = momentum_enc(x_train[partner(y)])
        loss = info_nce(a, b)
    else:
        loss = info_nce(enc(x), enc(x_train[partner(y)]))
    if CASE != 5:
        opt.zero_grad()
    loss.backward()
    opt.step()
    if CASE == 10:
        sched.step()
    if CASE == 4:
        with torch.no_grad():
            for m, p in zip(momentum_enc.parameters(), enc.parameters()):
                m.mul_(0.9).add_(0.1 * p)
    if (step + 1) % 100 == 0 or step == 0:
        acc, spread = knn_accuracy(enc, x_train, y_train, x_test, y_test)
        print("step %4d loss %.4f knn %.3f spread %.4f" % (step + 1, loss.item(), acc, spread))
