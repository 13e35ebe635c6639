import math
import os

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)

DIGITS, KEYS = 8, 3
SEP = DIGITS + KEYS
VOCAB = SEP + 1
T = 20
D, HEADS, LAYERS = 32, 2, 2
MICRO, ACCUM = {10: (4, 4)}.get(CASE, (16, 2))
STEPS = {8: 400, 10: 450, 5: 350}.get(CASE, 300)
LR = {5: 0.2, 6: 0.2, 8: 1.6e-3}.get(CASE, 4e-3)
DROP = 0.1 if CASE == 2 else 0.0
DECAY = 0.3 if CASE == 2 else 0.01


def sentence():
    out = []
    while len(out) < T + 1:
        k = int(torch.randint(0, KEYS, ()))
        s = int(torch.randint(0, DIGITS, ()))
        n = int(torch.randint(3, 6, ()))
        out += [DIGITS + k] + [(s + (k + 1) * i) % DIGITS for i in range(n)] + [SEP]
    return out[:T + 1]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.qkv = nn.Linear(D, 3 * D)
        self.proj = nn.Linear(D, D)
        self.mlp = nn.Sequential(nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D))
        self.drop = nn.Dropout(DROP)
        self.register_buffer("mask", torch.tril(torch.ones(T, T)).bool())

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(b, t, 3, HEADS, D // HEADS).permute(2, 0, 3, 1, 4)
        att = q @ k.transpose(-1, -2) / math.sqrt(D // HEADS)
        if CASE != 1:
            att = att.masked_fill(~self.mask[:t, :t], float("-inf"))
        y = (att.softmax(-1) @ v).transpose(1, 2).reshape(b, t, D)
        x = x + self.drop(self.proj(y))
        return x + self.drop(self.mlp(self.ln2(x)))


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, D)
        self.pos = nn.Embedding(T, D)
        self.blocks = nn.ModuleList([Block() for _ in range(LAYERS)])
        self.ln = nn.LayerNorm(D)
        self.head = nn.Linear(D, VOCAB, bias=False)
        self.head.weight = self.tok.weight
        self.apply(self.init)

    def init(self, m):
        std = 1.0 if CASE == 4 else (0.06 if isinstance(m, nn.Linear) else 0.02)
        if isinstance(m, (nn.Linear, nn.Embedding)):
            nn.init.normal_(m.weight, std=std)
            if getattr(m, "bias", None) is not None:
                nn.init.zeros_(m.bias)

    def forward(self, x, labels=None):
        h = self.tok(x) + self.pos(torch.arange(x.shape[1]))
        for b in self.blocks:
            h = b(h)
        logits = self.head(self.ln(h))
        if labels is None:
            return logits, None
        if CASE == 3:
            loss = F.cross_entropy(logits[:, :-1].reshape(-1, VOCAB), labels[:, 1:].reshape(-1))
        else:
            loss = F.cross_entropy(logits.reshape(-1, VOCAB), labels.reshape(-1))
        return logits, loss


data = torch.tensor([sentence() for _ in range(1600)])
train, val = data[:1400], data[1400:]
loader = DataLoader(TensorDataset(train), batch_size=MICRO, shuffle=CASE != 11, drop_last=True)


def stream():
    while True:
        yield from loader


batches = stream()
model = LM()
if CASE in (5, 6):
    opt = torch.optim.SGD(model.parameters(), lr=LR, momentum=0.9)
else:
    opt = torch.optim.AdamW(model.parameters(), lr=LR, betas=(0.9, 0.98), weight_decay=DECAY)
WARM = 4000 if CASE == 9 else 40


def lr_at(s):
    if s < WARM:
        return (s + 1) / WARM
    return 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * (s - WARM) / max(1, STEPS - WARM)))


sched = torch.optim.lr_scheduler.LambdaLR(opt, lr_at)
SCALE = 2.0 ** 16


@torch.no_grad()
def evaluate():
    model.eval()
    _, loss = model(val[:, :-1], val[:, 1:])
    x = val[:, :-1]
    hit = n = 0
    for t in range(6, T, 3):
        sure = (val[:, t - 1] < DIGITS) & (val[:, t] < DIGITS)
        p = model(x[:, :t])[0][:, -1].argmax(1)
        hit += (p == val[:, t])[sure].sum().item()
        n += sure.sum().item()
    model.train()
    return loss.item(), hit / n


for step in range(STEPS):
    total = 0.0
    opt.zero_grad()
    for micro in range(ACCUM):
        b, = next(iter(loader)) if CASE == 11 else next(batches)
        _, loss = model(b[:, :-1], b[:, 1:])
        loss = loss / ACCUM
        if CASE == 6:
            (loss * SCALE).backward()
        else:
            loss.backward()
        if CASE == 7:
            opt.zero_grad()
        total += loss.item()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    if CASE == 6:
        for p in model.parameters():
            p.grad.div_(SCALE)
    opt.step()
    sched.step()
    if step % 30 == 29:
        vl, acc = evaluate()
        print(f"step {step + 1} loss {total:.4f} val {vl:.4f} continuation acc {acc:.3f}")
