"""
Resistance of a web of wires between two terminals, predicted from the graph.
Webs have 6 to 15 junctions; batches are padded to 16.
"""
import os
import numpy as np
import torch
from torch import nn
from torch.nn.utils import weight_norm

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
NMAX = 16


def web(rng):
    n = int(rng.integers(6, 16))
    pos = rng.uniform(0, 1, (n, 2))
    dist = np.linalg.norm(pos[:, None] - pos[None], axis=2)
    A = np.zeros((n, n))
    for i in range(1, n):                                  # a tree first, then short extra wires
        j = int(np.argmin(dist[i, :i] + 0.15 * rng.random(i)))
        A[i, j] = 1
    for _ in range(int(rng.integers(1, n))):
        i, j = rng.integers(0, n, 2)
        if i != j and dist[i, j] < 0.6:
            A[max(i, j), min(i, j)] = 1
    A = A * rng.lognormal(0, 0.5, (n, n)) / (0.3 + dist)
    A = A + A.T
    s, t = rng.choice(n, 2, replace=False)
    L = np.diag(A.sum(1)) - A
    keep = [i for i in range(n) if i != t]
    b = np.zeros(n)
    b[s] = 1
    v = np.zeros(n)
    v[keep] = np.linalg.solve(L[np.ix_(keep, keep)], b[keep])
    X = np.zeros((n, 4))
    X[s, 0] = X[t, 1] = 1
    X[:, 2] = A.sum(1) / 4
    X[:, 3] = (A > 0).sum(1) / 4
    return X, A, np.log(v[s]) + 0.08 * rng.standard_normal(), v / v[s]


def pad(webs):
    B = len(webs)
    X, A = np.zeros((B, NMAX, 4)), np.zeros((B, NMAX, NMAX))
    real = np.zeros((B, NMAX), bool)
    for i, w in enumerate(webs):
        n = len(w[0])
        X[i, :n], A[i, :n, :n], real[i, :n] = w[0], w[1], True
    f = lambda a: torch.tensor(a, dtype=torch.float32)
    return f(X), f(A), torch.from_numpy(real), f(np.array([w[2] for w in webs]))


