"""Tags the words of menu lines (dish, side, sauce, allergen, quantity, price) with a GRU."""
import os
import random
import numpy as np
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence, pack_padded_sequence, pad_packed_sequence
from torch.utils.data import Dataset, DataLoader

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)

TAGS = ["O", "DISH", "SIDE", "SAUCE", "ALLERGEN", "QTY", "PRICE"]
FOODS = ["cod", "lamb", "duck", "crab", "tofu", "beef", "trout", "pork", "egg", "hake", "nut", "milk", "celery", "mustard",
         "sesame", "wheat", "potato", "rice", "leek", "bean", "lentil", "mushroom", "spinach", "fennel", "lemon",
         "butter", "cream", "pepper", "caper", "wine", "herb", "tomato", "garlic", "cheese", "apple", "plum"]
STYLE = ["grilled", "roast", "smoked", "braised", "fresh", "warm", "wild", "crispy", "pickled", "glazed"]
NUMS = [str(n) for n in range(4, 40)]
FILL = ["our", "chef", "daily", "special", "please", "ask", "new", "served", "the", "best"]


def foods(k, head):
    # the words have a preferred place but may stand anywhere
    w = np.exp(-np.abs((np.arange(len(FOODS)) - head) / 9.0))
    return [str(x) for x in np.random.choice(FOODS, k, p=w / w.sum())]


def menu_line():
    out = []
    for w in random.sample(FILL, random.choice([0, 0, 1, 2])):
        out.append((w, "O"))
    if random.random() < 0.4:
        out += [(random.choice(NUMS), "QTY"), (random.choice(["g", "ml", "pieces"]), "QTY")]
    if random.random() < 0.7:
        out.append((random.choice(STYLE), "DISH"))
    out += [(w, "DISH") for w in foods(random.choice([1, 1, 2]), 5)]
    for _ in range(random.choice([0, 1, 1, 2])):
        kind = random.choice(["SIDE", "SIDE", "SAUCE"])
        out.append((random.choice({"SIDE": ["with", "and", "on"], "SAUCE": ["in", "with", "and"]}[kind]), "O"))
        if random.random() < 0.5:
            out.append((random.choice(STYLE), kind))
        out += [(w, kind) for w in foods(random.choice([1, 2]), 18 if kind == "SIDE" else 28)]
        if kind == "SAUCE":
            out.append((random.choice(["sauce", "jus", "dressing"]), "SAUCE"))
    if random.random() < 0.5:
        out.append(("(", "O"))
        out += [(w, "ALLERGEN") for w in foods(random.choice([1, 2, 3]), 13)]
        out.append((")", "O"))
    if random.random() < 0.85:
        out.append((random.choice(NUMS), "PRICE"))
    for i, (w, t) in enumerate(out):            # typing errors
        if random.random() < 0.05:
            out[i] = (random.choice(FOODS), t)
    return [w for w, _ in out], [t for _, t in out]


class Menu(Dataset):
    def __init__(self, n, vocab=None):
        lines = [menu_line() for _ in range(n)]
        self.vocab = vocab or {w: i + 2 for i, w in enumerate(sorted({w for l, _ in lines for w in l}))}
        self.x = [torch.tensor([self.vocab.get(w, 1) for w in l]) for l, _ in lines]
        self.y = [torch.tensor([TAGS.index(t) for t in ts]) for _, ts in lines]

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


MAX_LEN = 30
PAD_TAG = 0 if CASE == 1 else -100


def collate(items):
    x = torch.zeros(len(items), MAX_LEN, dtype=torch.long)
    y = torch.full((len(items), MAX_LEN), PAD_TAG)
    for i, (a, b) in enumerate(items):
        x[i, :len(a)], y[i, :len(b)] = a, b
    return x, y


def collate_short(items):
    lengths = torch.tensor([len(a) for a, _ in items])
    return (pad_sequence([a for a, _ in items], batch_first=True),
            pad_sequence([b for _, b in items], batch_first=True, padding_value=-100), lengths)


