#!/usr/bin/env python3
# Sentiment of short generated reviews with a GRU.
import os
import random
from collections import Counter

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

CASE = int(os.environ.get("CASE", 1))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)
torch.set_num_threads(1)
rnd = random.Random(SEED)

GOOD = "great lovely superb tasty friendly clean fresh quick charming excellent".split()
BAD = "awful bland rude dirty slow stale noisy broken greasy horrible".split()
FILL = ("the a we our my they it was were and then very table food waiter evening with "
        "hotel room street came went had place wine bread soup at on in of").split()


def write_review(label):
    """label 1 = happy guest. 'not' turns the next word round."""
    words = []
    n = rnd.randint(5, 12)
    n_op = rnd.randint(2, 3)
    spots = set(rnd.sample(range(n), n_op))
    for i in range(n):
        if i in spots:
            turn = rnd.random() < 0.35
            bag = GOOD if (label == 1) != turn else BAD
            if turn:
                words.append("not")
            words.append(rnd.choice(bag))
        else:
            words.append(rnd.choice(FILL))
    return " ".join(words)


def corpus(n, p_happy):
    labels = [int(rnd.random() < p_happy) for _ in range(n)]
    return [write_review(l) for l in labels], labels


p_train = 0.5
if CASE in (0, 3):
    p_train = 0.015 if CASE == 0 else 0.12
texts, labels = corpus(1600, p_train)
test_texts, test_labels = corpus(400, 0.5)

if CASE == 2:
    # similar lengths together make the batches cheaper
    texts = sorted(texts, key=lambda s: len(s.split()))

counts = Counter(w for t in texts for w in t.split())
itos = ["<pad>", "<unk>"] + [w for w, _ in counts.most_common()]
stoi = {w: i for i, w in enumerate(itos)}


class Reviews(Dataset):
    def __init__(self, texts, labels):
        self.rows = [torch.tensor([stoi.get(w, 1) for w in t.split()]) for t in texts]
        self.labels = labels

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i], self.labels[i]


def collate(batch):
    rows, ys = zip(*batch)
    lens = torch.tensor([len(r) for r in rows])
    return pad_sequence(rows, batch_first=True), lens, torch.tensor(ys)


class GRUClassifier(nn.Module):
    def __init__(self, vocab, emb=16, hid=24, drop=0.1):
        super().__init__()
        self.emb = nn.Embedding(vocab, emb, padding_idx=0)
        self.drop = nn.Dropout(drop)
        self.gru = nn.GRU(emb, hid, batch_first=True)
        self.out = nn.Linear(hid, 2)
        self.logprob = nn.LogSoftmax(dim=0 if CASE == 8 else 1)

    def forward(self, x, lens):
        e = self.drop(self.emb(x))
        packed = pack_padded_sequence(e, lens, batch_first=True, enforce_sorted=False)
        _, h = self.gru(packed)
        return self.logprob(self.out(self.drop(h[-1])))


def scores(model, loader):
    model.eval()
    tp = fp = fn = right = total = 0
    with torch.no_grad():
        for x, lens, y in loader:
            p = (model(x, lens).exp()[:, 1] > 0.5).long()
            right += int((p == y).sum()); total += len(y)
            tp += int(((p == 1) & (y == 1)).sum())
            fp += int(((p == 1) & (y == 0)).sum())
            fn += int(((p == 0) & (y == 1)).sum())
    return right / total, 2 * tp / max(1, 2 * tp + fp + fn)


train_loader = DataLoader(Reviews(texts, labels), batch_size=32, shuffle=True, collate_fn=collate)
test_loader = DataLoader(Reviews(test_texts, test_labels), batch_size=100, collate_fn=collate)

model = GRUClassifier(len(itos), drop=0.5 if CASE == 10 else 0.1)
EPOCHS = 6
if CASE == 4:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.7, momentum=0.9)
elif CASE == 5:
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-6)
elif CASE == 7:
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    EPOCHS = 10
else:
    optimizer = torch.optim.Adam(model.parameters(), lr=6e-3)

weight = None
if CASE == 3:
    c = torch.bincount(torch.tensor(labels)).float()
    weight = c.sum() / (2 * c)

history = []
for epoch in range(EPOCHS):
    model.train()
    total, n = 0.0, 0
    for x, lens, y in train_loader:
        optimizer.zero_grad()
        out = model(x, lens)
        loss = F.nll_loss(out, y, weight=weight)
        if CASE == 10:
            loss = 0.9 * loss - 0.1 * out.mean()
        loss.backward()
        if CASE == 6:
            optimizer.zero_grad()
        if CASE == 4:
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        if CASE == 9:
            history.append((epoch, out, loss))
            total += loss.item()
        else:
            history.append((epoch, loss.item()))
            total += loss.item()
        n += 1
    acc, f1 = scores(model, test_loader)
    print("epoch", epoch + 1, "loss", round(total / n, 4), "test acc", round(acc, 3), "F1", round(f1, 3))
print("%d updates recorded" % len(history))
