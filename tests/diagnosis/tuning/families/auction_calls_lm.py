# Word-level GPT on an auctioneer's calls. Tied in/out embedding, linear warm-up then cosine.
import math
import os
import random
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.nn import functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))


@dataclass
class GPTConfig:
    block_size: int = 32
    vocab_size: int = 0
    n_layer: int = 2
    n_head: int = 4
    n_embd: int = 48
    dropout: float = 0.1
    init_std: float = 0.02


@dataclass
class TrainConfig:
    batch_size: int = 16
    max_iters: int = 220
    eval_every: int = 55
    eval_batches: int = 6
    lr: float = 4e-3
    min_ratio: float = 0.1
    warmup: int = 30
    weight_decay: float = 0.05
    grad_clip: float = 1.0
    accum: int = 1


UNITS = "zero one two three four five six seven eight nine".split()
TENS = "x x twenty thirty forty fifty sixty seventy eighty ninety".split()
ITEMS = {"cow": ["brown", "milk", "young"], "tractor": ["green", "old", "diesel"], "clock": ["brass", "tall", "oak"],
         "chair": ["oak", "rocking", "low"], "goat": ["white", "young", "loud"], "saddle": ["leather", "brown", "old"],
         "wagon": ["hay", "red", "tall"], "kettle": ["copper", "brass", "small"]}
BIDDERS = ["the lady in red", "the man at the back", "number four", "number nine", "our friend by the door", "the phone"]


def say(n):
    if n >= 100:
        return say(n // 100) + " hundred" + ((" " + say(n % 100)) if n % 100 else "")
    if n < 10:
        return UNITS[n]
    return TENS[n // 10] + ((" " + UNITS[n % 10]) if n % 10 else "")


def one_lot(r, lot):
    item = r.choice(list(ITEMS))
    s = f"lot {say(lot)} a {r.choice(ITEMS[item])} {item} who will start me at "
    step = r.choice([5, 10, 10, 20])
    price = r.choice([20, 30, 40, 60, 100])
    s += say(price) + " . "
    for _ in range(r.choice([1, 2, 3, 4])):
        who = r.choice(BIDDERS)
        s += r.choice([f"{say(price)} from {who} do i hear {say(price + step)} . ",
                       f"i have {say(price)} now {say(price + step)} . ",
                       f"{who} says {say(price)} , {say(price + step)} anyone ? "])
        price += step
    price -= step
    if r.random() < .8:
        s += f"going once going twice sold the {item} for {say(price)} to {who} . "
    else:
        s += f"no more ? the {item} is passed . "
    return s


def corpus():
    r = random.Random(SEED + 3)
    text = "".join(one_lot(r, r.randint(20, 99)) for _ in range(900)).split()
    words = sorted(set(text))
    table = {w: i for i, w in enumerate(words)}
    ids = torch.tensor([table[w] for w in text])
    cut = int(0.9 * len(ids))
    return ids[:cut], ids[cut:], words


class SelfAttention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.n_head = c.n_head
        self.qkv = nn.Linear(c.n_embd, 3 * c.n_embd)
        self.proj = nn.Linear(c.n_embd, c.n_embd)
        self.drop = nn.Dropout(c.dropout)
        k = 1 if CASE == 1 else 0
        m = torch.tril(torch.ones(c.block_size, c.block_size), diagonal=k)
        self.register_buffer("mask", m.view(1, 1, c.block_size, c.block_size))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (z.view(B, T, self.n_head, -1).transpose(1, 2) for z in self.qkv(x).split(C, 2))
        att = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))
        att = self.drop(att.softmax(-1))
        return self.drop(self.proj((att @ v).transpose(1, 2).reshape(B, T, C)))


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(c.n_embd), nn.LayerNorm(c.n_embd)
        self.att = SelfAttention(c)
        self.mlp = nn.Sequential(nn.Linear(c.n_embd, 3 * c.n_embd), nn.GELU(),
                                 nn.Linear(3 * c.n_embd, c.n_embd), nn.Dropout(c.dropout))

    def forward(self, x):
        x = x + self.att(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.wte = nn.Embedding(c.vocab_size, c.n_embd)
        self.wpe = nn.Embedding(c.block_size, c.n_embd)
        self.drop = nn.Dropout(c.dropout)
        self.blocks = nn.ModuleList([Block(c) for _ in range(c.n_layer)])
        self.ln_f = nn.LayerNorm(c.n_embd)
        self.head = nn.Linear(c.n_embd, c.vocab_size, bias=False)
        self.apply(self._init)
        self.head.weight = self.wte.weight

    def _init(self, m):
        if isinstance(m, nn.Linear):
            nn.init.normal_(m.weight, std=self.c.init_std)
            if m.bias is not None:
                nn.init.zeros_(m.bias)
        elif isinstance(m, nn.Embedding):
            nn.init.normal_(m.weight, std=1.0 if CASE == 3 else self.c.init_std)

    def resize_vocab(self, n):
        old = self.wte.weight.data
        self.wte = nn.Embedding(n, self.c.n_embd)
        nn.init.normal_(self.wte.weight, std=self.c.init_std)
        self.wte.weight.data[:len(old)] = old
        self.head = nn.Linear(self.c.n_embd, n, bias=False)
        self.head.weight = self.wte.weight

    def forward(self, idx, targets=None):
        T = idx.shape[1]
        x = self.drop(self.wte(idx) + self.wpe(torch.arange(T)))
        for b in self.blocks:
            x = b(x)
        logits = self.head(self.ln_f(x))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.reshape(-1))

    @torch.no_grad()
    def generate(self, idx, n):
        self.eval()
        for _ in range(n):
            logits, _ = self(idx[:, -self.c.block_size:])
            idx = torch.cat([idx, torch.multinomial(logits[:, -1].softmax(-1), 1)], 1)
        self.train()
        return idx


