"""
Toy opinion mining: a review is a list of word ids. Good and bad words vote, "not" turns the next
opinion word around, "very" makes it count twice. Small transformer encoder, read at the first token.
"""
import math
import os
import random

import numpy as np
import torch
from torch import nn, optim
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)
torch.set_num_threads(1)

PAD, CLS, NOT, VERY = 0, 1, 2, 3
GOOD = list(range(4, 9))
BAD = list(range(9, 14))
FILL = list(range(14, 30))
VOCAB = 30
MAXLEN = 16


def write_review():
    while True:
        score, words = 0, [CLS]
        n = random.randint(6, MAXLEN - 4)
        while len(words) < n:
            u = random.random()
            if u < 0.5:
                words.append(random.choice(FILL))
                continue
            sign = 1
            if u > 0.95:
                words.append(NOT)
                sign = -1
            elif u > 0.9:
                words.append(VERY)
                sign = 2
            v = random.choice([1, -1])
            words.append(random.choice(GOOD if v > 0 else BAD))
            score += sign * v
        if score != 0 and len(words) < MAXLEN:
            return words, int(score > 0)


class Reviews(Dataset):
    def __init__(self, n, by_label=False):
        self.rows = [write_review() for _ in range(n)]
        if by_label:
            self.rows.sort(key=lambda r: r[1])

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    L = MAXLEN
    ids = torch.full((len(rows), L), PAD)
    for i, (w, _) in enumerate(rows):
        ids[i, :len(w)] = torch.tensor(w)
    return ids, torch.tensor([y for _, y in rows])


class Encoder(nn.Module):
    def __init__(self, d=32, heads=2, layers=2, p=0.0, batch_first=True):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, d, padding_idx=PAD)
        self.pos = nn.Parameter(torch.randn(MAXLEN, d) * 0.02)
        layer = nn.TransformerEncoderLayer(d, heads, 64, dropout=p, batch_first=batch_first)
        self.enc = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.out = nn.Linear(d, 2)
        self.scale = math.sqrt(d)
        self.batch_first = batch_first

    def forward(self, ids):
        pad = ids == PAD
        x = self.emb(ids) * self.scale * 0.15 + self.pos[:ids.size(1)]
        if CASE == 1:
            h = self.enc(x, src_key_padding_mask=~pad)
        elif CASE == 2:
            h = self.enc(x)
        elif CASE == 5:
            L = ids.size(1)
            causal = torch.full((L, L), float("-inf")).triu(1)
            h = self.enc(x, mask=causal, src_key_padding_mask=pad)
        else:
            h = self.enc(x, src_key_padding_mask=pad)
        if CASE == 5:
            last = (~pad).sum(1) - 1
            return self.out(h[torch.arange(len(ids)), last])
        return self.out(h[:, 0])


def accuracy(net, dl):
    net.eval()
    ok = n = 0
    with torch.no_grad():
        for ids, y in dl:
            ok += (net(ids).argmax(1) == y).sum().item()
            n += len(y)
    net.train()
    return ok / n


def train(net, dl, val, opt, epochs, sched=None, accum=1, clip=None, smooth=0.0, tag=""):
    net.train()
    scale = 2.0 ** 16
    for ep in range(epochs):
        tot = 0.0
        opt.zero_grad()
        for k, (ids, y) in enumerate(dl):
            out = net(ids)
            if CASE == 6:
                loss = F.nll_loss(F.log_softmax(out, 0), y)
            else:
                loss = F.cross_entropy(out, y, label_smoothing=smooth)
            if CASE == 12:
                (loss * scale).backward()
                nn.utils.clip_grad_norm_(net.parameters(), 1.0)
                for q in net.parameters():
                    if q.grad is not None:
                        q.grad.div_(scale)
                opt.step()
                opt.zero_grad()
            else:
                (loss / accum).backward()
                if (k + 1) % accum == 0:
                    if clip:
                        nn.utils.clip_grad_norm_(net.parameters(), clip)
                    opt.step()
                    opt.zero_grad()
                    if sched:
                        sched.step()
            tot += loss.item()
        print(f"{tag}epoch {ep}: loss {tot / len(dl):.4f} val acc {accuracy(net, val):.3f}")


tr = Reviews(2400, by_label=(CASE == 7))
va = Reviews(400)
bs = 32
dl = DataLoader(tr, batch_size=bs, shuffle=(CASE != 7), collate_fn=collate)
val = DataLoader(va, batch_size=200, collate_fn=collate)
net = Encoder(p=0.3 if CASE == 8 else 0.0, batch_first=(CASE != 2))
kw, epochs = {}, 6

if CASE == 3:
    # body from a fit on other reviews, then only a new output layer
    train(net, dl, val, optim.Adam(net.parameters(), lr=1e-3), 4, tag="body ")
    for n_, q in net.named_parameters():
        q.requires_grad = n_.startswith("out")
    nn.init.normal_(net.out.weight, std=0.02)
    dl = DataLoader(Reviews(1600), batch_size=bs, shuffle=True, collate_fn=collate)
    opt, epochs = optim.Adam(net.out.parameters(), lr=2e-3), 3
elif CASE == 4:
    opt = optim.AdamW(net.parameters(), lr=1e-3, weight_decay=50.0)
elif CASE == 10:
    opt = optim.Adam(net.parameters(), lr=5e-2)
elif CASE == 12:
    opt = optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
elif CASE == 9:
    opt = optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    kw = dict(clip=1.0)
elif CASE == 11:
    opt = optim.AdamW(net.parameters(), lr=2e-3)
    dl = DataLoader(tr, batch_size=8, shuffle=True, collate_fn=collate)
    kw = dict(accum=4, clip=0.5)
elif CASE == 8:
    opt = optim.AdamW(net.parameters(), lr=1e-3)
    kw = dict(smooth=0.2)
else:
    opt = optim.AdamW(net.parameters(), lr=3e-3)
    kw = dict(sched=optim.lr_scheduler.LambdaLR(opt, lambda s: min((s + 1) / 100, 1.0)))
train(net, dl, val, opt, epochs, **kw)
