"""Tiny character language model on generated sea-shanty lines."""
import copy
import math
import os
from types import SimpleNamespace

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

cfg = SimpleNamespace(block=32, dim=32, heads=4, layers=2, batch=12, accum=2, steps=240, lr=5e-3, seed=1234 + SEED)

WHO = ["the captain", "our cook", "a sailor", "the old mate", "young Tom", "the bosun", "my Nancy"]
DID = ["hauled", "sang to", "drank with", "sold", "lost", "kissed", "painted", "swore at"]
WHAT = ["a barrel of rum", "the mainsail", "the whale", "seven pounds", "a parrot", "the harbour light", "the black pig"]
WHEN = ["in the morning", "on the way to Cork", "till the wind turned", "by the pale moon", "off the Cape", ""]
END = ["hey ho!", "away, boys!", "and so say we.", "heave away!"]


def lines(n, seed):
    r = np.random.default_rng(seed)
    pick = lambda a: a[min(int(r.exponential(len(a) / 2.5)), len(a) - 1)]
    return [" ".join(w for w in (pick(WHO), pick(DID), pick(WHAT), pick(WHEN), pick(END)) if w) for _ in range(n)]


train_lines, val_lines = lines(3000, SEED + 1), lines(300, SEED + 2)
chars = ["~", "\n"] + sorted(set("".join(train_lines + val_lines)))
stoi = {c: i for i, c in enumerate(chars)}
V = len(chars)


def encode(s):
    return torch.tensor([stoi[c] for c in s])


train_ids, val_ids = encode("\n".join(train_lines)), encode("\n".join(val_lines))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(cfg.dim), nn.LayerNorm(cfg.dim)
        self.qkv, self.proj = nn.Linear(cfg.dim, 3 * cfg.dim), nn.Linear(cfg.dim, cfg.dim)
        self.mlp = nn.Sequential(nn.Linear(cfg.dim, 4 * cfg.dim), nn.GELU(), nn.Linear(4 * cfg.dim, cfg.dim))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = [z.view(b, t, cfg.heads, -1).transpose(1, 2) for z in self.qkv(self.ln1(x)).split(d, 2)]
        att = q @ k.transpose(2, 3) / math.sqrt(d // cfg.heads)
        if CASE != 1:
            att = att.masked_fill(torch.ones(t, t).triu(1).bool(), float("-inf"))
        x = x + self.proj((att.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, block):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(V, cfg.dim), nn.Embedding(block, cfg.dim)
        self.blocks = nn.Sequential(*[Block() for _ in range(cfg.layers)])
        self.ln = nn.LayerNorm(cfg.dim)
        self.head = nn.Linear(cfg.dim, V, bias=False)
        self.apply(self._init)

    @staticmethod
    def _init(m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            nn.init.normal_(m.weight, std=0.05)

    def forward(self, ids):
        x = self.wte(ids) + self.wpe.weight[:ids.shape[1]]
        return self.head(self.ln(self.blocks(x)))


class GRULM(nn.Module):
    """tied embeddings, dropout on the way in and out"""

    def __init__(self, dim=64):
        super().__init__()
        self.emb, self.rnn = nn.Embedding(V, dim), nn.GRU(dim, dim, batch_first=True)
        self.drop, self.bias = nn.Dropout(0.3), nn.Parameter(torch.zeros(V))
        nn.init.normal_(self.emb.weight, std=0.1)

    def forward(self, ids):
        h, _ = self.rnn(self.drop(self.emb(ids)))
        return self.drop(h) @ self.emb.weight.t() + self.bias


def windows(ids, n, gen):
    at = torch.randint(len(ids) - cfg.block - 1, (n,), generator=gen)
    w = torch.stack([ids[a:a + cfg.block + 1] for a in at])
    return w[:, :-1], w[:, 1:]


WIDTH = 128


def padded(texts):
    out = torch.zeros(len(texts), WIDTH, dtype=torch.long)
    for i, s in enumerate(texts):
        e = encode("\n" + s + "\n")[:WIDTH]
        out[i, :len(e)] = e
    return out


gen = torch.Generator().manual_seed(cfg.seed)
rows, val_rows = padded(train_lines), padded(val_lines[:60])


def get_batch():
    if CASE == 2:
        r = rows[torch.randint(len(rows), (8,), generator=gen)]
        return r[:, :-1], r[:, 1:]
    g = torch.Generator().manual_seed(cfg.seed) if CASE == 3 else gen
    return windows(train_ids, cfg.batch, g)


def lm_loss(model, x, y):
    return F.cross_entropy(model(x).reshape(-1, V), y.reshape(-1))


@torch.no_grad()
def val_loss(model):
    model.eval()
    g = torch.Generator().manual_seed(7)
    if CASE == 2:
        v = lm_loss(model, val_rows[:, :-1], val_rows[:, 1:])
    else:
        v = lm_loss(model, *windows(val_ids, 48, g))
    model.train()
    return v.item()


@torch.no_grad()
def sample(model, n=60):
    model.eval()
    ids = torch.ones(1, 1, dtype=torch.long)
    for _ in range(n):
        p = model(ids[:, -cfg.block:])[0, -1].softmax(-1)
        ids = torch.cat([ids, torch.multinomial(p, 1)[None]], 1)
    return "".join(chars[i] for i in ids[0, 1:].tolist()).replace("\n", " / ")


def main():
    torch.manual_seed(SEED)
    if CASE == 2:
        cfg.accum = 1
    model = GRULM() if CASE == 5 else GPT(WIDTH)
    if CASE == 5:
        cfg.lr, cfg.accum = 4e-3, 1
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr, betas=(0.9, 0.98))
    best, best_state = None, None
    for step in range(1, cfg.steps + 1):
        opt.zero_grad()
        tot = 0.0
        for _ in range(cfg.accum):
            loss = lm_loss(model, *get_batch()) / cfg.accum
            loss.backward()
            tot += loss.item()
        if CASE == 5:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        if step % 30 == 0:
            v = val_loss(model)
            print(f"iter {step}: train {tot:.4f} val {v:.4f} ppl {math.exp(v):.2f}")
            better = best is None or (v > best if CASE == 4 else v < best)
            if better:
                best, best_state = v, copy.deepcopy(model.state_dict())
    model.load_state_dict(best_state)
    print(f"best checkpoint: val {val_loss(model):.4f}")
    print("sample:", sample(model))


main()
