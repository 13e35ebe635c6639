"""Small decoder language model on templated cooking instructions (word level)."""
import copy
import math
import os
import random
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

ITEMS = "rice onion carrot lentils beans tofu chicken salmon spinach potato tomato mushroom egg noodles".split()
FAT = ["oil", "butter", "ghee", "lard"]
SPICE = ["cumin", "paprika", "thyme", "ginger", "chili", "basil"]
VERBS = ["fry", "boil", "steam", "roast", "grill", "stew"]
PREP = ["chop", "slice", "rinse", "peel", "dice"]
CUISINES = ["stew-pot", "pan", "oven", "steamer"]
SPECIALS = ["<pad>", "<bos>", "<eos>", "<cls>"]


def recipe(rng, style=None):
    style = style if style is not None else rng.randrange(4)
    n = rng.randint(2, 3)
    items = rng.sample(ITEMS, n)
    qty = [str(rng.randint(1, 9)) for _ in items]
    w = ["take"]
    for k, (q, it) in enumerate(zip(qty, items)):
        w += [q, it] + (["and"] if k < n - 1 else ["."])
    for it in rng.sample(items, n):
        w += [rng.choice(PREP), "the", it, "."]
    verb = {0: ["stew", "boil"], 1: ["fry", "grill"], 2: ["roast", "grill"], 3: ["steam", "boil"]}[style]
    first = rng.choice(items)
    w += [rng.choice(verb), "the", first, "in", rng.choice(FAT), "for", str(rng.randint(1, 9)), "minutes", "."]
    if rng.random() < 0.6:
        w += ["add", rng.choice(SPICE)] + (["and", rng.choice(SPICE)] if rng.random() < 0.3 else []) + ["."]
    rest = [i for i in items if i != first]
    w += ["serve", first, "with", rng.choice(rest), "<eos>"]
    return w, style


VOCAB = {w: i for i, w in enumerate(dict.fromkeys(
    SPECIALS + ITEMS + FAT + SPICE + VERBS + PREP + [str(k) for k in range(1, 10)]
    + "take and . the in for minutes add serve with".split()))}
WORDS = list(VOCAB)
PAD, BOS, EOS, CLS = 0, 1, 2, 3
MAXLEN = 64


def corpus(n, rng, style=None):
    out = [recipe(rng, style) for _ in range(n)]
    return [([BOS] + [VOCAB[w] for w in words])[:MAXLEN] for words, _ in out], [s for _, s in out]


def collate(seqs, length=None):
    L = length or max(map(len, seqs))
    x = torch.full((len(seqs), L), PAD, dtype=torch.long)
    for r, s in enumerate(seqs):
        x[r, :len(s)] = torch.tensor(s)
    return x


