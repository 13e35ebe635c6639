import os
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
from torch.nn import functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

WORDS = ["<pad>", "<s>", "</s>", "the", "a", "every", "cat", "dog", "bird", "man", "woman", "cats", "dogs",
         "birds", "men", "women", "sees", "likes", "hears", "see", "like", "hear", "big", "small", "red", "old",
         "and", "that", "quickly", "slowly"]
ID = {w: i for i, w in enumerate(WORDS)}
PAD, BOS, EOS = 0, 1, 2


def noun_phrase(rng, depth=0):
    plural = rng.rand() < 0.5
    out = [["the", "a", "every"][rng.randint(3)] if not plural else "the"]
    for _ in range(rng.choice([0, 1, 2], p=[0.6, 0.3, 0.1])):
        out.append(["big", "small", "red", "old"][rng.randint(4)])
    nouns = ["cats", "dogs", "birds", "men", "women"] if plural else ["cat", "dog", "bird", "man", "woman"]
    out.append(nouns[rng.randint(5)])
    if depth < 1 and rng.rand() < 0.2:
        out += ["that"] + verb(rng, plural) + noun_phrase(rng, depth + 1)[0]
    return out, plural


def verb(rng, plural):
    return [(["see", "like", "hear"] if plural else ["sees", "likes", "hears"])[rng.randint(3)]]


def sentence(rng):
    subject, plural = noun_phrase(rng)
    out = subject + verb(rng, plural) + noun_phrase(rng, 1)[0]
    if rng.rand() < 0.3:
        out.append(["quickly", "slowly"][rng.randint(2)])
    return [ID[w] for w in out]


@dataclass
class Config:
    block: int = 18
    dim: int = 48
    heads: int = 4
    layers: int = 2
    dropout: float = 0.0
    rotary: bool = False
    tie: bool = False
    packed: bool = False
    n_train: int = 2000
    batch: int = 32
    steps: int = 300
    lr: float = 3e-3
    warmup: int = 30
    weight_decay: float = 0.01
    clip: float = 1.0
    optimizer: str = "adamw"
    dtype: torch.dtype = torch.float32
    loss_sum: bool = False


CONFIGS = {
    0: Config(),
    1: Config(packed=True, block=24, tie=True, dropout=0.1, warmup=100, steps=400, lr=2e-3),
    2: Config(optimizer="sgd", lr=0.3, warmup=0, weight_decay=0.0, clip=0.5, steps=400),
    3: Config(rotary=True, layers=1, loss_sum=True, lr=2e-3),
    4: Config(steps=500, lr=1.5e-4, dim=64, warmup=0),
    5: Config(lr=1e-3),
    6: Config(block=64, optimizer="sgd", lr=0.05, warmup=0, steps=200, n_train=1500, weight_decay=0.0),
    7: Config(dtype=torch.bfloat16, steps=400, lr=1.5e-4, dim=64, warmup=0),
    8: Config(optimizer="sgd", lr=0.05, warmup=0, weight_decay=0.0, clip=0.0),
    9: Config(optimizer="sgd", lr=0.02, warmup=0),
    10: Config(),
}


