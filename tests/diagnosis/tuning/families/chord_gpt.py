import os, math, copy, random
from dataclasses import dataclass
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))


@dataclass
class Config:
    block: int = 36
    d: int = 48
    heads: int = 3
    layers: int = 2
    dropout: float = 0.1
    lr: float = 4e-3
    wd: float = 0.05
    batch: int = 16
    accum: int = 2
    steps: int = 240          # micro-batches
    warmup: int = 12
    songs: int = 260
    tied: bool = False
    ema: float = 0.0
    eval_every: int = 40


cfg = Config()
if CASE == 1:
    cfg = Config(dropout=0.3, tied=True, ema=0.96, accum=1, steps=200, lr=3e-3)
if CASE in (4, 6):
    cfg = Config(songs=26, dropout=0.0, accum=1, steps=200, lr=4e-3)
torch.manual_seed(SEED + 1)
random.seed(SEED + 1)

# ---- corpus: songs are sections of chords (root degree, quality) in a random key, with repeats ----
QUAL = {0: "maj7", 1: "m7", 2: "7", 3: "dim"}
DEG = {0: 0, 2: 1, 4: 1, 5: 0, 7: 2, 9: 1, 11: 3}
NEXT = {0: [(5, 4), (9, 3), (2, 3), (4, 1)], 2: [(7, 7), (4, 1), (11, 1)], 4: [(9, 5), (5, 3)], 5: [(2, 3), (7, 4), (0, 2)],
        7: [(0, 8), (9, 2)], 9: [(2, 6), (5, 3), (7, 1)], 11: [(0, 3), (4, 2)]}
BAR, END = 48, 49
V = 50


def section(rng, n):
    deg, out = 0, []
    for _ in range(n):
        out.append(deg)
        ks, ws = zip(*NEXT[deg])
        deg = rng.choices(ks, ws)[0]
    return out


def song(rng):
    key = rng.randrange(12)
    a, b = section(rng, 8), section(rng, 8)
    toks = []
    for part in (a, a, b, a):
        for i, deg in enumerate(part):
            q = DEG[deg]
            if rng.random() < 0.08:
                q = rng.randrange(4)
            if rng.random() < 0.05:
                deg = rng.choice(list(NEXT))
            toks.append(((key + deg) % 12) * 4 + q)
            if i % 4 == 3:
                toks.append(BAR)
    return toks + [END]


rng = random.Random(11 + SEED)
songs = [song(rng) for _ in range(cfg.songs)]


def windows(ss, stride):
    s = [t for x in ss for t in x]
    return torch.tensor([s[i:i + cfg.block + 1] for i in range(0, len(s) - cfg.block, stride)])


if CASE == 4:
    w = windows(songs, 3)
    w = w[torch.randperm(len(w))]
    k = int(0.85 * len(w))
    train_x, val_x = w[:k], w[k:]
else:
    k = int(0.85 * len(songs))
    train_x, val_x = windows(songs[:k], 3), windows(songs[k:], 18 if len(songs) > 100 else 6)
print("windows: train", len(train_x), "val", len(val_x))


