"""Character language model on street signs (decoder-only transformer, nanoGPT style)."""
import os
import math
import random
import logging
import torch
import torch.nn as nn
from torch.nn import functional as F

logging.basicConfig(format="%(levelname)s %(message)s", level=logging.INFO)
log = logging.getLogger("signs")

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
random.seed(SEED)
torch.manual_seed(SEED)

# ---------------------------------------------------------------- text
FIRST = "old new upper lower north south east west great little saint long".split()
STEM = ("maple oak birch elm cedar willow hazel thorn heron swan otter fox deer hart mill brook ford "
        "marsh moor stone flint chalk clay abbey priory castle market chapel bishop king queen miller "
        "cooper tanner weaver smith baker fisher hunter").split()
TAIL = "wood field ham ton bury ley gate well side bridge dale combe".split()
KIND = "road street lane way close court avenue hill row walk drive place".split()
WORDS = set(FIRST) | set(KIND) | {a + b for a in STEM for b in TAIL} | set(STEM)


def sign(r):
    words = []
    if r.random() < 0.35:
        words.append(r.choice(FIRST))
    stem = r.choice(STEM)
    words.append(stem + r.choice(TAIL) if r.random() < 0.6 else stem)
    k = KIND[:4] if stem[0] < "g" else KIND[4:8] if stem[0] < "o" else KIND[8:]
    words.append(r.choice(k))
    if r.random() < 0.2:
        words.append(str(r.choice([1, 2, 5])) + r.choice("05") )
    return " ".join(words) + "\n"


r = random.Random(100 + SEED)
train_text = "".join(sign(r) for _ in range(2600))
valid_text = "".join(sign(r) for _ in range(500))
chars = sorted(set(train_text + valid_text))
stoi = {c: i for i, c in enumerate(chars)}
encode = lambda s: torch.tensor([stoi[c] for c in s])
data = {"train": encode(train_text), "valid": encode(valid_text)}

# ---------------------------------------------------------------- config
block, n_embd, n_head, n_layer = 40, 48, 4, 2
batch, max_iters, eval_every = 16, 320, 40
lr = 3e-3
dropout = 0.2 if CASE == 5 else 0.0
smoothing = 0.1 if CASE == 5 else 0.0
accum = 2 if CASE == 5 else 1
if CASE == 5:
    max_iters, batch = 200, 14


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(n_embd, 3 * n_embd, bias=False)
        self.out = nn.Linear(n_embd, n_embd)
        self.drop = nn.Dropout(dropout)
        self.register_buffer("future", torch.triu(torch.ones(block, block), 1).bool())

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, n_head, C // n_head).permute(2, 0, 3, 1, 4)
        att = q @ k.transpose(-2, -1) / math.sqrt(C // n_head)
        if CASE == 1:
            att.masked_fill(self.future[:T, :T], float("-inf"))
        else:
            att.masked_fill_(self.future[:T, :T], float("-inf"))
        att = self.drop(att.softmax(-1))
        return self.out((att @ v).transpose(1, 2).reshape(B, T, C))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(n_embd), nn.LayerNorm(n_embd)
        self.att = Attention()
        self.mlp = nn.Sequential(nn.Linear(n_embd, 4 * n_embd), nn.GELU(),
                                 nn.Linear(4 * n_embd, n_embd), nn.Dropout(dropout))

    def forward(self, x):
        x = x + self.att(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.tok = nn.Embedding(vocab, n_embd)
        self.pos = nn.Embedding(block, n_embd)
        self.blocks = nn.Sequential(*[Block() for _ in range(n_layer)])
        self.ln = nn.LayerNorm(n_embd)
        self.lm_head = nn.Linear(n_embd, vocab, bias=False)
        self.apply(self._init)
        if CASE == 5:
            self.lm_head.weight = self.tok.weight

    def _init(self, m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            nn.init.normal_(m.weight, mean=0.0, std=1.0 if CASE == 3 else 0.02)
            if getattr(m, "bias", None) is not None:
                nn.init.zeros_(m.bias)

    def forward(self, idx, targets=None):
        T = idx.shape[1]
        x = self.tok(idx) + self.pos(torch.arange(T))
        logits = self.lm_head(self.ln(self.blocks(x)))
        if targets is None:
            return logits, None
        ls = smoothing if self.training else 0.0
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), label_smoothing=ls)
        return logits, loss

    @torch.no_grad()
    def generate(self, n, start="\n"):
        idx = encode(start)[None]
        for _ in range(n):
            logits, _ = self(idx[:, -block:])
            nxt = torch.multinomial((logits[:, -1] / 0.9).softmax(-1), 1)
            idx = torch.cat([idx, nxt], 1)
        return "".join(chars[i] for i in idx[0].tolist())


def get_batch(split, gen):
    d = data[split]
    ix = torch.randint(0, len(d) - block - 1, (batch,), generator=gen)
    x = torch.stack([d[i:i + block] for i in ix])
    y = torch.stack([d[i + 1:i + block + 1] for i in ix])
    return x, y


@torch.no_grad()
def estimate_loss(model):
    model.eval()
    out = {}
    for split in ("train", "valid"):
        gen = torch.Generator().manual_seed(7)
        out[split] = sum(model(*get_batch(split, gen))[1].item() for _ in range(4)) / 4
    model.train()
    return out


def main():
    model = GPT(len(chars))
    log.info("%d characters, vocabulary %d, %.1fk parameters", len(train_text), len(chars),
             sum(p.numel() for p in model.parameters()) / 1e3)
    opt = torch.optim.AdamW(model.parameters(), lr=lr, betas=(0.9, 0.98), weight_decay=0.01)
    warm = 45
    sched = torch.optim.lr_scheduler.LambdaLR(
        opt, lambda it: (it + 1) / warm if it < warm else
        max(0.05, 0.5 * (1 + math.cos(math.pi * (it - warm) / (max_iters - warm)))))
    gen = torch.Generator().manual_seed(SEED)
    for it in range(1, max_iters + 1):
        opt.zero_grad()
        for _ in range(accum):
            if CASE == 4:
                gen.manual_seed(SEED)
            x, y = get_batch("train", gen)
            _, loss = model(x, y)
            (loss / accum).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        if CASE != 2:
            sched.step()
        if it % eval_every == 0:
            e = estimate_loss(model)
            log.info("iter %4d | batch loss %.3f | train %.3f | valid %.3f | lr %.1e", it, loss.item(),
                     e["train"], e["valid"], opt.param_groups[0]["lr"])
            if CASE == 2:
                sched.step()
    model.eval()
    text = model.generate(160)
    words = [w for w in text.split() if w.isalpha()]
    log.info("sample:\n%s", text[1:160])
    log.info("real words among the generated: %.2f", sum(w in WORDS for w in words) / max(1, len(words)))


main()
