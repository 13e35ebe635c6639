"""Comparing two short reviews with a small BERT-style encoder written from scratch.

[CLS] a a a a [SEP] b b b b [SEP] [PAD] ...   ->   is the first review the better one?
"""
import argparse
import math
import os
import random
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
random.seed(SEED)
np.random.seed(SEED)

PAD, CLS, SEP = 0, 1, 2
N_STARS, N_SYNONYMS, N_FILLERS = 6, 4, 20
FIRST_CONTENT = 3
FIRST_FILLER = FIRST_CONTENT + N_STARS * N_SYNONYMS
VOCAB = FIRST_FILLER + N_FILLERS


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--hidden", type=int, default=48)
    p.add_argument("--layers", type=int, default=2)
    p.add_argument("--heads", type=int, default=4)
    p.add_argument("--dropout", type=float, default=0.1)
    p.add_argument("--act", default="gelu")
    p.add_argument("--n_train", type=int, default=4000)
    p.add_argument("--batch_size", type=int, default=32)
    p.add_argument("--accumulate", type=int, default=1)
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--weight_decay", type=float, default=0.01)
    p.add_argument("--warmup", type=float, default=0.1)
    p.add_argument("--schedule", default="linear")
    p.add_argument("--clip", type=float, default=1.0)
    p.add_argument("--flip", type=float, default=0.0)
    p.add_argument("--positives", type=float, default=0.5)
    args = p.parse_args([])
    if CASE in (0, 3):
        args.hidden, args.batch_size, args.n_train = 40, 32, 4400
    if CASE == 1:
        args.n_train, args.epochs = 2500, 8
    if CASE == 2:
        args.act, args.lr = "relu", 8e-4
    if CASE == 4:
        args.layers, args.lr, args.warmup = 3, 2e-2, 0.02
    if CASE == 5:
        args.hidden, args.heads, args.schedule = 64, 2, "cosine"
    if CASE == 7:
        args.hidden, args.heads, args.warmup, args.schedule, args.lr = 64, 8, 0.4, "cosine", 1.5e-3
    if CASE == 8:
        args.batch_size, args.accumulate, args.n_train, args.act = 8, 4, 4000, "relu"
    if CASE == 9:
        args.positives, args.layers, args.hidden, args.n_train = 0.12, 1, 64, 6000
    if CASE == 10:
        args.flip, args.weight_decay, args.dropout, args.hidden, args.epochs = 0.06, 0.5, 0.15, 56, 6
    if CASE == 11:
        args.n_train, args.epochs, args.dropout, args.weight_decay = 32, 220, 0.0, 0.0
        args.schedule, args.lr = "constant", 5e-4
    return args


# ---------------------------------------------------------------- data
def sentence(stars):
    words = [FIRST_CONTENT + stars * N_SYNONYMS + random.randrange(N_SYNONYMS) for _ in range(random.randint(1, 3))]
    words += [FIRST_FILLER + random.randrange(N_FILLERS) for _ in range(random.randint(1, 4))]
    random.shuffle(words)
    return words


def make_pairs(n, positives=0.5):
    pairs, labels = [], []
    for _ in range(n):
        low, high = sorted(random.sample(range(N_STARS), 2))
        better = random.random() < positives
        first, second = (high, low) if better else (low, high)
        pairs.append((sentence(first), sentence(second)))
        labels.append(int(better))
    return pairs, labels


class PairDataset(Dataset):
    def __init__(self, pairs, labels):
        self.pairs, self.labels = pairs, labels

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, i):
        a, b = self.pairs[i]
        ids = [CLS] + a + [SEP] + b + [SEP]
        types = [0] * (len(a) + 2) + [1] * (len(b) + 1)
        return ids, types, self.labels[i]


def collate(items):
    longest = max(len(ids) for ids, _, _ in items)
    ids = torch.full((len(items), longest), PAD, dtype=torch.long)
    types = torch.zeros(len(items), longest, dtype=torch.long)
    mask = torch.zeros(len(items), longest)
    for r, (i, t, _) in enumerate(items):
        ids[r, :len(i)] = torch.tensor(i)
        types[r, :len(t)] = torch.tensor(t)
        mask[r, :len(i)] = 1
    return {"input_ids": ids, "token_type_ids": types, "attention_mask": mask,
            "labels": torch.tensor([y for _, _, y in items])}


