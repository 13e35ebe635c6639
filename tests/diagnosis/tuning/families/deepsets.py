"""Classify or measure sets of points: Deep Sets and a small Set Transformer."""
import os
import math

import torch
from torch import nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "5"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)

MAXN = 20
KINDS = 4


def cloud(kind, n):
    if kind == 0:      # ring
        a = torch.rand(n) * 2 * math.pi
        p = torch.stack([a.cos(), a.sin()], 1)
    elif kind == 1:    # blob
        p = torch.randn(n, 2) * 0.6
    elif kind == 2:    # line through the middle
        a = torch.rand(1) * math.pi
        p = (torch.rand(n, 1) * 3 - 1.5) * torch.stack([a.cos(), a.sin()], 1)
    else:              # two lumps
        c = torch.randn(2)
        c = c / c.norm()
        s = (torch.rand(n, 1) < 0.5).float() * 2 - 1
        p = s * c + 0.15 * torch.randn(n, 2)
    return p + 0.05 * torch.randn(n, 2)


def make(n_sets, probs=None):
    xs = torch.zeros(n_sets, MAXN, 2)
    valid = torch.zeros(n_sets, MAXN, dtype=torch.bool)
    w = torch.ones(KINDS) if probs is None else torch.tensor(probs)
    ys = torch.multinomial(w, n_sets, replacement=True)
    for i in range(n_sets):
        n = int(torch.randint(6, MAXN - 1, ()))
        xs[i, :n] = cloud(int(ys[i]), n)
        valid[i, :n] = True
    return xs, valid, ys


class DeepSet(nn.Module):
    def __init__(self, d_out=KINDS, hid=64, pool="mean", p=0.0):
        super().__init__()
        self.phi = nn.Sequential(nn.Linear(2, hid), nn.ReLU(), nn.Linear(hid, hid), nn.ReLU())
        self.rho = nn.Sequential(nn.Linear(hid, hid), nn.ReLU(), nn.Dropout(p), nn.Linear(hid, d_out))
        self.pool = pool

    def forward(self, x, valid):
        m = valid.unsqueeze(-1).float()
        h = self.phi(x) * m
        h = h.sum(1)
        if self.pool == "mean":
            h = h / m.sum(1)
        return self.rho(h)


class AttnPool(nn.Module):
    """gated attention pooling (multiple instance learning)"""

    def __init__(self, hid=64):
        super().__init__()
        self.phi = nn.Sequential(nn.Linear(2, hid), nn.ReLU(), nn.Linear(hid, hid), nn.ReLU())
        self.score = nn.Sequential(nn.Linear(hid, 32), nn.Tanh(), nn.Linear(32, 1))
        self.head = nn.Linear(hid, KINDS)

    def forward(self, x, valid):
        h = self.phi(x)
        s = self.score(h).squeeze(-1).masked_fill(~valid, -1e9)
        if CASE == 2:
            a = torch.softmax(s, dim=0)
        else:
            a = torch.softmax(s, dim=1)
        return self.head((a.unsqueeze(-1) * h).sum(1))


