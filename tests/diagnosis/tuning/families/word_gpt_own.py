"""
A tiny GPT on generated market notes, in the manner of the many small GPT repositories.
Everything in one file: data, attention, block, model, training loop, a sample at the end.
"""
import contextlib
import math
import os
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
from torch.nn import functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)

# ---------------------------------------------------------------- data
who = ["anna", "boris", "clara", "dmitri", "ella"]
verb = ["buys", "sells", "wants", "has"]
what = ["pears", "plums", "bread", "milk", "salt", "rice"]


def note():
    n = rng.integers(2, 90)
    a, w = rng.choice(who), rng.choice(what)
    s = f"{a} {rng.choice(verb)} {n} {w}"
    if rng.random() < 0.6:
        s += f", {a} says {n} {w}"
    return s + ". "


text = "".join(note() for _ in range(2200))
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])
split = int(0.9 * len(data))
train_data, val_data = data[:split], data[split:]


@dataclass
class Config:
    block: int = 40
    vocab: int = len(chars)
    layers: int = 2
    heads: int = 4
    dim: int = 48
    dropout: float = 0.0
    tie: bool = False


batch_size = 16
max_iters = 300
warmup = 20
lr = 4e-3
weight_decay = 0.05
accum = 1
clip = 1.0
autocast = False
cfg = Config()
if CASE == 1:
    clip, lr = 0.05, 5e-3
elif CASE == 2:
    autocast = True
elif CASE in (3, 7):
    accum, batch_size, max_iters = 4, 6, 220
elif CASE == 4:
    cfg.tie, cfg.dropout = True, 0.15


def get_batch(which):
    d = train_data if which == "train" else val_data
    if CASE == 10 and which == "train":
        torch.manual_seed(1337 + SEED)
    ix = torch.randint(len(d) - cfg.block - 1, (batch_size,))
    x = torch.stack([d[i:i + cfg.block] for i in ix])
    if CASE == 6:
        y = torch.stack([d[i:i + cfg.block] for i in ix])
    else:
        y = torch.stack([d[i + 1:i + 1 + cfg.block] for i in ix])
    return x, y


# ---------------------------------------------------------------- model
class SelfAttention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.heads = c.heads
        self.qkv = nn.Linear(c.dim, 3 * c.dim)
        self.proj = nn.Linear(c.dim, c.dim)
        self.drop = nn.Dropout(c.dropout)
        self.register_buffer("mask", torch.tril(torch.ones(c.block, c.block)).view(1, 1, c.block, c.block))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).split(C, dim=2)
        q, k, v = (t.view(B, T, self.heads, C // self.heads).transpose(1, 2) for t in (q, k, v))
        att = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
        if CASE != 5:
            att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))
        att = self.drop(F.softmax(att, dim=-1))
        y = (att @ v).transpose(1, 2).reshape(B, T, C)
        return self.proj(y)


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(c.dim), nn.LayerNorm(c.dim)
        self.attn = SelfAttention(c)
        self.mlp = nn.Sequential(nn.Linear(c.dim, 3 * c.dim), nn.GELU(), nn.Linear(3 * c.dim, c.dim), nn.Dropout(c.dropout))

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.tok = nn.Embedding(c.vocab, c.dim)
        self.pos = nn.Embedding(c.block, c.dim)
        self.blocks = nn.ModuleList([Block(c) for _ in range(c.layers)])
        self.ln = nn.LayerNorm(c.dim)
        self.head = nn.Linear(c.dim, c.vocab, bias=False)
        self.apply(self._init)
        if c.tie:
            self.head.weight = self.tok.weight

    def _init(self, m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            nn.init.normal_(m.weight, std=1.0 if CASE == 9 else 0.05)
            if isinstance(m, nn.Linear) and m.bias is not None:
                nn.init.zeros_(m.bias)

    def forward(self, idx, targets=None):
        x = self.tok(idx) + self.pos(torch.arange(idx.size(1)))
        for b in self.blocks:
            x = b(x)
        logits = self.head(self.ln(x))
        if targets is None:
            return logits
        return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


def configure_optimizer(model):
    decay, rest = [], []
    for name, p in model.named_parameters():
        if p.dim() >= 2 and not name.startswith(("tok", "pos")):
            decay.append(p)
        elif name.startswith(("tok", "pos")) and CASE == 11:
            continue
        else:
            rest.append(p)
    groups = [{"params": decay, "weight_decay": weight_decay}, {"params": rest, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=lr, betas=(0.9, 0.98))


@torch.no_grad()
def estimate(model):
    model.eval()
    v = sum(model(*get_batch("val")).item() for _ in range(12)) / 12
    model.train()
    return v


@torch.no_grad()
def sample(model, prompt, n=60):
    model.eval()
    idx = torch.tensor([[stoi[c] for c in prompt]])
    for _ in range(n):
        p = model(idx[:, -cfg.block:])[0, -1].softmax(-1)
        idx = torch.cat([idx, p.argmax().view(1, 1)], 1)
    return "".join(chars[i] for i in idx[0].tolist())


# ---------------------------------------------------------------- training
def cosine(it):
    if it < warmup:
        return (it + 1) / warmup
    return 0.1 + 0.45 * (1 + math.cos(math.pi * (it - warmup) / (max_iters - warmup)))


model = GPT(cfg)
opt = configure_optimizer(model)
if CASE == 8:
    sched = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.9)
else:
    sched = torch.optim.lr_scheduler.LambdaLR(opt, cosine)
ctx = torch.autocast("cpu", dtype=torch.bfloat16) if autocast else contextlib.nullcontext()
print(f"{sum(p.numel() for p in model.parameters())} parameters, {len(chars)} characters")

for it in range(max_iters):
    total = 0.0
    for micro in range(accum):
        x, y = get_batch("train")
        with ctx:
            loss = model(x, y) / accum
        loss.backward()
        total += loss.item()
    nn.utils.clip_grad_norm_(model.parameters(), clip)
    opt.step()
    if CASE != 7:
        opt.zero_grad(set_to_none=True)
    sched.step()
    if it % 50 == 49:
        print(f"iter {it + 1}: train {total:.4f} val {estimate(model):.4f} lr {sched.get_last_lr()[0]:.2e}")

print("val", round(estimate(model), 4))
print(sample(model, "anna buys "))