class Attention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.q = nn.Linear(cfg.dim, cfg.dim, bias=False)
        self.k = nn.Linear(cfg.dim, cfg.dim, bias=False)
        self.v = nn.Linear(cfg.dim, cfg.dim, bias=False)
        self.o = nn.Linear(cfg.dim, cfg.dim, bias=False)
        self.register_buffer("causal", torch.tril(torch.ones(cfg.block, cfg.block, dtype=torch.bool)))
        hd = cfg.dim // cfg.heads
        ang = torch.arange(cfg.block)[:, None] * (100.0 ** (-torch.arange(0, hd, 2) / hd))[None]
        self.register_buffer("cos", ang.cos())
        self.register_buffer("sin", ang.sin())

    def rotate(self, x):
        t = x.shape[-2]
        a, b = x.chunk(2, -1)
        c, s = self.cos[:t], self.sin[:t]
        return torch.cat([a * c - b * s, a * s + b * c], -1)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (f(x).view(b, t, self.cfg.heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        if self.cfg.rotary:
            q, k = self.rotate(q), self.rotate(k)
        att = q @ k.transpose(-2, -1) / (d // self.cfg.heads) ** 0.5
        if CASE != 5:
            att = att.masked_fill(~self.causal[:t, :t], float("-inf"))
        y = F.dropout(att.softmax(-1), self.cfg.dropout, self.training) @ v
        return self.o(y.transpose(1, 2).reshape(b, t, d))


class DecoderBlock(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(cfg.dim), nn.LayerNorm(cfg.dim)
        self.attn = Attention(cfg)
        self.mlp = nn.Sequential(nn.Linear(cfg.dim, 4 * cfg.dim), nn.GELU(), nn.Linear(4 * cfg.dim, cfg.dim),
                                 nn.Dropout(cfg.dropout))

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class TinyGPT(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.wte = nn.Embedding(len(WORDS), cfg.dim)
        self.wpe = None if cfg.rotary else nn.Embedding(cfg.block, cfg.dim)
        self.h = nn.ModuleList([DecoderBlock(cfg) for _ in range(cfg.layers)])
        self.ln_f = nn.LayerNorm(cfg.dim)
        self.lm_head = nn.Linear(cfg.dim, len(WORDS), bias=False)
        if cfg.tie:
            nn.init.normal_(self.wte.weight, std=0.1)
            self.lm_head.weight = self.wte.weight

    def forward(self, idx):
        x = self.wte(idx)
        if self.wpe is not None:
            x = x + self.wpe(torch.arange(idx.shape[1]))
        for block in self.h:
            x = block(x)
        return self.lm_head(self.ln_f(x))


def build_corpus(cfg, rng, n):
    if cfg.packed:
        stream = []
        while len(stream) < n * (cfg.block + 1):
            stream += [BOS] + sentence(rng) + [EOS]
        return torch.tensor(stream[:n * (cfg.block + 1)]).view(n, cfg.block + 1)
    rows = np.full((n, cfg.block + 1), PAD, dtype=np.int64)
    for i in range(n):
        s = ([BOS] + sentence(rng) + [EOS])[:cfg.block + 1]
        rows[i, :len(s)] = s
    return torch.from_numpy(rows)


def split(rows):
    if CASE == 10:
        rows = torch.cat([rows, torch.full_like(rows[:, :1], PAD)], 1)
        return rows[:, :-2], rows[:, 2:]
    return rows[:, :-1], rows[:, 1:]


def lm_loss(logits, targets, reduction="mean"):
    logits, targets = logits.float().reshape(-1, logits.shape[-1]), targets.reshape(-1)
    if CASE == 6:
        return F.cross_entropy(logits, targets, reduction=reduction)
    return F.cross_entropy(logits, targets, ignore_index=PAD, reduction=reduction)


@torch.no_grad()
def validate(model, rows):
    model.eval()
    logits = model(rows[:, :-1]).float()
    loss = F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten(), ignore_index=PAD)
    model.train()
    return loss.item()


@torch.no_grad()
def generate(model, pairs, n=40):
    model.eval()
    idx = torch.full((n, 1), BOS)
    for _ in range(11):
        p = model(idx)[:, -1].float().softmax(-1)
        idx = torch.cat([idx, torch.multinomial(p, 1)], 1)
    model.train()
    good = total = 0
    for row in idx.tolist():
        for a, b in zip(row, row[1:]):
            if a == EOS:
                break
            good += (a, b) in pairs
            total += 1
    text = [" ".join(WORDS[i] for i in row[1:] if i > EOS) for row in idx[:3].tolist()]
    return text, good / total


def make_optimizer(cfg, model):
    if cfg.optimizer == "sgd":
        return torch.optim.SGD(model.parameters(), lr=cfg.lr, momentum=0.9 if cfg.dtype == torch.float32 else 0.0)
    return torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay, betas=(0.9, 0.95))


def main():
    cfg = CONFIGS[CASE]
    torch.manual_seed(SEED)
    rng = np.random.RandomState(SEED)
    train, val = build_corpus(cfg, rng, cfg.n_train), build_corpus(cfg, rng, 256)
    model = TinyGPT(cfg).to(cfg.dtype)
    opt = make_optimizer(cfg, model)
    scale = 128.0
    total = 0.0
    for step in range(cfg.steps):
        lr = cfg.lr * min(1.0, (step + 1) / max(1, cfg.warmup))
        if CASE == 9:
            opt = make_optimizer(cfg, model)
        for group in opt.param_groups:
            group["lr"] = lr
        rows = train[torch.randint(0, len(train), (cfg.batch,))]
        x, y = split(rows)
        logits = model(x)
        if cfg.loss_sum:
            loss = lm_loss(logits, y, "sum")
            n_tokens = (y != PAD).sum().item()
        else:
            loss, n_tokens = lm_loss(logits, y), 1
        opt.zero_grad()
        if CASE == 8:
            (loss * scale).backward()
        else:
            loss.backward()
        if cfg.clip:
            nn.utils.clip_grad_norm_(model.parameters(), cfg.clip)
        opt.step()
        total += loss.item() / n_tokens
        if (step + 1) % 50 == 0:
            print("step %d train %.4f val %.4f" % (step + 1, total / 50, validate(model, val)))
            total = 0.0
    final = validate(model, val)
    known = 0.0
    if np.isfinite(final):
        pairs = {(a, b) for row in train.tolist() for a, b in zip(row, row[1:])}
        text, known = generate(model, pairs)
        print("samples:", " | ".join(text))
    print("final val loss %.4f, known word pairs %.3f" % (final, known))


main()