class SelfAttention(nn.Module):
    def __init__(self, d, heads, p):
        super().__init__()
        self.h, self.qkv, self.proj, self.drop = heads, nn.Linear(d, 3 * d), nn.Linear(d, d), nn.Dropout(p)

    def forward(self, x, mask):
        B, T, D = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.h, D // self.h).permute(2, 0, 3, 1, 4)
        a = q @ k.transpose(-2, -1) / math.sqrt(D // self.h)
        if mask is not None:
            a = a.masked_fill(mask, float("-inf"))
        a = self.drop(a.softmax(-1))
        return self.proj((a @ v).transpose(1, 2).reshape(B, T, D))


class Block(nn.Module):
    def __init__(self, d, heads, p):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.att = SelfAttention(d, heads, p)
        self.ff = nn.Sequential(nn.Linear(d, 3 * d), nn.GELU(), nn.Linear(3 * d, d), nn.Dropout(p))

    def forward(self, x, mask):
        x = x + self.att(self.n1(x), mask)
        return x + self.ff(self.n2(x))


class KitchenGPT(nn.Module):
    def __init__(self, d=48, heads=4, layers=2, p=0.05, tie=False, causal=True, n_classes=None):
        super().__init__()
        self.tok, self.pos = nn.Embedding(len(VOCAB), d), nn.Embedding(MAXLEN + 1, d)
        self.blocks = nn.ModuleList([Block(d, heads, p) for _ in range(layers)])
        self.norm = nn.LayerNorm(d)
        self.head = nn.Linear(d, n_classes or len(VOCAB), bias=False)
        self.causal = causal
        if CASE != 8:
            for m in self.modules():
                if isinstance(m, (nn.Linear, nn.Embedding)):
                    nn.init.normal_(m.weight, std=0.06 if isinstance(m, nn.Linear) else 0.1)
        if tie:
            self.head.weight = self.tok.weight

    def forward(self, x):
        T = x.size(1)
        h = self.tok(x) + self.pos(torch.arange(T))
        mask = None
        if self.causal:
            mask = torch.ones(T, T, dtype=torch.bool).triu(1)
        for b in self.blocks:
            h = b(h, mask)
        return self.head(self.norm(h))


def lm_loss(logits, ids, ignore=PAD):
    """next word cross entropy, shifts inside"""
    return F.cross_entropy(logits[:, :-1].reshape(-1, logits.size(-1)), ids[:, 1:].reshape(-1), ignore_index=ignore)


@torch.no_grad()
def validate(model, seqs, ignore=PAD, length=None):
    model.eval()
    tot = 0.0
    for k in range(0, len(seqs), 100):
        x = collate(seqs[k:k + 100], length)
        if CASE == 2:
            logits, y = model(x[:, :-1]), x[:, 1:]
            tot += lm_loss(logits, y, ignore).item()
        else:
            tot += lm_loss(model(x), x, ignore).item()
    model.train()
    return tot / math.ceil(len(seqs) / 100)


@torch.no_grad()
def write(model, prompt, n=40, temp=0.7):
    model.eval()
    ids = [BOS] + [VOCAB[w] for w in prompt.split()]
    while len(ids) < MAXLEN and n > 0:
        p = torch.softmax(model(torch.tensor([ids]))[0, -1] / temp, -1)
        nxt = int(torch.multinomial(p, 1))
        if nxt == EOS:
            break
        ids.append(nxt); n -= 1
    model.train()
    return [WORDS[i] for i in ids[1:]]


def faithful(model, rng, n=6):
    """share of ingredient words in the steps that were on the list"""
    good = total = 0
    for _ in range(n):
        a, b = rng.sample(ITEMS, 2)
        text = write(model, f"take 2 {a} and 3 {b} .")
        steps = text[7:]
        for w in steps:
            if w in ITEMS:
                total += 1
                good += w in (a, b)
    return good / max(total, 1)


class Sampler:
    def __init__(self, seqs, size, seed):
        self.seqs, self.size, self.seed = seqs, size, seed
        self.rng = random.Random(seed)

    def next(self):
        rng = random.Random(self.seed) if CASE == 9 else self.rng
        return rng.sample(self.seqs, self.size)


class Averager:
    def __init__(self, model, decay):
        self.decay, self.shadow = decay, [p.detach().clone() for p in model.parameters()]
        self.backup = None

    def update(self, model):
        for s, p in zip(self.shadow, model.parameters()):
            s.mul_(self.decay).add_(p.detach(), alpha=1 - self.decay)

    def swap_in(self, model):
        self.backup = [p.detach().clone() for p in model.parameters()]
        for s, p in zip(self.shadow, model.parameters()):
            p.data.copy_(s)

    def restore(self, model):
        for b, p in zip(self.backup, model.parameters()):
            p.data.copy_(b)


def run_lm(steps=240, batch=14, lr=5e-3, warmup=30, **model_kw):
    rng = random.Random(SEED + 5)
    train, _ = corpus(3000, rng)
    dev, _ = corpus(60, rng)
    model = KitchenGPT(**model_kw)
    print(f"{sum(p.numel() for p in model.parameters())} parameters, {len(VOCAB)} words")
    opt = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01, betas=(0.9, 0.98))
    if CASE == 4:
        warm = 4000
        opt = torch.optim.AdamW(model.parameters(), lr=1.0, weight_decay=0.01, betas=(0.9, 0.98))
        lam = lambda s: 48 ** -0.5 * min((s + 1) ** -0.5, (s + 1) * warm ** -1.5)
    else:
        lam = lambda s: (s + 1) / warmup if s < warmup else 0.5 * (1 + math.cos(math.pi * (s - warmup) / (steps - warmup))) + 0.02
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lam)
    feed = Sampler(train, batch, SEED)
    ignore, length = (-100, MAXLEN) if CASE == 7 else (PAD, None)
    ema = Averager(model, 0.98) if CASE in (10, 12) else None
    accum = 3 if CASE == 3 else 1
    t0 = time.time()
    for step in range(1, steps + 1):
        total = 0.0
        for _ in range(accum):
            x = collate(feed.next(), length)
            if CASE == 2:
                x, y = x[:, :-1], x[:, 1:]
            else:
                y = x
            loss = lm_loss(model(x), y, ignore) / accum
            loss.backward()
            total += loss.item()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        if CASE != 5:
            opt.zero_grad()
        if ema:
            ema.update(model)
        if step % 20 == 0:
            print(f"step {step:4d} loss {total:.4f} lr {opt.param_groups[0]['lr']:.2e}")
        if step % 60 == 0 or step == steps:
            if CASE == 5:
                opt.zero_grad()
            if ema:
                ema.swap_in(model)
            print(f"--- dev loss {validate(model, dev, ignore, length):.4f}  ({time.time() - t0:.1f}s)")
            if ema and CASE == 12 and step < steps:
                ema.restore(model)
    print("sample:", " ".join(write(model, "take 4 tofu and 2 rice .")))
    print(f"dev perplexity {math.exp(validate(model, dev, ignore, length)):.3f}  faithful {faithful(model, rng):.3f}")
    return model