# ---- model ----
class SelfAttention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.h = c.heads
        self.qkv = nn.Linear(c.d, 3 * c.d)
        self.proj = nn.Linear(c.d, c.d)
        self.drop = nn.Dropout(c.dropout)
        diag = 1 if CASE == 2 else 0
        self.register_buffer("mask", torch.tril(torch.ones(c.block, c.block), diagonal=diag).bool())

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.h, C // self.h).permute(2, 0, 3, 1, 4)
        att = q @ k.transpose(-2, -1) / math.sqrt(C // self.h)
        att = att.masked_fill(~self.mask[:T, :T], float("-inf")).softmax(-1)
        y = (self.drop(att) @ v).transpose(1, 2).reshape(B, T, C)
        return self.proj(y)


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(c.d), nn.LayerNorm(c.d)
        self.att = SelfAttention(c)
        self.mlp = nn.Sequential(nn.Linear(c.d, 4 * c.d), nn.GELU(), nn.Linear(4 * c.d, c.d), nn.Dropout(c.dropout))

    def forward(self, x):
        x = x + self.att(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.tok = nn.Embedding(V, c.d)
        self.pos = nn.Parameter(torch.zeros(c.block, c.d))
        self.drop = nn.Dropout(c.dropout)
        self.blocks = nn.ModuleList([Block(c) for _ in range(c.layers)])
        self.ln = nn.LayerNorm(c.d)
        self.head = nn.Linear(c.d, V, bias=False)
        self.apply(self._init)
        if c.tied:
            self.head.weight = self.tok.weight

    def _init(self, m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            nn.init.normal_(m.weight, std=0.02)
        if isinstance(m, nn.Linear) and m.bias is not None:
            nn.init.zeros_(m.bias)

    def forward(self, idx, targets=None):
        x = self.drop(self.tok(idx) + self.pos[:idx.size(1)])
        for b in self.blocks:
            x = b(x)
        logits = self.head(self.ln(x))
        loss = None if targets is None else F.cross_entropy(logits.reshape(-1, V), targets.reshape(-1))
        return logits, loss


def configure(model):
    decay, rest = [], []
    for mod in model.modules():
        if isinstance(mod, nn.Linear):
            decay.append(mod.weight)
            if mod.bias is not None:
                rest.append(mod.bias)
        elif isinstance(mod, nn.LayerNorm):
            rest += [mod.weight, mod.bias]
        elif isinstance(mod, nn.Embedding) and not cfg.tied and CASE != 5:
            rest.append(mod.weight)
    if CASE != 5:
        rest.append(model.pos)
    return torch.optim.AdamW([{"params": decay, "weight_decay": cfg.wd}, {"params": rest, "weight_decay": 0.0}],
                             lr=cfg.lr, betas=(0.9, 0.98))


@torch.no_grad()
def val_loss(m):
    m.eval()
    ls = [m(b[:, :-1], b[:, 1:])[1].item() for b in val_x[:120].split(60)]
    m.train()
    return sum(ls) / len(ls)


@torch.no_grad()
def sample(m, n=24):
    m.eval()
    x = torch.tensor([[END]])
    for _ in range(n):
        p = m(x)[0][:, -1].softmax(-1)
        x = torch.cat([x, torch.multinomial(p, 1)], 1)
    names = "C Db D Eb E F Gb G Ab A Bb B".split()
    return " ".join("|" if t == BAR else "#" if t == END else names[t // 4] + QUAL[t % 4] for t in x[0].tolist())


model = GPT(cfg)
opt = configure(model)
shadow = copy.deepcopy(model) if cfg.ema else None
total = cfg.steps // cfg.accum
sched = torch.optim.lr_scheduler.LambdaLR(
    opt, lambda s: min(1.0, (s + 1) / cfg.warmup) * (0.1 + 0.45 * (1 + math.cos(math.pi * min(1, s / total)))))
running = None
model.train()
opt.zero_grad()
for it in range(1, cfg.steps + 1):
    b = train_x[torch.randint(len(train_x), (cfg.batch,))]
    _, loss = model(b[:, :-1], b[:, 1:])
    (loss / cfg.accum).backward()
    if it % cfg.accum == 0:
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        if CASE != 3:
            opt.zero_grad()
        if shadow is not None:
            with torch.no_grad():
                for s, p in zip(shadow.parameters(), model.parameters()):
                    s.lerp_(p, 1 - cfg.ema)
    running = loss.item() if running is None else 0.95 * running + 0.05 * loss.item()
    if it % cfg.eval_every == 0:
        v = val_loss(shadow if shadow is not None else model)
        print(f"iter {it} | train {running:.3f} | val {v:.3f} | ppl {math.exp(v):.2f} | lr {sched.get_last_lr()[0]:.1e}")
print(sample(shadow if shadow is not None else model))
