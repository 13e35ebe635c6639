#!/usr/bin/env python3
"""Intent of a short radio call (harbour traffic): encoder-only transformer, mean pooling, 5 intents."""
import copy
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
torch.manual_seed(SEED)

PAD, VOCAB, MAXLEN = 0, 70, 18
INTENTS = ["enter", "leave", "pilot", "hold", "report"]
HP = dict(d=48, heads=4, layers=2, drop=0.1, lr=2e-3, warmup=0, epochs=6, batch=40, weighted=False)
if CASE == 1:
    HP.update(drop=0.25, lr=2e-3, warmup=60, epochs=7, weighted=True)
if CASE == 5:
    HP.update(lr=1e-1)
SHARE = [0.2] * 5 if CASE != 1 else [0.34, 0.31, 0.27, 0.04, 0.04]


# ------------------------------------------------------------------ data
# 1 = "in", 2 = "out", 3 = "berth", 4 = "sea": order of berth and sea tells enter from leave
def call(intent, rnd):
    n = rnd.randint(7, MAXLEN)
    words = [rnd.randint(20, VOCAB - 1) for _ in range(n)]
    spots = sorted(rnd.sample(range(n), 4))
    if intent == 0:
        words[spots[0]], words[spots[2]] = rnd.choice([4, 5]), rnd.choice([3, 6])
    elif intent == 1:
        words[spots[0]], words[spots[2]] = rnd.choice([3, 6]), rnd.choice([4, 5])
    elif intent == 2:
        words[spots[1]] = rnd.choice([7, 8, 9])
        words[spots[3]] = rnd.choice([3, 4, 5, 6])
    elif intent == 3:
        words[spots[0]] = rnd.choice([10, 11])
        if rnd.random() < 0.6:
            words[spots[2]] = rnd.choice([3, 4, 7])
    else:
        words[spots[1]] = rnd.choice([12, 13, 7])
        words[spots[2]] = rnd.choice([10, 14, 15])
    return words


def corpus(n, seed):
    rnd = random.Random(seed)
    texts, y = [], []
    for _ in range(n):
        k = rnd.choices(range(5), SHARE)[0]
        texts.append(call(k, rnd))
        y.append(k if rnd.random() > 0.04 else rnd.randrange(5))
    return texts, y


def as_batches(texts, y, batch, shuffle):
    """calls of like length go together, so that there is little padding"""
    jitter = [len(t) + (random.random() * 6 if shuffle else 0) for t in texts]
    order = sorted(range(len(texts)), key=lambda i: jitter[i])
    texts = [texts[i] for i in order]
    if CASE != 6 or not shuffle:
        y = [y[i] for i in order]
    starts = list(range(0, len(texts), batch))
    if shuffle:
        random.shuffle(starts)
    for s in starts:
        part = texts[s:s + batch]
        width = max(map(len, part))
        ids = torch.tensor([t + [PAD] * (width - len(t)) for t in part])
        yield ids, torch.tensor(y[s:s + batch])


# ------------------------------------------------------------------ model
class SelfAttention(nn.Module):
    def __init__(self, d, heads, drop):
        super().__init__()
        self.h, self.dk = heads, d // heads
        self.qkv = nn.Linear(d, 3 * d)
        self.proj = nn.Linear(d, d)
        self.drop = nn.Dropout(drop)

    def forward(self, x, pad):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.h, self.dk).permute(2, 0, 3, 1, 4)
        s = q @ k.transpose(-1, -2) / math.sqrt(self.dk)              # b h t t
        if CASE == 2:
            s = s.masked_fill(~pad[:, None, None, :], -1e9)
        else:
            s = s.masked_fill(pad[:, None, None, :], float("-inf") if CASE == 1 else -1e9)
        w = self.drop(s.softmax(dim=0 if CASE == 4 else -1))
        return self.proj((w @ v).transpose(1, 2).reshape(b, t, d))


class Layer(nn.Module):
    def __init__(self, d, heads, drop):
        super().__init__()
        self.att = SelfAttention(d, heads, drop)
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.ff = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Dropout(drop), nn.Linear(2 * d, d))

    def forward(self, x, pad):
        x = x + self.att(self.n1(x), pad)
        return x + self.ff(self.n2(x))


class Encoder(nn.Module):
    def __init__(self, d, heads, layers, drop):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, d, padding_idx=PAD)
        self.pos = nn.Parameter(torch.randn(MAXLEN, d) * 0.3)
        self.layers = [Layer(d, heads, drop) for _ in range(layers)]
        if CASE != 3:
            self.layers = nn.ModuleList(self.layers)
        self.norm = nn.LayerNorm(d)
        self.out = nn.Linear(d, len(INTENTS))
        if CASE == 7:
            for p in self.parameters():
                if p.dim() > 1:
                    nn.init.normal_(p)
        nn.init.normal_(self.tok.weight, std=0.3)

    def forward(self, ids):
        pad = ids == PAD
        x = self.tok(ids) + self.pos[:ids.size(1)]
        for layer in self.layers:
            x = layer(x, pad)
        keep = (~pad).unsqueeze(-1).float()
        x = (self.norm(x) * keep).sum(1) / keep.sum(1)
        return self.out(x)


# ------------------------------------------------------------------ training
def score(net, texts, y):
    net.eval()
    conf = torch.zeros(5, 5)
    loss = 0.0
    with torch.no_grad():
        for ids, t in as_batches(texts, y, 100, shuffle=False):
            o = net(ids)
            loss += F.cross_entropy(o, t, reduction="sum").item()
            for a, b in zip(t.tolist(), o.argmax(-1).tolist()):
                conf[a, b] += 1
    recall = conf.diag() / conf.sum(1).clamp(min=1)
    return loss / len(y), (conf.diag().sum() / conf.sum()).item(), recall


def main():
    train_x, train_y = corpus(1400, 100 + SEED)
    dev_x, dev_y = corpus(400, 900 + SEED)
    net = Encoder(HP["d"], HP["heads"], HP["layers"], HP["drop"])
    print("parameters:", sum(p.numel() for p in net.parameters()))
    opt = torch.optim.Adam(net.parameters(), lr=HP["lr"], betas=(0.9, 0.98))
    warm = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / max(1, HP["warmup"])))
    weight = None
    if HP["weighted"]:
        count = torch.bincount(torch.tensor(train_y), minlength=5).float()
        weight = (count.sum() / (5 * count)).sqrt()
    best, best_acc, step = None, -1.0, 0
    for epoch in range(HP["epochs"]):
        for ids, t in as_batches(train_x, train_y, HP["batch"], shuffle=True):
            net.train()
            loss = F.cross_entropy(net(ids), t, weight=weight)
            opt.zero_grad()
            loss.backward()
            opt.step()
            warm.step()
            step += 1
            if step % 25 == 0:
                print(f"{step:5d}  loss={loss.item():.4f}")
        dl, acc, recall = score(net, dev_x, dev_y)
        print(f"[dev] epoch {epoch} loss={dl:.4f} acc={acc:.3f} mean recall={recall.mean():.3f}")
        if recall.mean() > best_acc:
            best, best_acc = copy.deepcopy(net.state_dict()), recall.mean().item()
    net.load_state_dict(best)
    dl, acc, recall = score(net, dev_x, dev_y)
    print("best: acc %.3f" % acc, " ".join(f"{n}={r:.2f}" for n, r in zip(INTENTS, recall.tolist())))
    with torch.no_grad():
        hits = [net(torch.tensor([c])).argmax().item() == k for c, k in zip(dev_x, dev_y)]
    print("one call at a time: acc %.3f" % np.mean(hits))


if __name__ == "__main__":
    main()
