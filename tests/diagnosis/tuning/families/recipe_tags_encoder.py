# Tagging recipe steps: O, QTY, UNIT, FOOD, TOOL, TIME.  Encoder written from scratch, batches padded by hand.
import math
import os
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)

TAGS = ["O", "QTY", "UNIT", "FOOD", "TOOL", "TIME"]
NUM = [f"n{i}" for i in range(12)]
UNITS = [f"u{i}" for i in range(8)]            # some of them are foods or tools too ("clove", "cup", "can")
FOODS = UNITS[:4] + [f"f{i}" for i in range(50)]
TOOLS = UNITS[4:6] + [f"t{i}" for i in range(12)]
TIMES = ["min", "hour", "sec"]
VERBS = [f"v{i}" for i in range(14)]
FILL = ["the", "a", "with", "in", "until", "and", "for", "of", "then", "about", "slowly", "fresh"]
VOCAB = ["<pad>", "<unk>"] + sorted(set(NUM + UNITS + FOODS + TOOLS + TIMES + VERBS + FILL))
IDX = {w: i for i, w in enumerate(VOCAB)}
PAD_TAG = 0 if CASE == 5 else -100


def zipf(words):
    return words[min(int(random.expovariate(3.2 / len(words))), len(words) - 1)]


def phrase():
    k = random.random()
    if k < .35:                                  # 2 cups of flour / 2 eggs
        out = [(random.choice(NUM), "QTY")]
        if random.random() < .65:
            out.append((random.choice(UNITS), "UNIT"))
            if random.random() < .5:
                out.append(("of", "O"))
        if random.random() < .25:
            out.append(("fresh", "O"))
        return out + [(zipf(FOODS), "FOOD")]
    if k < .55:
        return [(random.choice(["the", "a", "fresh"]), "O"), (zipf(FOODS), "FOOD")]
    if k < .75:
        return [(random.choice(["with", "in"]), "O"), (random.choice(["the", "a"]), "O"), (zipf(TOOLS), "TOOL")]
    if k < .9:
        return [(random.choice(["for", "about"]), "O"), (random.choice(NUM), "TIME"), (random.choice(TIMES), "TIME")]
    return [("then", "O"), ("slowly", "O")]


def sentence():
    out = []
    for _ in range(np.random.choice([1, 2, 3, 6], p=[.45, .3, .15, .1])):
        out.append((zipf(VERBS), "O"))
        for _ in range(random.randint(1, 2)):
            out += phrase()
        if random.random() < .4:
            out.append(("and", "O"))
    w = [IDX[a] if random.random() > .04 else 1 for a, _ in out]
    t = [TAGS.index(b) if random.random() > .02 else random.randrange(6) for _, b in out]
    return w, t


def attend(q, k, v, keep, drop):
    """q, k, v: batch x heads x time x d; keep: batch x time"""
    s = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    m = keep[:, None, None, :]
    if CASE == 2:
        s = s.masked_fill(m, -1e9)
    elif CASE == 6:
        s = s.masked_fill(~m, float("-inf"))
    else:
        s = s.masked_fill(m == 0, -1e4)
    a = torch.softmax(s, dim=1 if CASE == 0 else -1)
    return drop(a) @ v


class Layer(nn.Module):
    def __init__(self, d, heads, p, pre):
        super().__init__()
        self.h, self.pre = heads, pre
        self.qkv = nn.Linear(d, 3 * d)
        self.proj = nn.Linear(d, d)
        self.ff = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.drop = nn.Dropout(p)

    def mix(self, x, keep):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.h, d // self.h).permute(2, 0, 3, 1, 4)
        o = attend(q, k, v, keep, self.drop).transpose(1, 2).reshape(b, t, d)
        return self.drop(self.proj(o))

    def forward(self, x, keep):
        if self.pre:
            x = x + self.mix(self.n1(x), keep)
            return x + self.drop(self.ff(self.n2(x)))
        x = self.n1(x + self.mix(x, keep))
        return self.n2(x + self.drop(self.ff(x)))


