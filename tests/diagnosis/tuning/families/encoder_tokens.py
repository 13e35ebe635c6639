import math
import os

import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

PAD = 0
VOCAB = 24
MAX_LEN = 14


def make_data(n, generator, rule):
    """Random token sequences with padding behind.
    majority: are there more tokens of the lower half than of the upper half?
    order:    does token 5 come before token 9?
    count:    how often does token 5 appear (0, 1, 2, 3)?"""
    lengths = torch.randint(6, MAX_LEN + 1, (n,), generator=generator)
    tokens = torch.randint(1, VOCAB, (n, MAX_LEN), generator=generator)
    pos = torch.arange(MAX_LEN)
    valid = pos[None] < lengths[:, None]
    if rule == "majority":
        low = ((tokens <= 12) & valid).sum(1)
        high = ((tokens > 12) & valid).sum(1)
        labels = (low > high).long()
    elif rule == "order":
        tokens[(tokens == 5) | (tokens == 9)] = 6
        where = torch.rand(n, 6, generator=generator).argsort(1)[:, :2]
        rows = torch.arange(n)
        tokens[rows, where[:, 0]] = 5
        tokens[rows, where[:, 1]] = 9
        labels = (where[:, 0] < where[:, 1]).long()
    else:
        tokens[tokens == 5] = 6
        labels = torch.randint(0, 4, (n,), generator=generator)
        score = torch.rand(n, MAX_LEN, generator=generator).masked_fill(~valid, -1)
        rank = score.argsort(1, descending=True).argsort(1)
        tokens[rank < labels[:, None]] = 5
    tokens = tokens * valid
    return tokens, labels