class GRUTagger(nn.Module):
    def __init__(self, n_words, emb=32, hidden=32):
        super().__init__()
        self.emb = nn.Embedding(n_words, emb, padding_idx=0)
        self.rnn = nn.GRU(emb, hidden, bidirectional=True)
        self.out = nn.Linear(2 * hidden, len(TAGS))

    def forward(self, x):
        e = self.emb(x)                                    # batch, time, emb
        if CASE == 3:
            e = e.view(e.size(1), e.size(0), e.size(2))
        else:
            e = e.transpose(0, 1)
        h, _ = self.rnn(e)
        return self.out(h.transpose(0, 1))


class PackedTagger(nn.Module):
    def __init__(self, n_words):
        super().__init__()
        self.emb = nn.Embedding(n_words, 24, padding_idx=0)
        self.rnn = nn.GRU(24, 32, num_layers=2, batch_first=True, bidirectional=True, dropout=0.3)
        self.fc = nn.Sequential(nn.Dropout(0.3), nn.Linear(64, len(TAGS)))

    def forward(self, x, lengths):
        if self.training:                                  # word dropout
            x = torch.where((torch.rand(x.shape) < 0.12) & (x > 0), torch.ones_like(x), x)
        p = pack_padded_sequence(self.emb(x), lengths, batch_first=True, enforce_sorted=False)
        h, _ = pad_packed_sequence(self.rnn(p)[0], batch_first=True)
        return self.fc(h)


def macro_f1(pred, gold):
    f = []
    for k in range(1, len(TAGS)):
        tp = ((pred == k) & (gold == k)).sum()
        f.append(2 * tp / max(1, (pred == k).sum() + (gold == k).sum()))
    return float(np.mean(f))


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    P, G = [], []
    for x, y, *rest in loader:
        pred = model(x, *rest).argmax(-1)
        keep = y != -100
        P.append(pred[keep].numpy())
        G.append(y[keep].numpy())
    model.train()
    P, G = np.concatenate(P), np.concatenate(G)
    return (P == G).mean(), macro_f1(P, G)


train_set = Menu(840)
test_set = Menu(200, train_set.vocab)
n_words = len(train_set.vocab) + 2
print(len(train_set), "lines,", n_words, "words, mean length %.1f" % np.mean([len(a) for a in train_set.x]))

if CASE == 5:
    model = PackedTagger(n_words)
    tl = DataLoader(train_set, 32, shuffle=True, collate_fn=collate_short)
    vl = DataLoader(test_set, 100, collate_fn=collate_short)
    epochs, accum = 7, 1
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, 6e-3, total_steps=epochs * len(tl))
    crit = nn.CrossEntropyLoss(ignore_index=-100, label_smoothing=0.1)
    clip = 1.0
else:
    model = GRUTagger(n_words)
    tl = DataLoader(train_set, 12, shuffle=True, collate_fn=collate, drop_last=True)
    vl = DataLoader(test_set, 100, collate_fn=collate)
    epochs, accum = 5, 2
    opt = torch.optim.SGD(model.parameters(), lr=0.4, momentum=0.9)
    sched = None
    crit = nn.CrossEntropyLoss()
    clip = 0.001 if CASE == 2 else 1.0

for epoch in range(epochs):
    total = 0.0
    opt.zero_grad()
    for i, (x, y, *rest) in enumerate(tl):
        loss = crit(model(x, *rest).flatten(0, 1), y.flatten())
        (loss / accum).backward()
        total += loss.item()
        if i + 1 % accum == 0 if CASE == 4 else (i + 1) % accum == 0:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
            opt.step()
            opt.zero_grad()
            if sched is not None:
                sched.step()
        if (i + 1) % 40 == 0:
            print(f"epoch {epoch + 1} batch {i + 1}/{len(tl)} loss {loss.item():.4f}")
    acc, f1 = evaluate(model, vl)
    print(f"epoch {epoch + 1}: train loss {total / len(tl):.4f}  test accuracy {acc:.4f}  macro F1 {f1:.4f}")