class Tagger(nn.Module):
    def __init__(self, d=48, heads=4, layers=2, p=.1, pre=False):
        super().__init__()
        self.d = d
        self.word = nn.Embedding(len(VOCAB), d, padding_idx=0)
        pos = torch.arange(128)[:, None] * torch.exp(torch.arange(0, d, 2) * (-math.log(1000.) / d))
        self.register_buffer("pe", torch.stack([pos.sin(), pos.cos()], 2).flatten(1))
        self.learned = nn.Embedding(128, d) if CASE == 9 else None
        self.layers = nn.ModuleList(Layer(d, heads, p, pre) for _ in range(layers))
        self.norm = nn.LayerNorm(d) if pre else nn.Identity()
        self.out = nn.Linear(d, len(TAGS))
        nn.init.normal_(self.word.weight, 0, d ** -.5)

    def forward(self, ids):
        x = self.word(ids) * math.sqrt(self.d)
        if self.learned is not None:
            x = x + self.learned(torch.arange(ids.size(1)))
        elif CASE == 3:
            x = x + self.pe[:x.size(0)].unsqueeze(1)
        else:
            x = x + self.pe[:x.size(1)]
        for layer in self.layers:
            x = layer(x, ids != 0)
        return self.out(self.norm(x))


def batches(data, size, shuffle=True):
    order = list(range(len(data)))
    if shuffle:
        random.shuffle(order)
        if CASE == 4:                            # similar lengths together
            order = sorted(order, key=lambda i: len(data[i][0]) + random.random() * 4)
            chunks = [order[i:i + size] for i in range(0, len(order), size)]
            random.shuffle(chunks)
            order = sum(chunks, [])
    for i in range(0, len(order), size):
        part = [data[j] for j in order[i:i + size]]
        t = max(len(w) for w, _ in part)
        ids = torch.zeros(len(part), t, dtype=torch.long)
        tags = torch.full((len(part), t), PAD_TAG)
        for r, (w, g) in enumerate(part):
            ids[r, :len(w)] = torch.tensor(w)
            tags[r, :len(g)] = torch.tensor(g)
        yield ids, tags


def macro_f1(model, data):
    model.eval()
    conf = np.zeros((6, 6))
    with torch.no_grad():
        for ids, tags in batches(data, 50, shuffle=False):
            p = model(ids).argmax(-1)
            keep = tags >= 0
            np.add.at(conf, (tags[keep].numpy(), p[keep].numpy()), 1)
    tp = conf.diagonal()
    return float(np.mean(2 * tp / np.maximum(1, conf.sum(0) + conf.sum(1)))), tp.sum() / conf.sum()


def loss_of(logits, tags):
    if CASE == 5:
        return F.cross_entropy(logits.reshape(-1, 6), tags.reshape(-1))
    if CASE == 9:                                # one mean a sentence, then over sentences
        l = F.cross_entropy(logits.transpose(1, 2), tags, reduction="none", ignore_index=-100)
        return (l.sum(1) / (tags != -100).sum(1)).mean()
    w = torch.tensor([.5, 1, 1.5, 1, 1.5, 1]) if CASE == 6 else None
    return F.cross_entropy(logits.reshape(-1, 6), tags.reshape(-1), weight=w)


def noam(step, width=48, warmup=60):
    step = max(step, 1)
    return width ** -.5 * min(step ** -.5, step * warmup ** -1.5)


train, dev = [sentence() for _ in range(900)], [sentence() for _ in range(250)]
model = Tagger(pre=CASE in (6, 9), p=.3 if CASE == 4 else .1)
epochs = 6
size = 25
accumulate = {7: 2, 8: 2}.get(CASE, 1)

if CASE in (9,):
    opt = torch.optim.SGD(model.parameters(), lr=.15, momentum=.9)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs * (len(train) // size))
elif CASE in (7, 8, 6):
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
    sched = torch.optim.lr_scheduler.LinearLR(opt, .05, 1., 40)
else:
    opt = torch.optim.Adam(model.parameters(), lr=.25, betas=(.9, .98), eps=1e-9)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, noam)

step = 0
for epoch in range(epochs):
    model.train()
    tot, seen = 0., 0
    for i, (ids, tags) in enumerate(batches(train, size // accumulate)):
        loss = loss_of(model(ids), tags)
        (loss / accumulate).backward()
        if (i + 1) % accumulate == 0:
            if CASE in (6, 9):
                nn.utils.clip_grad_norm_(model.parameters(), 1.)
            opt.step()
            step += 1
            if CASE != 8:
                opt.zero_grad()
            if CASE != 10:
                sched.step()
        tot, seen = tot + loss.item(), seen + 1
    if CASE == 8:
        opt.zero_grad()
    if CASE == 10:
        sched.step()
    f1, acc = macro_f1(model, dev)
    print(f"epoch {epoch + 1}  steps {step:4d}  lr {opt.param_groups[0]['lr']:.2e}  loss {tot / seen:.4f}  dev F1 {f1:.3f}  token acc {acc:.3f}")
