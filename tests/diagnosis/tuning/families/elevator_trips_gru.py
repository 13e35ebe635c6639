# Which kind of trip was it? A GRU reads the accelerometer of an elevator cabin (3 channels) and names one of 4 trip types:
# 0 normal ride, 1 ride with an emergency stop, 2 ride with the door contact chattering on the way, 3 levelling correction at the end.
import argparse
import os
import time

import numpy as np
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

parser = argparse.ArgumentParser()
parser.add_argument("--n-train", type=int, default=1200)
parser.add_argument("--n-test", type=int, default=400)
parser.add_argument("--hidden", type=int, default=40)
parser.add_argument("--epochs", type=int, default=8 if CASE == 1 else 7)
parser.add_argument("--bs", type=int, default=40 if CASE == 1 else 20)
parser.add_argument("--lr", type=float, default=1.2e-2 if CASE == 1 else 5e-3)
parser.add_argument("--clip", type=float, default=1.0)
args = parser.parse_args()

torch.manual_seed(SEED)
T_MAX = 28


def one_trip(kind, r):
    n = int(r.integers(22, T_MAX + 1))
    acc = np.zeros(n)
    amp = r.uniform(0.6, 1.3)
    up = r.choice([-1.0, 1.0])
    start = int(r.integers(5, 7))
    end = n - int(r.integers(4, 6))
    ramp = int(r.integers(2, 4))
    acc[start:start + ramp] += up * amp
    acc[end - ramp:end] -= up * amp
    vib = 0.15 * np.sin(np.arange(n) * r.uniform(1.0, 2.2) + r.uniform(0, 6)) * r.uniform(0.3, 1.5)
    door = np.zeros(n)
    door[:3] = r.uniform(0.5, 1.0)
    door[-3:] = r.uniform(0.5, 1.0)
    if kind == 1:
        k = int(r.integers(start + ramp + 1, end - ramp - 2))
        acc[k:k + 2] -= up * amp * r.uniform(0.8, 1.5)
        acc[k + 2:k + 3] += up * amp * r.uniform(0.2, 0.8)
    elif kind == 2:
        k = int(r.integers(start, end - 4))
        door[k:k + 2] += r.uniform(0.35, 1.1)
    elif kind == 3:
        acc[end:end + 2] += np.array([1, -1]) * r.choice([-1.0, 1.0]) * amp * r.uniform(0.7, 1.5)
    # bumps on the rail occur on every kind of trip
    for _ in range(r.poisson(0.5)):
        b = int(r.integers(start, end))
        acc[b] += r.normal(0, 0.55)
    x = np.stack([acc + vib, 0.5 * vib + r.normal(0, 0.1, n), door], 1)
    return (1000 * (x + r.normal(0, 0.12, x.shape))).astype(np.float32)      # the logger writes milli-g


def make(n, r):
    kinds = r.integers(0, 4, n)
    seqs = [one_trip(k, r) for k in kinds]
    order = np.argsort(kinds, kind="stable")       # the logger's export goes kind by kind
    seqs, kinds = [seqs[i] for i in order], kinds[order]
    x = torch.zeros(n, T_MAX, 3)
    lens = torch.tensor([len(s) for s in seqs])
    for i, s in enumerate(seqs):
        x[i, :len(s)] = torch.from_numpy(s)
    return x, lens, torch.from_numpy(kinds.astype(np.int64))


class LastState(nn.Module):
    """GRU over the padded batch, answer read from the hidden state at the last true step"""

    def __init__(self, hidden, n_class=4):
        super().__init__()
        self.hidden = hidden
        self.inp = nn.Linear(3, 24)
        self.rnn = nn.GRU(24, hidden)            # (time, batch, channel)
        self.head = nn.Sequential(nn.Linear(hidden, 32), nn.ReLU(), nn.Linear(32, n_class))

    def forward(self, x, lens):
        b = x.size(0)
        z = torch.tanh(self.inp(x))
        z = z.reshape(T_MAX, b, -1) if CASE == 2 else z.transpose(0, 1)
        if CASE == 4:
            h = torch.zeros(1, b, self.hidden)
            outs = []
            for t in range(0, T_MAX, 2):
                o, h = self.rnn(z[t:t + 2], h)
                h = h.detach()
                outs.append(o)
            out = torch.cat(outs)
        else:
            out, _ = self.rnn(z)
        last = out[lens - 1, torch.arange(b)]
        return self.head(last)


class PackedBoth(nn.Module):
    """two directions, packed, attention pooling with the padding masked out"""

    def __init__(self, hidden, n_class=4):
        super().__init__()
        self.rnn = nn.LSTM(3, hidden // 2, batch_first=True, bidirectional=True)
        self.score = nn.Linear(hidden, 3)
        self.out = nn.Linear(3 * hidden, n_class)
        self.drop = nn.Dropout(0.3)

    def forward(self, x, lens):
        p = pack_padded_sequence(x, lens, batch_first=True, enforce_sorted=False)
        h, _ = pad_packed_sequence(self.rnn(p)[0], batch_first=True, total_length=T_MAX)
        s = self.score(h)                                          # (batch, time, 3)
        s = s.masked_fill((torch.arange(T_MAX)[None] >= lens[:, None])[..., None], float("-inf"))
        a = s.softmax(1)
        return self.out(self.drop((a.transpose(1, 2) @ h).flatten(1)))


r = np.random.default_rng(SEED + 77)
xtr, ltr, ytr = make(args.n_train, r)
xte, lte, yte = make(args.n_test, r)
mu = torch.cat([xtr[i, :ltr[i]] for i in range(len(xtr))]).mean(0)
sd = torch.cat([xtr[i, :ltr[i]] for i in range(len(xtr))]).std(0)
for x, l in ((xtr, ltr), (xte, lte)):
    if CASE != 3:
        x.sub_(mu).div_(sd)
    x[torch.arange(T_MAX)[None] >= l[:, None]] = 0.0

net = (PackedBoth if CASE == 1 else LastState)(args.hidden)
opt = torch.optim.Adam(net.parameters(), lr=args.lr)
if CASE == 6:
    # the recurrent part starts from orthogonal matrices
    net.rnn = nn.GRU(24, args.hidden)
    for w in (net.rnn.weight_hh_l0, net.rnn.weight_ih_l0):
        nn.init.orthogonal_(w)
loss_fn = nn.CrossEntropyLoss()
n_steps = args.epochs * (args.n_train // args.bs)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, n_steps)


def test():
    net.eval()
    with torch.no_grad():
        logits = net(xte, lte)
    conf = np.zeros((4, 4), int)
    for t, p in zip(yte.tolist(), logits.argmax(1).tolist()):
        conf[t, p] += 1
    return loss_fn(logits, yte).item(), np.trace(conf) / conf.sum(), conf


t0 = time.time()
it = 0
for ep in range(1, args.epochs + 1):
    net.train()
    order = torch.arange(args.n_train) if CASE == 5 else torch.randperm(args.n_train)
    for lo in range(0, args.n_train, args.bs):
        ids = order[lo:lo + args.bs]
        out = net(xtr[ids], ltr[ids])
        loss = loss_fn(out, ytr[ids])
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), args.clip)
        opt.step()
        sched.step()
        it += 1
        if it % 40 == 0:
            print("it %4d | loss %.4f | %.1fs" % (it, loss.item(), time.time() - t0))
    l, acc, conf = test()
    print("== epoch %d  test loss %.4f  test acc %.3f" % (ep, l, acc))
print(conf)
