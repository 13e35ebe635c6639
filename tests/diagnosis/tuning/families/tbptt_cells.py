import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)
np.random.seed(SEED)

V = 4
PAD = V
WINDOW = 10
LENGTH = 40
BATCH = 32


class Stream:
    """Every sequence shows a key first; from then on the answer is the last symbol moved on by the key."""

    def __init__(self, rng):
        self.rng = rng

    def batch(self):
        key = self.rng.randint(0, V, BATCH)
        x = self.rng.randint(0, V, (BATCH, LENGTH))
        x[:, 0] = key
        y = (x + key[:, None]) % V
        x[:, 0] += V + 1
        if CASE in (4, 8):
            n = self.rng.randint(4, LENGTH + 1, BATCH) 
            for i in range(BATCH):
                x[i, n[i]:] = PAD
                y[i, n[i]:] = PAD
        return torch.from_numpy(x), torch.from_numpy(y)


class GRUCell(nn.Module):
    def __init__(self, n_in, n_hid):
        super().__init__()
        if CASE == 10:
            self.gates = {g: nn.Linear(n_in + n_hid, n_hid) for g in ("z", "r", "n")}
        else:
            self.gates = nn.ModuleDict({g: nn.Linear(n_in + n_hid, n_hid) for g in ("z", "r", "n")})
        nn.init.constant_(self.gates["z"].bias, 1.0)

    def forward(self, x, h):
        xh = torch.cat([x, h], 1)
        z = torch.sigmoid(self.gates["z"](xh))
        r = torch.sigmoid(self.gates["r"](xh))
        n = torch.tanh(self.gates["n"](torch.cat([x, r * h], 1)))
        return z * h + (1 - z) * n


class LSTMCell(nn.Module):
    def __init__(self, n_in, n_hid):
        super().__init__()
        self.lin = nn.Linear(n_in + n_hid, 4 * n_hid)
        with torch.no_grad():
            self.lin.bias[n_hid:2 * n_hid] = 1.0

    def forward(self, x, hc):
        h, c = hc.chunk(2, 1)
        i, f, g, o = self.lin(torch.cat([x, h], 1)).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.cat([torch.sigmoid(o) * torch.tanh(c), c], 1)


class ReluCell(nn.Module):
    def __init__(self, n_in, n_hid):
        super().__init__()
        self.wx = nn.Linear(n_in, n_hid)
        self.wh = nn.Linear(n_hid, n_hid, bias=False)
        nn.init.normal_(self.wh.weight, 0, 2.2 / n_hid ** 0.5)

    def forward(self, x, h):
        return torch.relu(self.wx(x) + self.wh(h))


class Model(nn.Module):
    def __init__(self, n_hid=64):
        super().__init__()
        self.n_hid = n_hid
        self.emb = nn.Embedding(2 * V + 1, 16)
        n_in = 16
        if CASE in (3, 9):
            self.prev = nn.Embedding(V + 1, 16)
            n_in = 32
        kind = {1: LSTMCell, 7: ReluCell}.get(CASE, GRUCell)
        self.cell = kind(n_in, n_hid)
        self.state = 2 * n_hid if kind is LSTMCell else n_hid
        self.norm = nn.LayerNorm(n_hid) if CASE == 4 else nn.Identity()
        self.out = nn.Sequential(nn.Linear(n_hid + 16, 48), nn.ReLU(), nn.Linear(48, V + 1))

    def forward(self, x, h, prev=None):
        outs = []
        for t in range(x.shape[1]):
            e = self.emb(x[:, t])
            inp = e if prev is None else torch.cat([e, self.prev(prev[:, t])], 1)
            h = self.cell(inp, h)
            outs.append(self.out(torch.cat([self.norm(h[:, :self.n_hid]), e], 1)))
        return torch.stack(outs, 1), h


def shifted(y):
    start = torch.full((len(y), 1), V)
    return torch.cat([start, y[:, :-1]], 1)


def score(model):
    stream = Stream(np.random.RandomState(SEED + 1))
    model.eval()
    hit = n = 0
    with torch.no_grad():
        for _ in range(10):
            x, y = stream.batch()
            h = torch.zeros(BATCH, model.state)
            if CASE in (3, 9):
                last = torch.full((BATCH, 1), V)
                guess = []
                for t in range(LENGTH):
                    o, h = model(x[:, t:t + 1], h, last)
                    last = o[:, :, :V].argmax(2)
                    guess.append(last)
                g = torch.cat(guess, 1)
            else:
                o, h = model(x, h)
                g = o.argmax(2)
            keep = (y != PAD) & (torch.arange(LENGTH) > 0)
            hit += ((g == y) & keep).sum().item()
            n += keep.sum().item()
    model.train()
    return hit / n


model = Model()
if CASE == 1:
    opt = torch.optim.RMSprop(model.parameters(), lr=2e-3)
elif CASE == 7:
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
elif CASE == 4:
    opt = torch.optim.AdamW(model.parameters(), lr=4e-3)
else:
    opt = torch.optim.Adam(model.parameters(), lr=1e-3 if CASE == 2 else 4e-3)
SEQS = 170 if CASE == 2 else 110
if CASE == 5:
    sched = torch.optim.lr_scheduler.StepLR(opt, 15, gamma=0.5)
elif CASE == 4:
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, SEQS)
else:
    sched = None

stream = Stream(np.random.RandomState(SEED))
step = 0
for seq in range(SEQS):
    x, y = stream.batch()
    prev = None
    if CASE == 3:
        prev = shifted(y)
    elif CASE == 9:
        prev = y
    h = torch.zeros(BATCH, model.state)
    for k in range(0, LENGTH, WINDOW):
        h = h.detach()
        xb, yb = x[:, k:k + WINDOW], y[:, k:k + WINDOW]
        pb = None if prev is None else prev[:, k:k + WINDOW]
        if CASE == 6:
            order = torch.randperm(BATCH)
            xb, yb = xb[order], yb[order]
        o, h = model(xb, h, pb)
        if CASE == 8:
            mask = (yb == PAD).float()
        else:
            mask = (yb != PAD).float()
        each = F.cross_entropy(o.reshape(-1, V + 1), yb.reshape(-1), reduction="none")
        loss = (each * mask.reshape(-1)).sum() / mask.sum().clamp(min=1.0)
        opt.zero_grad()
        loss.backward()
        if CASE == 1:
            nn.utils.clip_grad_norm_(model.parameters(), 0.2)
        elif CASE != 7:
            nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        opt.step()
        step += 1
        if CASE == 5:
            sched.step()
    if CASE == 4:
        sched.step()
    if seq % 20 == 19:
        print(f"sequence {seq + 1} loss {loss.item():.4f}")

print("accuracy after the key", round(score(model), 4))
