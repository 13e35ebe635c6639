"""A tiny character-level language model."""
import math
import os
import random

import torch
import torch.nn as nn
from torch.nn import functional as F

CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)
torch.set_num_threads(1)

# ------------------------------------------------------------------ hyperparameters
n_embd, n_head, n_layer, block = 32, 2, 2, 20
batch_size, max_iters, eval_every = 12, 400, 80
lr = 5e-3
accum = 1
tie = CASE == 0
corpus_lines = 25 if CASE == 9 else 1500
if CASE == 2:
    accum, batch_size, max_iters = 2, 6, 320
if CASE in (4, 7):
    lr = 0.3
if CASE == 5:
    max_iters = 100
    eval_every = 25
    lr = 1e-2
if CASE == 6:
    lr = 2e-4
    max_iters = 200
    eval_every = 50
if CASE == 9:
    max_iters = 900
    eval_every = 90
if CASE == 10:
    lr = 1.5e-2
# ------------------------------------------------------------------------------------
rnd = random.Random(SEED)
WHO = ["the cat", "a dog", "the old man", "my sister", "one bird", "the baker", "a small child", "the king"]
DOES = ["sees", "likes", "follows", "paints", "finds", "hears", "forgets"]
WHAT = ["the river", "a red ball", "the moon", "some bread", "the garden", "a long road", "her song"]
WHEN = ["at night", "every day", "in winter", "after lunch", "before dawn"]


def sentence():
    s = f"{rnd.choice(WHO)} {rnd.choice(DOES)} {rnd.choice(WHAT)}"
    if rnd.random() < 0.6:
        s += " " + rnd.choice(WHEN)
    return s + ".\n"


text = "".join(sentence() for _ in range(corpus_lines))
val_text = "".join(sentence() for _ in range(200))
chars = sorted(set("abcdefghijklmnopqrstuvwxyz .\n"))
stoi = {c: i for i, c in enumerate(chars)}
vocab = len(chars)
train_data = torch.tensor([stoi[c] for c in text])
val_data = torch.tensor([stoi[c] for c in val_text])


def get_batch(split):
    data = train_data if split == "train" else val_data
    if CASE == 8:
        torch.manual_seed(SEED)
    ix = torch.randint(len(data) - block - 1, (batch_size,))
    x = torch.stack([data[i:i + block] for i in ix])
    y = torch.stack([data[i + 1:i + block + 1] for i in ix])
    return x, y


class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(n_embd, 3 * n_embd)
        self.proj = nn.Linear(n_embd, n_embd)
        self.register_buffer("tril", torch.tril(torch.ones(block, block)))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).split(C, dim=2)
        q, k, v = (t.view(B, T, n_head, C // n_head).transpose(1, 2) for t in (q, k, v))
        if CASE == 3:
            att = (q @ k.transpose(-2, -1)) * (C // n_head)
        else:
            att = (q @ k.transpose(-2, -1)) / math.sqrt(C // n_head)
        if CASE != 1:
            att = att.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        att = F.softmax(att, dim=-1)
        y = (att @ v).transpose(1, 2).reshape(B, T, C)
        return self.proj(y)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(n_embd), nn.LayerNorm(n_embd)
        self.att = SelfAttention()
        self.mlp = nn.Sequential(nn.Linear(n_embd, 3 * n_embd), nn.GELU(), nn.Linear(3 * n_embd, n_embd))

    def forward(self, x):
        x = x + self.att(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(vocab, n_embd)
        self.pos = nn.Embedding(block, n_embd)
        self.layers = nn.Sequential(*[Layer() for _ in range(n_layer)])
        self.ln = nn.LayerNorm(n_embd)
        self.head = nn.Linear(n_embd, vocab, bias=False)
        if tie:
            nn.init.normal_(self.tok.weight, std=0.2)
            self.head.weight = self.tok.weight

    def forward(self, idx, targets=None):
        x = self.tok(idx) + self.pos(torch.arange(idx.size(1)))
        logits = self.head(self.ln(self.layers(x)))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.float().view(-1, vocab), targets.view(-1))


@torch.no_grad()
def estimate(model):
    model.eval()
    out = {}
    for split in ("train", "val"):
        out[split] = sum(model(*get_batch(split))[1].item() for _ in range(6)) / 6
    model.train()
    return out


@torch.no_grad()
def sample(model, n=60):
    idx = torch.zeros(1, 1, dtype=torch.long)
    for _ in range(n):
        logits, _ = model(idx[:, -block:])
        nxt = torch.multinomial(F.softmax(logits[:, -1].float(), -1), 1)
        idx = torch.cat([idx, nxt], 1)
    return "".join(chars[i] for i in idx[0].tolist()).replace("\n", "/")


model = GPT()
if CASE == 6:
    model = model.to(torch.bfloat16)
if CASE in (4, 7):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
else:
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.0 if CASE == 9 else 0.01)
scheduler = None
if CASE == 10:
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=lr, total_steps=max_iters)
SCALE = 4096.0

for it in range(max_iters + 1):
    if it % eval_every == 0:
        e = estimate(model)
        print(f"iter {it}: train {e['train']:.3f} val {e['val']:.3f}")
    if it == max_iters:
        break
    optimizer.zero_grad(set_to_none=True)
    for _ in range(accum):
        xb, yb = get_batch("train")
        if CASE == 5:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                _, loss = model(xb, yb)
        else:
            _, loss = model(xb, yb)
        if CASE == 4:
            loss = loss * SCALE
        (loss / accum).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    if CASE == 4:
        for p in model.parameters():
            p.grad.div_(SCALE)
    optimizer.step()
    if scheduler:
        scheduler.step()

print(sample(model))