def get_batch(data, c, t, gen=None):
    if CASE == 5:
        gen = torch.Generator().manual_seed(SEED)
    ix = torch.randint(len(data) - c.block_size - 1, (t.batch_size,), generator=gen)
    x = torch.stack([data[i:i + c.block_size] for i in ix])
    y = torch.stack([data[i + 1:i + 1 + c.block_size] for i in ix])
    return x, y


@torch.no_grad()
def estimate(model, data, c, t):
    model.eval()
    chunks = data[:t.eval_batches * 16 * c.block_size + 1]
    x = chunks[:-1].view(-1, c.block_size)
    y = chunks[1:].view(-1, c.block_size)
    loss = sum(model(a, b)[1].item() for a, b in zip(x.split(16), y.split(16))) / t.eval_batches
    model.train()
    return loss


def schedule(t):
    def f(it):
        if it < t.warmup:
            ratio = (it + 1) / t.warmup
        else:
            p = (it - t.warmup) / max(1, t.max_iters - t.warmup)
            ratio = t.min_ratio + (1 - t.min_ratio) * 0.5 * (1 + math.cos(math.pi * p))
        return t.lr * ratio if CASE == 2 else ratio
    return f


def make_optimizer(model, t):
    decay = [p for p in model.parameters() if p.dim() > 1]
    plain = [p for p in model.parameters() if p.dim() <= 1]
    return torch.optim.AdamW([{"params": decay, "weight_decay": t.weight_decay},
                              {"params": plain, "weight_decay": 0.0}], lr=t.lr, betas=(0.9, 0.98))


def main():
    torch.manual_seed(SEED)
    train, val, words = corpus()
    c = GPTConfig(vocab_size=len(words), dropout=0.9 if CASE == 6 else 0.1)
    t = TrainConfig()
    if CASE == 7:
        t = TrainConfig(batch_size=4, accum=4, warmup=90, grad_clip=0.05, lr=6e-3, max_iters=180, weight_decay=0.2)
        c.dropout = 0.0
    print(f"{len(train)} train tokens, {len(val)} val tokens, vocab {len(words)}")
    model = GPT(c)
    padded = (len(words) + 7) // 8 * 8 + 8
    if CASE != 4:
        model.resize_vocab(padded)
    opt = make_optimizer(model, t)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, schedule(t))
    if CASE == 4:
        model.resize_vocab(padded)
    for it in range(1, t.max_iters + 1):
        total = 0.0
        for _ in range(t.accum):
            x, y = get_batch(train, c, t)
            _, loss = model(x, y)
            (loss / t.accum).backward()
            total += loss.item() / t.accum
        nn.utils.clip_grad_norm_(model.parameters(), t.grad_clip)
        opt.step()
        opt.zero_grad(set_to_none=True)
        sched.step()
        if it % 20 == 0 or it == 1:
            print(f"iter {it} loss {total:.4f}")
        if it % t.eval_every == 0:
            v = estimate(model, val, c, t)
            print(f"== iter {it} val loss {v:.4f} ppl {math.exp(v):.2f}")
    w = words + ["<pad>"] * (padded - len(words))
    print(" ".join(w[i] for i in model.generate(train[:2][None], 24)[0].tolist()))


if __name__ == "__main__":
    main()