class SelfAttention(nn.Module):
    def __init__(self, dim, heads, dropout=0.0):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)
        self.drop = nn.Dropout(dropout)
        self.scale = (dim // heads) ** -0.5
        if CASE == 10:
            self.scale = float(dim * heads)

    def forward(self, x, mask):
        b, t, d = x.shape
        q, k, v = self.qkv(x).reshape(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        att = q @ k.transpose(-1, -2) * self.scale
        if CASE == 5:
            att = att.masked_fill(mask[:, None, None, :], -1e9)
        else:
            att = att.masked_fill(~mask[:, None, None, :], -1e9)
        att = self.drop(att.softmax(-1))
        return self.proj((att @ v).transpose(1, 2).reshape(b, t, d))


class EncoderBlock(nn.Module):
    def __init__(self, dim, heads, dropout=0.0):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.att = SelfAttention(dim, heads, dropout)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Dropout(dropout), nn.Linear(2 * dim, dim))

    def forward(self, x, mask):
        x = x + self.att(self.norm1(x), mask)
        return x + self.mlp(self.norm2(x))


class Classifier(nn.Module):
    def __init__(self, classes, dim=32, heads=4, depth=2, dropout=0.0, pool="mean"):
        super().__init__()
        self.pool = pool
        self.tok = nn.Embedding(VOCAB, dim)
        self.pos = nn.Parameter(torch.randn(1, MAX_LEN + (pool == "cls"), dim) * 0.05)
        if pool == "cls":
            self.cls = nn.Parameter(torch.randn(1, 1, dim) * 0.05)
        blocks = [EncoderBlock(dim, heads, dropout) for _ in range(depth)]
        self.blocks = blocks if CASE == 8 else nn.ModuleList(blocks)
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, tokens):
        mask = tokens != PAD
        x = self.tok(tokens)
        if self.pool == "cls":
            x = torch.cat([self.cls.expand(len(x), -1, -1), x], 1)
            mask = torch.cat([mask.new_ones(len(x), 1), mask], 1)
        x = x + self.pos[:, :x.shape[1]]
        for block in self.blocks:
            x = block(x, mask)
        x = self.norm(x)
        if self.pool == "cls":
            x = x[:, 0]
        else:
            x = (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        return self.head(x)


class TorchEncoder(nn.Module):
    """The same with the layers that come with torch."""

    def __init__(self, classes, dim=32, heads=2, depth=2, dropout=0.1):
        super().__init__()
        self.dim = dim
        self.tok = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        t = torch.arange(MAX_LEN)[:, None]
        f = torch.exp(torch.arange(0, dim, 2) * (-math.log(1000.0) / dim))
        pe = torch.zeros(MAX_LEN, dim)
        pe[:, 0::2], pe[:, 1::2] = torch.sin(t * f), torch.cos(t * f)
        self.register_buffer("pe", pe)
        layer = nn.TransformerEncoderLayer(dim, heads, 64, dropout, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.head = nn.Linear(dim, classes)

    def forward(self, tokens):
        x = self.tok(tokens) * math.sqrt(self.dim) + self.pe
        x = self.encoder(x, src_key_padding_mask=tokens == PAD)
        x = x.masked_fill((tokens == PAD)[..., None], float("-inf")).max(1)[0]
        return self.head(x)


def accuracy(model, tokens, labels):
    was = model.training
    model.eval()
    with torch.no_grad():
        logits = torch.cat([model(t) for t in tokens.split(200)])
    model.train(was)
    return F.cross_entropy(logits, labels).item(), (logits.argmax(1) == labels).float().mean().item()


def batches(tokens, labels, batch_size, generator):
    while True:
        order = torch.randperm(len(tokens), generator=generator)
        for idx in order.split(batch_size):
            if len(idx) == batch_size:
                yield tokens[idx], labels[idx]


def run(rule="count", steps=300, batch_size=64, lr=2e-3, warmup=0, make=None, opt="adam", clip=None,
        n_train=4000, accumulate=1, seed=SEED):
    torch.manual_seed(seed)
    g = torch.Generator().manual_seed(seed + 1)
    train = make_data(n_train, g, rule)
    test = make_data(600, g, rule)
    classes = 4 if rule == "count" else 2
    model = make(classes)
    if opt == "adam":
        optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    else:
        optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.1, betas=(0.9, 0.98))
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / max(1, warmup)))
    stream = batches(*train, batch_size, g)
    recent = []
    for step in range(steps):
        if CASE != 9:
            x, y = next(stream)
        else:
            x, y = next(batches(*train, batch_size, torch.Generator().manual_seed(seed)))
        loss = F.cross_entropy(model(x), y) / accumulate
        if CASE == 7:
            loss.backward()
            optimizer.zero_grad()
            optimizer.step()
        else:
            loss.backward()
            if (step + 1) % accumulate == 0:
                if clip:
                    nn.utils.clip_grad_norm_(model.parameters(), clip)
                optimizer.step()
                optimizer.zero_grad()
        scheduler.step()
        recent.append(loss.item() * accumulate)
        if (step + 1) % 50 == 0:
            if CASE == 4:
                model_acc = accuracy(model, *train)[1]
                print("step %d loss %.5f memorised %.3f of the batch" % (step + 1, loss.item(), model_acc))
            else:
                test_loss, acc = accuracy(model, *test)
                print("step %d loss %.4f test loss %.4f acc %.3f"
                      % (step + 1, sum(recent) / len(recent), test_loss, acc))
            recent = []


if CASE == 1:
    run("majority", steps=400, make=lambda c: TorchEncoder(c), opt="adamw", lr=1e-3, warmup=200)
elif CASE == 2:
    run("count", steps=600, batch_size=16, accumulate=4, clip=0.3, lr=3e-3, make=lambda c: Classifier(c, depth=1))
elif CASE == 3:
    run("count", steps=450, make=lambda c: Classifier(c, pool="cls", heads=2, dropout=0.2), opt="adamw", warmup=50)
elif CASE == 4:
    run("majority", steps=200, batch_size=32, n_train=32, lr=1e-3, make=lambda c: Classifier(c))
elif CASE == 5:
    run("count", steps=300, make=lambda c: Classifier(c, pool="cls"))
elif CASE == 6:
    run("count", steps=300, lr=0.6, make=lambda c: Classifier(c))
elif CASE == 8:
    run("order", steps=250, lr=3e-3, make=lambda c: Classifier(c, dim=8, heads=2, pool="cls"))
elif CASE == 10:
    run("count", steps=300, lr=5e-4, make=lambda c: Classifier(c, pool="cls"))
else:
    run("count", steps=300, make=lambda c: Classifier(c))