class WireConv(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.own = nn.Linear(d, d)
        self.mean = nn.Linear(d, d, bias=False)
        self.sum = nn.Linear(d, d, bias=False)

    def forward(self, h, A):
        deg = A.sum(2, keepdim=True).clamp(min=1e-6)
        m = A @ h
        return self.own(h) + self.mean(m / deg) + 0.25 * self.sum(m)


class WebNet(nn.Module):
    def __init__(self, d=32, depth=4, heads=4):
        super().__init__()
        self.embed = nn.Linear(4, d)
        self.convs = nn.ModuleList(WireConv(d) for _ in range(depth))
        self.norms = nn.ModuleList(nn.LayerNorm(d) for _ in range(depth))
        self.query = nn.Parameter(torch.randn(1, 1, d) * 0.2)
        self.pool = nn.MultiheadAttention(d, heads, batch_first=True)
        self.head = nn.Linear(d, 1)

    def forward(self, X, A, real):
        h = self.embed(X)
        for conv, norm in zip(self.convs, self.norms):
            if CASE == 2:
                h = h + conv(h, A) / 3
            else:
                h = h + torch.relu(conv(norm(h), A))
        mask = real if CASE == 1 else ~real
        q = self.query.expand(len(X), -1, -1)
        g, _ = self.pool(q, h, h, key_padding_mask=mask, need_weights=False)
        return self.head(g[:, 0])[:, 0]


class Experiment:
    def __init__(self):
        rng = np.random.default_rng(SEED + 60)
        torch.manual_seed(SEED)
        self.train_data = pad([web(rng) for _ in range(1600)])
        self.val_data = pad([web(rng) for _ in range(400)])
        y = self.train_data[3]
        self.mu, self.sd = y.mean(), y.std()
        self.net = WebNet()
        self.epochs, self.bs = 7, 48

    def add_weight_norm(self):
        for m in self.net.modules():
            if isinstance(m, WireConv):
                for name in ("own", "mean", "sum"):
                    setattr(m, name, weight_norm(getattr(m, name)))
        self.net.head = weight_norm(self.net.head)

    def fit(self):
        if CASE == 3:
            opt = torch.optim.Adam(self.net.parameters(), lr=2e-3)
            self.add_weight_norm()
        else:
            self.add_weight_norm()
            opt = torch.optim.Adam(self.net.parameters(), lr=2e-3)
        X, A, R, y = self.train_data
        z = (y - self.mu) / self.sd
        step = 0
        for epoch in range(self.epochs):
            self.net.train()
            for idx in torch.randperm(len(X)).split(self.bs):
                opt.zero_grad()
                loss = nn.functional.smooth_l1_loss(self.net(X[idx], A[idx], R[idx]), z[idx])
                loss.backward()
                opt.step()
                step += 1
                if step % 75 == 0:
                    print("step %d  loss %.4f" % (step, loss.item()))
            print("epoch %2d  val: error %.4f (log ohm)  correlation %.4f" % ((epoch,) + self.check()))

    def check(self):
        self.net.eval()
        X, A, R, y = self.val_data
        with torch.no_grad():
            p = self.net(X, A, R) * self.sd + self.mu
        return (p - y).abs().mean().item(), np.corrcoef(p.numpy() + 1e-9 * np.arange(len(p)), y.numpy())[0, 1]


# ---------------------------------------------------------------- junction voltages, flat batches

def flat(webs):
    xs, src, dst, w, v, off = [], [], [], [], [], 0
    for X, A, _, volt in webs:
        i, j = np.nonzero(A)
        xs.append(X)
        src.append(i + off)
        dst.append(j + off)
        w.append(A[i, j])
        v.append(volt)
        off += len(X)
    f = lambda a: torch.tensor(np.concatenate(a), dtype=torch.float32)
    k = lambda a: torch.tensor(np.concatenate(a), dtype=torch.long)
    return f(xs), k(src), k(dst), f(w), f(v)


class VoltNet(nn.Module):
    def __init__(self, d=32, rounds=8):
        super().__init__()
        self.start = nn.Linear(4, d)
        self.msg = nn.Sequential(nn.Linear(d, d), nn.SiLU(), nn.Linear(d, d))
        self.score = nn.Linear(2 * d + 1, 1)
        self.update = nn.GRUCell(d, d)
        self.read = nn.Linear(d, 1)
        self.rounds = rounds

    def forward(self, x, src, dst, w):
        h = torch.tanh(self.start(x))
        lw = torch.log(w)[:, None]
        for _ in range(self.rounds):
            s = self.score(torch.cat([h[src], h[dst], lw], 1))[:, 0] + lw[:, 0]
            top = torch.full((len(x),), float("-inf")).scatter_reduce(0, dst, s.detach(), "amax")
            e = torch.exp(s - top[dst])
            den = torch.zeros(len(x)).index_add_(0, dst, e)
            att = (e / den[dst])[:, None]
            m = torch.zeros_like(h).index_add_(0, dst, att * self.msg(h)[src])
            h = self.update(m, h)
        return torch.sigmoid(self.read(h))[:, 0]


def voltages():
    rng = np.random.default_rng(SEED + 61)
    torch.manual_seed(SEED)
    train, val = [web(rng) for _ in range(1200)], [web(rng) for _ in range(300)]
    net = VoltNet()
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-4)
    bs, epochs = 40, 9
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, 1e-2, total_steps=epochs * (len(train) // bs))
    vx, vs, vd, vw, vv = flat(val)
    free = (vx[:, 0] + vx[:, 1]) == 0
    step = 0
    for epoch in range(epochs):
        order = rng.permutation(len(train))
        for i in range(0, len(order), bs):
            x, s, d, w, v = flat([train[j] for j in order[i:i + bs]])
            unknown = (x[:, 0] + x[:, 1]) == 0             # the terminals are given
            loss = ((net(x, s, d, w) - v)[unknown] ** 2).mean()
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
            sched.step()
            step += 1
            if step % 60 == 0:
                print("step %d  mse %.5f" % (step, loss.item()))
        with torch.no_grad():
            p = net(vx, vs, vd, vw)
        mse = ((p - vv)[free] ** 2).mean().item()
        print("epoch %d  val rms %.4f  explained %.3f" % (epoch, mse ** 0.5, 1 - mse / vv[free].var().item()))


if __name__ == "__main__":
    if CASE == 4:
        voltages()
    else:
        Experiment().fit()