class SAB(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.att = nn.MultiheadAttention(d, heads, batch_first=True)
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.ff = nn.Sequential(nn.Linear(d, 2 * d), nn.ReLU(), nn.Linear(2 * d, d))

    def forward(self, q, k, mask):
        h = self.ln1(q + self.att(q, k, k, key_padding_mask=mask, need_weights=False)[0])
        return self.ln2(h + self.ff(h))


class SetTransformer(nn.Module):
    def __init__(self, d=32, heads=4):
        super().__init__()
        self.emb = nn.Linear(2, d)
        self.enc = SAB(d, heads)
        self.seed = nn.Parameter(torch.randn(1, 1, d) * 0.5)
        self.dec = SAB(d, heads)
        self.out = nn.Linear(d, KINDS)

    def forward(self, x, valid):
        mask = ~valid
        if CASE == 1:
            mask = valid
        if CASE == 6:
            mask = torch.zeros(valid.shape).masked_fill(~valid, float("-inf"))
        h = self.emb(x)
        h = self.enc(h, h, mask)
        z = self.dec(self.seed.expand(len(x), -1, -1), h, mask)
        return self.out(z[:, 0])


def accuracy(model, data, passes=1):
    x, v, y = data
    with torch.no_grad():
        p = sum(model(x, v).softmax(-1) for _ in range(passes))
    hit = p.argmax(-1) == y
    return hit.float().mean().item(), torch.stack([hit[y == k].float().mean() for k in range(KINDS)]).mean().item()


def train(model, tr, va, epochs, lr, bs=64):
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    x, v, y = tr
    for ep in range(epochs):
        perm = torch.randperm(len(x))
        tot = 0.0
        if CASE == 4:
            x, v = x[perm], v[perm]
            perm = torch.arange(len(x))
        for b in perm.split(bs):
            logits = model(x[b], v[b])
            loss = F.cross_entropy(logits, y[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item() * len(b)
        if ep % 3 == 2:
            print(f"epoch {ep + 1} train loss {tot / len(x):.4f} val acc {accuracy(model, va)[0]:.3f}")
    return accuracy(model, va)[0]


def main():
    if CASE == 7:          # add up the lengths of all points of a set
        x, v, _ = make(1200)
        scale = 40.0
        y = (x.norm(dim=-1) * v).sum(1, keepdim=True) * scale
        model = DeepSet(d_out=1, pool="sum")
        opt = torch.optim.RMSprop(model.parameters(), lr=1e-3)
        for ep in range(40):
            for b in torch.randperm(1000).split(50):
                loss = ((scale * model(x[b], v[b]) - y[b]) ** 2).mean()
                opt.zero_grad()
                loss.backward()
                opt.step()
            if ep % 8 == 7:
                print("epoch", ep + 1, "mse", loss.item())
        with torch.no_grad():
            e = y[1000:] - scale * model(x[1000:], v[1000:])
        r2 = 1 - (e.var() + e.mean() ** 2) / y[1000:].var()
        print("METRIC r2 %.4f" % r2.item())
        return
    if CASE == 9:          # rare kinds, dropout kept on for the prediction
        tr, va = make(1600, [0.6, 0.25, 0.1, 0.05]), make(500)
        w = 1.0 / torch.bincount(tr[2], minlength=KINDS).float()
        model = DeepSet(p=0.25)
        opt = torch.optim.Adam(model.parameters(), lr=3e-3)
        crit = nn.CrossEntropyLoss(weight=w / w.mean())
        for ep in range(24):
            model.train()
            for b in torch.randperm(len(tr[0])).split(64):
                opt.zero_grad()
                loss = crit(model(tr[0][b], tr[1][b]), tr[2][b])
                loss.backward()
                opt.step()
            if ep % 6 == 5:
                a, bal = accuracy(model, va, passes=10)
                print("epoch", ep + 1, "loss", round(loss.item(), 4), "MC-dropout acc", round(a, 3), "balanced", round(bal, 3))
        print("METRIC balanced_acc %.4f" % accuracy(model, va, passes=20)[1])
        return
    if CASE == 10:         # one set at a time, no padding, sixteen to a step
        tr, va = make(800), make(400)
        model = DeepSet()
        opt = torch.optim.Adam(model.parameters(), lr=4e-3)

        def stream():
            while True:
                for i in torch.randperm(800).tolist():
                    n = int(tr[1][i].sum())
                    yield tr[0][i:i + 1, :n], tr[1][i:i + 1, :n], tr[2][i:i + 1]

        it, seen = stream(), 0
        opt.zero_grad()
        while seen < 9600:
            xi, vi, yi = next(it)
            loss = F.cross_entropy(model(xi, vi), yi) / 16
            loss.backward()
            seen += 1
            if seen % 16 == 0:
                opt.step()
                opt.zero_grad()
            if seen % 2400 == 0:
                print(seen, "sets, loss", round(loss.item() * 16, 4), "acc", round(accuracy(model, va)[0], 3))
        print("METRIC acc %.4f" % accuracy(model, va)[0])
        return
    tr, va = make(1500), make(500)
    if CASE == 6:          # batches of sets of about the same size, short ones first
        model = SetTransformer()
        opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
        order = tr[1].sum(1).argsort()
        for ep in range(16):
            losses = []
            for b in order.split(50):
                n = int(tr[1][b].sum(1).max())
                loss = F.cross_entropy(model(tr[0][b, :n], tr[1][b, :n]), tr[2][b])
                opt.zero_grad()
                loss.backward()
                opt.step()
                losses.append(loss.item())
            if ep % 4 == 3:
                print(f"epoch {ep + 1}: {sum(losses) / len(losses):.4f}  val {accuracy(model, va)[0]:.3f}")
        print("METRIC acc %.4f" % accuracy(model, va)[0])
        return
    if CASE == 3:          # survey coordinates in metres
        tr = ((tr[0] * 800 + 4000) * tr[1].unsqueeze(-1), tr[1], tr[2])
        va = ((va[0] * 800 + 4000) * va[1].unsqueeze(-1), va[1], va[2])
        acc = train(DeepSet(), tr, va, 24, 3e-3)
    elif CASE in (1, 8):
        acc = train(SetTransformer(), tr, va, 12, 2e-3)
    elif CASE == 2:
        acc = train(AttnPool(), tr, va, 24, 3e-3)
    else:
        acc = train(DeepSet(), tr, va, 24, 3e-3)
    print("METRIC acc %.4f" % acc)


main()
