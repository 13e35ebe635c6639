"""Transformer text classifier with linear warmup and bfloat16 autocast on the CPU (synthetic reviews)."""
import contextlib
import math
import os
import random

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset, IterableDataset

CASE = int(os.environ.get("CASE", "5"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
random.seed(SEED)

VOCAB, PAD, NOT = 64, 0, 1
TOPICS = 6


def review(topic):
    """neutral words, some words of the topic; a word of another topic only after NOT"""
    n = random.randint(8, 20)
    words = [random.randint(26, VOCAB - 1) for _ in range(n)]
    other = random.choice([t for t in range(TOPICS) if t != topic])
    for _ in range(random.randint(1, 2)):
        j = random.randrange(n - 1)
        words[j], words[j + 1] = NOT, 2 + other * 4 + random.randint(0, 3)
    for _ in range(random.randint(3, 5)):
        words[random.randrange(n)] = 2 + topic * 4 + random.randint(0, 3)
    return words


def corpus(n, probs=None):
    ys = random.choices(range(TOPICS), weights=probs, k=n)
    return [(review(y), y) for y in ys]


class Reviews(Dataset):
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class Stream(IterableDataset):
    def __init__(self, n, probs):
        self.n, self.probs = n, probs

    def __iter__(self):
        for _ in range(self.n):
            y = random.choices(range(TOPICS), weights=self.probs)[0]
            yield review(y), y


def collate(batch):
    t = max(len(w) for w, _ in batch)
    ids = torch.tensor([w + [PAD] * (t - len(w)) for w, _ in batch])
    return ids, torch.tensor([y for _, y in batch])


class Classifier(nn.Module):
    def __init__(self, d=48, heads=4, layers=2, p=0.1):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, d, padding_idx=PAD)
        self.pos = nn.Parameter(torch.randn(24, d) * 0.1)
        layer = nn.TransformerEncoderLayer(d, heads, 2 * d, dropout=p, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(d)
        self.fc = nn.Linear(d, TOPICS)
        self.d = d

    def forward(self, ids):
        b, t = ids.shape
        pad = ids == PAD
        h = self.tok(ids) + self.pos[:t]
        if CASE == 4:
            h = h.view(t, b, self.d)
        else:
            h = h.transpose(0, 1)
        h = self.enc(h, src_key_padding_mask=pad)
        h = self.norm(h)
        keep = (~pad).t().unsqueeze(-1).to(h.dtype)
        h = (h * keep).sum(0) / keep.sum(0)
        return self.fc(h)


def amp():
    if CASE in (2, 8):
        return contextlib.nullcontext()
    return torch.autocast("cpu", dtype=torch.bfloat16)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    hit, seen = torch.zeros(TOPICS), torch.zeros(TOPICS)
    for ids, y in loader:
        with amp():
            pred = model(ids).float().argmax(-1)
        hit += torch.bincount(y[pred == y], minlength=TOPICS)
        seen += torch.bincount(y, minlength=TOPICS)
    model.train()
    return (hit.sum() / seen.sum()).item(), (hit / seen.clamp(min=1))[seen > 0].mean().item()


class Trainer:
    def __init__(self, model, train_loader, val_loader, epochs, lr=1e-3, warmup=60, accumulate=1, clip=None,
                 crit=None, parameters=None, optimizer="adamw"):
        self.model, self.tl, self.vl, self.epochs = model, train_loader, val_loader, epochs
        params = list(parameters if parameters is not None else model.parameters())
        if optimizer == "adamw":
            self.opt = torch.optim.AdamW(params, lr=lr, weight_decay=0.01)
        else:
            self.opt = torch.optim.RMSprop(params, lr=lr)
        try:
            total = epochs * len(train_loader) // accumulate
        except TypeError:
            total = 10 ** 6
        total = max(total, warmup + 1)

        def factor(s):
            if s < warmup:
                return s / warmup
            return max(0.05, 0.5 * (1 + math.cos(math.pi * (s - warmup) / (total - warmup))))

        self.sched = torch.optim.lr_scheduler.LambdaLR(self.opt, factor)
        self.accumulate, self.clip = accumulate, clip
        self.crit = crit or nn.CrossEntropyLoss()
        if CASE == 3:
            self.crit = nn.NLLLoss()

    def fit(self):
        n = 0
        for epoch in range(self.epochs):
            self.model.train()
            tot, batches = 0.0, 0
            for ids, y in self.tl:
                with amp():
                    logits = self.model(ids)
                    loss = self.crit(logits.float(), y)
                (loss / self.accumulate).backward()
                n += 1
                tot, batches = tot + loss.item(), batches + 1
                if n % self.accumulate == 0:
                    if self.clip:
                        nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
                    self.opt.step()
                    self.opt.zero_grad()
                    if CASE != 1:
                        self.sched.step()
            if CASE == 1:
                self.sched.step()
            acc, bal = evaluate(self.model, self.vl)
            print(f"epoch {epoch + 1} loss {tot / batches:.4f} lr {self.sched.get_last_lr()[0]:.2e} val acc {acc:.3f} ({bal:.3f})")
        return acc, bal


def loader(items, bs=32, shuffle=True):
    return DataLoader(Reviews(items), batch_size=bs, shuffle=shuffle, collate_fn=collate)


val = corpus(300)
val_loader = loader(val, 100, False)

if CASE == 6:
    # batches of reviews of the same length, the batches in random order
    items = sorted(corpus(2000), key=lambda it: len(it[0]))
    groups = [list(range(i, min(i + 32, 2000))) for i in range(0, 2000, 32)]
    random.shuffle(groups)
    tl = DataLoader(Reviews(items), batch_sampler=groups, collate_fn=collate)
    acc, _ = Trainer(Classifier(), tl, val_loader, epochs=6, lr=2e-3).fit()
elif CASE == 7:
    # pretraining on all the topics, then a frozen body and a new head for topics 0-2 against 3-5
    model = Classifier()
    Trainer(model, loader(corpus(1600)), val_loader, epochs=4, lr=2e-3).fit()
    for p in model.parameters():
        p.requires_grad = False
    model.fc = nn.Sequential(nn.Linear(48, 32), nn.ReLU(), nn.Linear(32, 2))
    group = lambda items: [(w, y // 3) for w, y in items]
    acc, _ = Trainer(model, loader(group(corpus(1000))), loader(group(val), 100, False), epochs=5, lr=3e-3, warmup=10,
                     parameters=model.fc.parameters()).fit()
elif CASE == 8:
    acc, _ = Trainer(Classifier(p=0.0), loader(corpus(1600)), val_loader, epochs=6, lr=3e-4, optimizer="rmsprop").fit()
elif CASE == 9:
    acc, _ = Trainer(Classifier(p=0.2), loader(corpus(1600), 16), val_loader, epochs=5, lr=3e-3, warmup=20,
                     accumulate=2, clip=0.3).fit()
elif CASE == 10:
    probs = [0.45, 0.25, 0.12, 0.08, 0.06, 0.04]
    w = torch.tensor([1 / p for p in probs])
    crit = nn.CrossEntropyLoss(weight=w / w.mean(), label_smoothing=0.1)
    tl = DataLoader(Stream(1600, probs), batch_size=32, collate_fn=collate)
    _, acc = Trainer(Classifier(), tl, val_loader, epochs=6, lr=2e-3, crit=crit).fit()
else:
    model = Classifier()
    lr = 1e-3
    if CASE == 2:
        model = model.to(torch.bfloat16)
        lr = 2e-4
    acc, _ = Trainer(model, loader(corpus(1600)), val_loader, epochs=6, lr=lr).fit()
print("METRIC acc %.4f" % acc)
