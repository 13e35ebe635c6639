import math
import os
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)

PAD, CLS = 0, 1
VOCAB = 20
MAXLEN = 16
LM = CASE in (0, 1, 4, 7, 9, 11)


# ------------------------------------------------------------------ data
def lm_corpus(n, length):
    """second order Markov text"""
    r = np.random.RandomState(11)
    table = r.dirichlet(0.12 * np.ones(VOCAB), size=(VOCAB, 3))
    seqs = np.zeros((n, length), dtype=np.int64)
    seqs[:, :2] = np.random.randint(0, VOCAB, (n, 2))
    for t in range(2, length):
        p = table[seqs[:, t - 1], seqs[:, t - 2] % 3]
        seqs[:, t] = (p.cumsum(1) > np.random.rand(n, 1)).argmax(1)
    return torch.from_numpy(seqs)


def clf_data(n):
    """class: which of the three marker tokens (2, 3, 4) occurs most often; sequences of many lengths"""
    x = np.full((n, MAXLEN), PAD, dtype=np.int64)
    y = np.random.randint(0, 3, n)
    for i in range(n):
        length = np.random.randint(9, MAXLEN - 1)
        body = np.random.randint(5, VOCAB, length)
        counts = [2, 2, 2]
        counts[y[i]] = 3
        marks = sum([[2 + k] * c for k, c in enumerate(counts)], [])
        where = np.random.permutation(length)[:len(marks)]
        body[where] = marks
        x[i, 0] = CLS
        x[i, 1:1 + length] = body
    return torch.from_numpy(x), torch.from_numpy(y)


# ------------------------------------------------------------------ model
class Attention(nn.Module):
    def __init__(self, d, heads, drop):
        super().__init__()
        self.h, self.dk = heads, d // heads
        self.qkv = nn.Linear(d, 3 * d)
        self.proj = nn.Linear(d, d)
        self.drop = nn.Dropout(drop)
        self.temperature = 0.02 if CASE == 3 else math.sqrt(self.dk)

    def forward(self, x, mask):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.h, self.dk).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / self.temperature
        if mask is not None:
            scores = scores.masked_fill(mask, float("-inf"))
        w = torch.softmax(scores, dim=-1)
        y = (self.drop(w) @ v).transpose(1, 2).reshape(b, t, d)
        return self.proj(y)


class Layer(nn.Module):
    def __init__(self, d, heads, drop, pre=True):
        super().__init__()
        self.att = Attention(d, heads, drop)
        self.ff = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.drop = nn.Dropout(drop)
        self.pre = pre

    def forward(self, x, mask):
        if self.pre:
            x = x + self.drop(self.att(self.n1(x), mask))
            return x + self.drop(self.ff(self.n2(x)))
        x = self.n1(x + self.drop(self.att(x, mask)))
        return self.n2(x + self.drop(self.ff(x)))


class Transformer(nn.Module):
    def __init__(self, out, d=32, heads=4, layers=2, drop=0.0, pre=True, std=None):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, d)
        self.pos = nn.Parameter(torch.randn(1, MAXLEN + 1, d) * 0.1)
        self.layers = nn.ModuleList([Layer(d, heads, drop, pre) for _ in range(layers)])
        self.norm = nn.LayerNorm(d) if pre else nn.Identity()
        self.out = nn.Linear(d, out)
        if std is not None:
            for m in self.modules():
                if isinstance(m, (nn.Linear, nn.Embedding)):
                    nn.init.normal_(m.weight, std=std)

    def forward(self, ids):
        t = ids.size(1)
        x = self.tok(ids) + self.pos[:, :t]
        if LM:
            mask = torch.ones(t, t, dtype=torch.bool, device=ids.device).triu(1)
            if CASE == 1:
                mask = None
        else:
            keep = ids != PAD
            mask = keep[:, None, None, :] if CASE == 2 else ~keep[:, None, None, :]
        for layer in self.layers:
            x = layer(x, mask)
        x = self.norm(x)
        return self.out(x) if LM else self.out(x[:, 0])


def lm_loss(model, seqs):
    logits = model(seqs[:, :-1])
    logp = F.log_softmax(logits, dim=1 if CASE == 0 else 2)
    return F.nll_loss(logp.reshape(-1, VOCAB), seqs[:, 1:].reshape(-1)), logits


def batches(n, bs):
    while True:
        order = torch.randperm(n)
        for i in range(0, n - bs + 1, bs):
            yield order[i:i + bs]


def validate(model, data):
    model.eval()
    with torch.no_grad():
        if LM:
            loss, logits = lm_loss(model, data)
            acc = (logits.argmax(-1) == data[:, 1:]).float().mean()
        else:
            logits = model(data[0])
            loss = F.cross_entropy(logits, data[1])
            acc = (logits.argmax(-1) == data[1]).float().mean()
    model.train()
    return loss.item(), acc.item()


def main():
    args = dict(lr=2e-3, steps=500, warmup=50, wd=0.01, clip=1.0, bs=32)
    kw = {}
    if CASE == 1:
        args.update(steps=700, lr=3e-3)
    if CASE == 4:
        args.update(bs=16)
    if CASE == 5:
        args.update(lr=0.1, clip=None, warmup=1)
    if CASE == 6:
        kw.update(drop=0.9)
    if CASE == 7:
        kw.update(std=1.0)
        args.update(lr=1e-3)
    if CASE == 9:
        kw.update(pre=False)
        args.update(warmup=250)
    if CASE == 10:
        args.update(bs=64, steps=350, lr=3e-3)
        kw.update(drop=0.3, d=48)
    if CASE == 11:
        args.update(steps=120, lr=1e-3)
    if CASE == 12:
        args.update(clip=0.1, lr=3e-3)
        kw.update(layers=1, std=0.05)
    if LM:
        data = lm_corpus(2400, MAXLEN)
        train, valid = data[:2000], data[2000:]
        model = Transformer(VOCAB, **kw)
        counts = torch.bincount(train.flatten(), minlength=VOCAB).float()
        print("unigram accuracy %.3f" % (counts.max() / counts.sum()).item())
    else:
        x, y = clf_data(2400)
        train, valid = (x[:2000], y[:2000]), (x[2000:], y[2000:])
        model = Transformer(3, **kw)
    opt = torch.optim.AdamW(model.parameters(), lr=args["lr"], weight_decay=args["wd"], betas=(0.9, 0.98))
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / args["warmup"]))
    stream = batches(2000, args["bs"])
    for step in range(args["steps"]):
        if CASE == 4:
            ids = next(batches(2000, args["bs"])) if step == 0 else ids
        else:
            ids = next(stream)
        if LM:
            loss, _ = lm_loss(model, train[ids])
        else:
            loss = F.cross_entropy(model(train[0][ids]), train[1][ids])
        opt.zero_grad()
        loss.backward()
        if args["clip"]:
            nn.utils.clip_grad_norm_(model.parameters(), args["clip"])
        opt.step()
        sched.step()
        if (step + 1) % 50 == 0 or step == 0:
            vl, va = validate(model, valid)
            print("%5d | train %.4f | valid %.4f | acc %.3f" % (step + 1, loss.item(), vl, va))


if __name__ == "__main__":
    main()
