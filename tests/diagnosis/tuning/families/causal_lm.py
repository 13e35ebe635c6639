import math
import os
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)

VOCAB, PAD, D, LEN = 12, 0, 40, 14
rule = torch.randint(1, VOCAB, (VOCAB, VOCAB))


def batch(n):
    """the next token is rule[a, b] of the two before it, one time in twelve a random one; rows are padded"""
    x = torch.randint(1, VOCAB, (n, LEN + 1))
    for t in range(2, LEN + 1):
        nxt = rule[x[:, t - 2], x[:, t - 1]]
        x[:, t] = torch.where(torch.rand(n) < 1 / 12, x[:, t], nxt)
    low = 9
    length = torch.randint(low, LEN + 2, (n, 1))
    return x.masked_fill(torch.arange(LEN + 1) >= length, PAD)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.att = nn.MultiheadAttention(D, 4, batch_first=True)
        self.a, self.b = nn.LayerNorm(D), nn.LayerNorm(D)
        self.ff = nn.Sequential(nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D))

    def forward(self, x, mask):
        h = self.a(x)
        x = x + self.att(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.ff(self.b(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, D)
        self.pos = nn.Embedding(LEN + 1, D)
        self.pos.weight.requires_grad_(CASE != 6)
        self.layers = nn.ModuleList([Layer() for _ in range(2)])
        self.norm = nn.LayerNorm(D)
        self.head = nn.Linear(D, VOCAB, bias=False)
        nn.init.normal_(self.tok.weight, std=0.3)
        nn.init.normal_(self.pos.weight, std=0.3)
        if CASE == 2:
            for p in self.parameters():
                nn.init.normal_(p, std=1.0)
        if CASE == 7:
            self.head.weight = self.tok.weight

    def forward(self, ids):
        t = ids.shape[1]
        x = self.tok(ids) + self.pos(torch.arange(t))
        mask = torch.full((t, t), float("-inf"), dtype=x.dtype).triu(1)
        if CASE == 1:
            mask = None
        for layer in self.layers:
            x = layer(x, mask)
        return self.head(self.norm(x))


def loss_of(model, ids):
    logits = model(ids[:, :-1])
    target = ids[:, 1:]
    if CASE == 3:
        logits, target = logits[:, :-1], target[:, 1:]
    return F.cross_entropy(logits.reshape(-1, VOCAB), target.reshape(-1), ignore_index=PAD)


def accuracy(model, ids):
    """next-token accuracy from prefixes alone"""
    model.eval()
    hits = n = 0
    with torch.no_grad():
        for t in (4, 6, 8):
            pred = model(ids[:, :t])[:, -1].argmax(-1)
            ok = ids[:, t] != PAD
            hits += (pred[ok] == ids[ok, t]).sum().item()
            n += ok.sum().item()
    model.train()
    return hits / n


model = GPT()
lr = {9: 1e-3}.get(CASE, 4e-3)
opt = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=30.0 if CASE == 4 else 0.01, betas=(0.9, 0.98))
STEPS = {9: 500}.get(CASE, 320)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1, (s + 1) / 30) * (0.5 + 0.5 * math.cos(math.pi * s / STEPS)))
accum = 4 if CASE == 8 else 1
train = batch(12000)
valid = batch(500)
for step in range(STEPS):
    opt.zero_grad()
    for _ in range(accum):
        ids = train[torch.randint(0, len(train), (64 // accum,))]
        if CASE == 5:
            ids = next(iter(torch.split(train, 64)))
        loss = loss_of(model, ids)
        (loss / accum).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    if CASE != 9:
        sched.step()
    if (step + 1) % 50 == 0:
        print("step", step + 1, "loss %.4f" % loss.item(), "acc %.4f" % accuracy(model, valid))
print("METRIC", accuracy(model, valid))