def classify():
    """which vessel is the recipe for? encoder with a CLS token and padded batches"""
    rng = random.Random(SEED + 6)
    seqs, lab = corpus(1000, rng)
    vs, vl = corpus(300, rng)
    d = 32
    emb, pos = nn.Embedding(len(VOCAB), d, padding_idx=PAD), nn.Parameter(torch.randn(MAXLEN + 1, d) * 0.1)
    layer = nn.TransformerEncoderLayer(d, 4, 64, dropout=0.2, batch_first=True)
    enc = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    head = nn.Linear(d, 4)
    mods = nn.ModuleList([emb, enc, head])
    params = list(mods.parameters()) + [pos]

    def forward(batch):
        x = collate([[CLS] + s for s in batch])
        h = emb(x) + pos[:x.size(1)]
        h = enc(h, src_key_padding_mask=x == PAD)
        return head(h[:, 0])

    opt = torch.optim.Adam(params, lr=3e-3)
    idx = list(range(len(seqs)))
    step = 0
    for ep in range(5):
        rng.shuffle(idx)
        mods.train()
        for k in range(0, len(idx), 25):
            b = idx[k:k + 25]
            loss = F.cross_entropy(forward([seqs[i] for i in b]), torch.tensor([lab[i] for i in b]))
            opt.zero_grad(); loss.backward(); opt.step()
            step += 1
            if step % 20 == 0:
                print(f"step {step} loss {loss.item():.4f}")
        mods.eval()
        with torch.no_grad():
            p = forward(vs).argmax(1)
        print(f"epoch {ep}: accuracy {(p == torch.tensor(vl)).float().mean():.3f} (chance 0.25)")


def finetune():
    """general model first, then adapt to steamer recipes; only what follows the list counts in the loss"""
    model = run_lm(steps=170)
    rng = random.Random(SEED + 9)
    tune, _ = corpus(300, rng, style=3)
    dev, _ = corpus(100, rng, style=3)
    for p in list(model.tok.parameters()) + list(model.pos.parameters()) + list(model.blocks[0].parameters()):
        p.requires_grad_(False)
    live = [p for p in model.parameters() if p.requires_grad]
    opt = torch.optim.AdamW(live, lr=2e-4, weight_decay=0.0)
    dot = VOCAB["."]

    def completion_loss(seqs):
        x = collate(seqs)
        y = x.clone()
        for r, s in enumerate(seqs):
            y[r, :s.index(dot) + 1] = PAD
        return lm_loss(model(x), y)

    print("fine-tuning, dev before %.4f" % completion_loss(dev).item())
    for step in range(1, 91):
        loss = completion_loss(rng.sample(tune, 16))
        opt.zero_grad(); loss.backward(); opt.step()
        if step % 15 == 0:
            model.eval()
            with torch.no_grad():
                print(f"tune step {step} loss {loss.item():.4f} dev {completion_loss(dev).item():.4f}")
            model.train()


if __name__ == "__main__":
    torch.manual_seed(SEED)
    random.seed(SEED)
    if CASE == 6:
        classify()
    elif CASE == 11:
        finetune()
    elif CASE == 3:
        run_lm(steps=180, batch=8, tie=True)
    elif CASE == 8:
        run_lm(tie=True)
    else:
        run_lm(causal=CASE != 1)
