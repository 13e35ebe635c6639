# next-song prediction with self attention over the listening history
import math
import os
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.RandomState(SEED)
torch.set_num_threads(1)

N_SONGS, N_USERS, L = 80, 800, 10
N_GENRES = 8
D = 32

# ---- listening logs: every song has three usual successors, the first song of a session sets the mood
genre = rng.randint(0, N_GENRES, N_SONGS)
after = np.zeros((N_SONGS, 3), int)
for s_ in range(N_SONGS):
    after[s_] = rng.choice(N_SONGS, 3, replace=False)
pop = 1.0 / (1 + np.arange(N_SONGS)) ** (1.0 if CASE == 7 else 0.3)
pop = rng.permutation(pop / pop.sum())


def listen():
    n = rng.randint(5, L + 2)
    cur = rng.choice(N_SONGS, p=pop)
    out, mood = [cur], genre[cur] % 3
    while len(out) < n:
        u = rng.rand()
        if u < 0.85:
            cur = after[cur, mood]
        elif u < 0.9:
            cur = after[cur, rng.randint(3)]
        else:
            cur = rng.choice(N_SONGS, p=pop)
        out.append(cur)
    return np.array(out) + 1          # 0 is the empty slot


logs = [listen() for _ in range(N_USERS)]
hist = np.zeros((N_USERS, L), np.int64)
nxt = np.zeros((N_USERS, L), np.int64)
t_hist = np.zeros((N_USERS, L), np.int64)
t_item = np.zeros(N_USERS, np.int64)
for u_, seq in enumerate(logs):
    tr = seq[:-1]
    a, b = tr[:-1], tr[1:]
    hist[u_, L - len(a):] = a
    nxt[u_, L - len(b):] = b
    if CASE == 10:
        hist[u_, L - len(b):] = b
    t_hist[u_, max(0, L - len(tr)):] = tr[-L:]
    t_item[u_] = seq[-1]


class Block(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.att = nn.MultiheadAttention(D, 2, dropout=p, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(D, 2 * D), nn.ReLU(), nn.Dropout(p), nn.Linear(2 * D, D), nn.Dropout(p))

    def forward(self, x, mask):
        q = self.n1(x)
        h, _ = self.att(q, x, x, attn_mask=mask, need_weights=False)
        x = q + h
        return x + self.ff(self.n2(x))


class SeqRec(nn.Module):
    def __init__(self, depth=2, p=0.15):
        super().__init__()
        self.song = nn.Embedding(N_SONGS + 1, D, padding_idx=0)
        self.place = nn.Embedding(L, D)
        nn.init.normal_(self.song.weight, std=0.05)
        self.song.weight.data[0] = 0
        blocks = [Block(p) for _ in range(depth)]
        self.blocks = blocks if CASE == 5 else nn.ModuleList(blocks)
        self.norm = nn.LayerNorm(D)
        self.drop = nn.Dropout(p)

    def encode(self, h):
        x = self.song(h) * math.sqrt(D) + self.place(torch.arange(L))
        x = self.drop(x) * (h > 0).unsqueeze(-1)
        mask = None
        if CASE != 3:
            mask = torch.full((L, L), float("-inf")).triu(1)
        for b in self.blocks:
            x = b(x, mask) * (h > 0).unsqueeze(-1)
        return self.norm(x)

    def score(self, h, items):
        s = (self.encode(h).unsqueeze(2) * self.song(items)).sum(-1)
        if CASE == 8:
            s = torch.sigmoid(s)
        return s

    def score_all(self, h):
        return self.encode(h) @ self.song.weight.t()


def sampled_loss(net, h, pos, k):
    neg = torch.randint(1, N_SONGS + 1, (*pos.shape, k))
    s = net.score(h, torch.cat([pos.unsqueeze(-1), neg], -1))
    y = torch.zeros_like(s)
    y[..., 0] = 1
    keep = (pos > 0).float()
    if CASE == 11:
        l = -F.logsigmoid(s[..., 1:] - s[..., :1]).mean(-1)
    elif CASE == 4:
        l = -F.logsigmoid(s[..., :1] - s[..., 1:]).mean(-1)
    else:
        w = torch.ones_like(s) / k
        w[..., 0] = 1
        l = (F.binary_cross_entropy_with_logits(s, y, reduction="none") * w).sum(-1)
    return (l * keep).sum() / keep.sum()


def full_loss(net, h, pos):
    z = net.score_all(h)
    if CASE == 9:
        return F.cross_entropy(z.reshape(-1, N_SONGS + 1), pos.reshape(-1))
    z = z.masked_fill(torch.arange(N_SONGS + 1) == 0, float("-inf"))
    return F.cross_entropy(z.reshape(-1, N_SONGS + 1), pos.reshape(-1), ignore_index=0)


@torch.no_grad()
def hit_rate(net, k=10):
    """share of users whose last song is on top, is among the first ten, songs ever shown"""
    net.eval()
    z = net.score_all(torch.tensor(t_hist))[:, -1]
    z[:, 0] = -1e9
    top = z.topk(k, dim=1).indices
    hr = (top == torch.tensor(t_item)[:, None]).any(1).float().mean().item()
    net.train()
    top1 = (top[:, 0] == torch.tensor(t_item)).float().mean().item()
    return top1, hr, len(set(top.reshape(-1).tolist()))


net = SeqRec(p=0.4 if CASE == 12 else 0.15)
lr, wd, steps, bs, accum = 4e-3, 0.0, 240, 80, 1
if CASE == 1:
    wd = 0.05
if CASE == 6:
    bs, accum = 40, 2
if CASE not in (0, 7, 9, 12):
    steps = 420 if CASE == 2 else 520
if CASE == 12:
    steps = 380
if CASE == 7:
    lr = 3e-3
    steps = 280
opt = torch.optim.Adam(net.parameters(), lr=lr, betas=(0.9, 0.98), weight_decay=wd)
warm = 120 if CASE == 7 else 20
curve, running = [], 0.0

for step in range(1, steps + 1):
    for g in opt.param_groups:
        g["lr"] = lr * min(1.0, step / warm)
    opt.zero_grad()
    for _ in range(accum):
        idx = rng.randint(0, N_USERS, bs)
        h, pos = torch.tensor(hist[idx]), torch.tensor(nxt[idx])
        if CASE in (0, 9, 12, 7):
            loss = full_loss(net, h, pos)
        else:
            loss = sampled_loss(net, h, pos, 8)
        (loss / accum).backward()
    opt.step()
    if CASE == 2:
        running = running + loss
    else:
        running = running + loss.item()
    if step % 40 == 0:
        top1, hr, cover = hit_rate(net)
        print("step %4d  loss %.4f  mean %.4f  HR@1 %.3f  HR@10 %.3f  songs shown %d" % (step, float(loss), float(running) / step, top1, hr, cover))

print("done, HR@1 %.3f  HR@10 %.3f" % hit_rate(net)[:2])