def bucket_by_length(pairs, labels, width=16):
    """Sort by length in slices, so that a batch needs little padding."""
    order = sorted(range(len(pairs)), key=lambda i: len(pairs[i][0]) + len(pairs[i][1]))
    chunks = [order[i:i + width] for i in range(0, len(order), width)]
    random.shuffle(chunks)
    order = [i for chunk in chunks for i in chunk]
    pairs = [pairs[i] for i in order]
    if CASE != 5:
        labels = [labels[i] for i in order]
    return pairs, labels


# ---------------------------------------------------------------- model
class SelfAttention(nn.Module):
    def __init__(self, hidden, heads, dropout):
        super().__init__()
        self.heads, self.size = heads, hidden // heads
        self.query = nn.Linear(hidden, hidden)
        self.key = nn.Linear(hidden, hidden)
        self.value = nn.Linear(hidden, hidden)
        self.dense = nn.Linear(hidden, hidden)
        self.dropout = nn.Dropout(dropout)

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.heads, self.size).transpose(1, 2)

    def forward(self, x, blocked):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.size)
        low = float("-inf") if CASE in (8, 10) else -1e4
        scores = scores.masked_fill(blocked[:, None, None, :], low)
        ctx = self.dropout(scores.softmax(-1)) @ v
        ctx = ctx.transpose(1, 2).reshape(x.shape)
        return self.dense(ctx)


