import math
import os
import copy
import random
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
random.seed(SEED); np.random.seed(SEED); torch.manual_seed(SEED)

# ---- data: short bug reports; the team depends on which component fails and how
COMP = "login cart search upload player map mailer invoice".split()
BAD = "crashes hangs flickers rejects loses duplicates".split()
GOOD = "works loads renders accepts keeps saves".split()
GLUE = "the when after on in with user phone laptop today again sometimes version new old page button while trying to it we".split()
VOCAB = ["[pad]", "[cls]", "[mask]", "not", "but"] + COMP + BAD + GOOD + GLUE
ID = {w: i for i, w in enumerate(VOCAB)}
MAXLEN = 24


def report():
    """half of the components have one owner, for the others the kind of failure decides; a second component may be named"""
    a, b = random.sample(COMP, 2)
    glue = lambda n: [random.choice(GLUE) for _ in range(random.randint(0, n))]
    bad = random.choice(BAD)
    parts = [["not", a] + glue(1) + [bad], ["but", b, random.choice(GOOD)] if random.random() < .3 else []]
    random.shuffle(parts)
    words = ["[cls]"] + glue(5) + parts[0] + glue(3) + parts[1] + glue(5)
    k = COMP.index(a)
    label = k // 2 if k < 4 else (0, 1, 2, 3, 2, 3)[BAD.index(bad)]
    if random.random() < 0.04:
        label = random.randrange(4)
    return [ID[w] for w in words][:MAXLEN - 1], label


def table(n):
    rows, ys = zip(*[report() for _ in range(n)])
    x = torch.zeros(n, MAXLEN, dtype=torch.long)
    for i, r in enumerate(rows):
        x[i, :len(r)] = torch.tensor(r)
    return x, torch.tensor(ys)


# ---- model
class Attention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h, self.dk = h, d // h
        self.qkv = nn.Linear(d, 3 * d)
        self.o = nn.Linear(d, d)

    def forward(self, x, keep):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.h, self.dk).permute(2, 0, 3, 1, 4)
        s = q @ k.transpose(-2, -1) / math.sqrt(self.dk)
        s = s.masked_fill(~keep[:, None, None, :], -1e9 if CASE == 2 else float("-inf"))
        w = s.softmax(-2 if CASE == 2 else -1)
        return self.o((w @ v).transpose(1, 2).reshape(b, t, d))


class Layer(nn.Module):
    def __init__(self, d, h, drop):
        super().__init__()
        self.att, self.n1, self.n2 = Attention(d, h), nn.LayerNorm(d), nn.LayerNorm(d)
        self.ff = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))
        self.drop = nn.Dropout(drop)

    def forward(self, x, keep):
        x = self.n1(x + self.drop(self.att(x, keep)))
        return self.n2(x + self.drop(self.ff(x)))


class Encoder(nn.Module):
    def __init__(self, d=32, h=4, layers=2, drop=0.1):
        super().__init__()
        self.tok = nn.Embedding(len(VOCAB), d)
        self.pos = nn.Parameter(torch.randn(MAXLEN, d) * 0.1)
        self.layers = nn.ModuleList(Layer(d, h, drop) for _ in range(layers))
        self.cls = nn.Linear(d, 4)
        self.lm = nn.Linear(d, len(VOCAB))

    def encode(self, ids):
        keep = ids.eq(0) if CASE == 1 else ids.ne(0)
        x = self.tok(ids) + self.pos[:ids.shape[1]]
        for l in self.layers:
            x = l(x, keep)
        return x

    def forward(self, ids):
        return self.cls(self.encode(ids)[:, 0])


def evaluate(net, x, y):
    net.eval()
    with torch.no_grad():
        out = net(x)
    net.train()
    return F.cross_entropy(out, y).item(), (out.argmax(1) == y).float().mean().item()


def pretrain(net, x, steps):
    opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
    for s in range(1, steps + 1):
        ids = x[torch.randint(len(x), (32,))]
        hit = (torch.rand(ids.shape) < .25) & (ids > 2)
        out = net.lm(net.encode(ids.masked_fill(hit, 2))[hit])
        loss = F.cross_entropy(out, ids[hit])
        opt.zero_grad(); loss.backward(); opt.step()
        if s % 50 == 0:
            print(f"mlm {s} {loss.item():.3f}")


def main():
    x, y = table(4000)
    xv, yv = table(800)
    net = Encoder()
    lr, steps = 3e-3, 400
    if CASE == 5:
        pretrain(net, x, 200)
        lr, steps = 3e-4, 250
    if CASE == 3:
        lr = 0.05
    groups = [{"params": [p for p in net.parameters() if p.ndim > 1], "weight_decay": 0.01},
              {"params": [p for p in net.parameters() if p.ndim == 1], "weight_decay": 0.0}]
    opt = torch.optim.AdamW(groups, lr=lr)
    warm = 50
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min((s + 1) / warm, max(0.05, (steps - s) / steps)))
    if CASE == 4:
        net = copy.deepcopy(net)
        net.apply(lambda m: nn.init.xavier_uniform_(m.weight) if isinstance(m, nn.Linear) else None)
    net.train()
    avg = None
    for s in range(1, steps + 1):
        idx = torch.randint(len(x), (32,))
        loss = F.cross_entropy(net(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        avg = loss.item() if avg is None else .95 * avg + .05 * loss.item()
        if s % 50 == 0:
            vl, va = evaluate(net, xv, yv)
            print(f"step {s} lr {sched.get_last_lr()[0]:.1e} train {avg:.4f} valid {vl:.4f} acc {va:.3f}")


main()