class Layer(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.attention = SelfAttention(a.hidden, a.heads, a.dropout)
        self.norm1, self.norm2 = nn.LayerNorm(a.hidden), nn.LayerNorm(a.hidden)
        self.up, self.down = nn.Linear(a.hidden, 2 * a.hidden), nn.Linear(2 * a.hidden, a.hidden)
        self.dropout = nn.Dropout(a.dropout)
        self.act = F.gelu if a.act == "gelu" else F.relu

    def forward(self, x, blocked):
        x = self.norm1(x + self.dropout(self.attention(x, blocked)))
        return self.norm2(x + self.dropout(self.down(self.act(self.up(x)))))


class Encoder(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.word = nn.Embedding(VOCAB, a.hidden, padding_idx=PAD)
        self.position = nn.Embedding(24, a.hidden)
        self.segment = nn.Embedding(2, a.hidden)
        self.norm = nn.LayerNorm(a.hidden)
        self.layer = nn.ModuleList([Layer(a) for _ in range(a.layers)])

    def forward(self, ids, types, mask):
        pos = torch.arange(ids.size(1))
        x = self.norm(self.word(ids) + self.position(pos) + self.segment(types))
        if CASE == 0:
            blocked = mask.bool()
        else:
            blocked = mask == 0
        for layer in self.layer:
            x = layer(x, blocked)
        return x


class PairClassifier(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.encoder = Encoder(a)
        self.pooler = nn.Linear(a.hidden, a.hidden)
        self.dropout = nn.Dropout(a.dropout)
        self.classifier = nn.Linear(a.hidden, 2)
        self.apply(self.init)

    @staticmethod
    def init(m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            nn.init.normal_(m.weight, std=0.1)
        if isinstance(m, nn.Linear):
            nn.init.zeros_(m.bias)

    def forward(self, input_ids, token_type_ids, attention_mask):
        h = self.encoder(input_ids, token_type_ids, attention_mask)[:, 0]
        return self.classifier(self.dropout(torch.tanh(self.pooler(h))))


# ---------------------------------------------------------------- optimisation
def build_optimizer(model, a):
    no_decay = ("bias", "norm")
    if CASE == 2:
        # layer-wise learning rates: a little less for every layer further down
        groups = [{"params": list(model.pooler.parameters()) + list(model.classifier.parameters()), "lr": a.lr}]
        for depth in range(a.layers):
            tag = "encoder.layers.%d." % depth
            params = [p for n, p in model.named_parameters() if n.startswith(tag)]
            groups.append({"params": params, "lr": a.lr * 0.95 ** (a.layers - depth)})
        params = [p for n, p in model.named_parameters() if n.startswith("encoder.norm")]
        groups.append({"params": params, "lr": a.lr * 0.95 ** (a.layers + 1)})
        return torch.optim.AdamW(groups, lr=a.lr, weight_decay=a.weight_decay)
    if CASE == 7:
        groups = [{"params": list(model.pooler.parameters()) + list(model.classifier.parameters()), "lr": a.lr}]
        for depth in range(a.layers):
            params = [p for n, p in model.named_parameters() if n.startswith("encoder.layer.%d." % depth)]
            groups.append({"params": params, "lr": a.lr * 0.9 ** (a.layers - depth)})
        params = [p for n, p in model.named_parameters() if n.startswith("encoder.") and ".layer." not in n]
        groups.append({"params": params, "lr": a.lr * 0.9 ** (a.layers + 1)})
        return torch.optim.AdamW(groups, lr=a.lr, weight_decay=a.weight_decay)
    groups = [
        {"params": [p for n, p in model.named_parameters() if not any(k in n for k in no_decay)],
         "weight_decay": a.weight_decay},
        {"params": [p for n, p in model.named_parameters() if any(k in n for k in no_decay)], "weight_decay": 0.0},
    ]
    if CASE == 3:
        groups[0]["weight_decay"] = 0.1
        return torch.optim.Adam(groups, lr=a.lr)
    return torch.optim.AdamW(groups, lr=a.lr)


def build_scheduler(optimizer, a, total):
    warm = int(a.warmup * total)

    def factor(step):
        if step < warm:
            return step / max(1, warm)
        done = (step - warm) / max(1, total - warm)
        if a.schedule == "constant":
            return 1.0
        if a.schedule == "cosine":
            return 0.5 * (1 + math.cos(math.pi * min(1.0, done)))
        return max(0.0, 1 - done)

    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    tp = fp = fn = right = n = 0
    for batch in loader:
        y = batch.pop("labels")
        guess = model(**batch).argmax(-1)
        right += (guess == y).sum().item()
        n += len(y)
        tp += ((guess == 1) & (y == 1)).sum().item()
        fp += ((guess == 1) & (y == 0)).sum().item()
        fn += ((guess == 0) & (y == 1)).sum().item()
    model.train()
    return right / n, 2 * tp / max(1, 2 * tp + fp + fn)


def main():
    a = get_args()
    pairs, labels = make_pairs(a.n_train, a.positives)
    if a.flip:
        labels = [1 - y if random.random() < a.flip else y for y in labels]
    if CASE in (5, 6, 10):
        pairs, labels = bucket_by_length(pairs, labels)
    train = DataLoader(PairDataset(pairs, labels), a.batch_size, shuffle=True, collate_fn=collate)
    if CASE == 11:
        dev = train  # can the model learn these few by heart at all?
        print("sanity check: fit %d pairs" % a.n_train)
    else:
        dev = DataLoader(PairDataset(*make_pairs(800, a.positives)), 100, collate_fn=collate)

    model = PairClassifier(a)
    optimizer = build_optimizer(model, a)
    total = len(train) * a.epochs // a.accumulate
    scheduler = build_scheduler(optimizer, a, len(train) if CASE == 1 else total)
    weight = torch.tensor([1.0, (1 - a.positives) / a.positives]) if CASE == 9 else None
    criterion = nn.CrossEntropyLoss(weight=weight)
    print("%d parameters, %d updates" % (sum(p.numel() for p in model.parameters()), total))

    start, running, step = time.time(), 0.0, 0
    model.train()
    for epoch in range(a.epochs):
        for i, batch in enumerate(train):
            y = batch.pop("labels")
            loss = criterion(model(**batch), y) / a.accumulate
            loss.backward()
            running += loss.item()
            if (i + 1) % a.accumulate:
                continue
            nn.utils.clip_grad_norm_(model.parameters(), a.clip)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            step += 1
            if step % 50 == 0:
                print("step %4d  loss %.4f  lr %.2e" % (step, running / 50, scheduler.get_last_lr()[0]))
                running = 0.0
        if CASE != 11 or epoch % 44 == 43:
            acc, f1 = evaluate(model, dev)
            print("epoch %d  dev acc %.3f  f1 %.3f  (%.1fs)" % (epoch + 1, acc, f1, time.time() - start))


if __name__ == "__main__":
    main()
