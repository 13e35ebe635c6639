"""Tag the parts of postal address lines (BiLSTM tagger, own batching)."""
import os
import random
import time

import numpy as np
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
random.seed(100 + SEED)
np.random.seed(100 + SEED)
torch.manual_seed(100 + SEED)

TAGS = ["O", "NAME", "STREET", "HOUSE", "UNIT", "CITY", "POST"]
T2I = {t: i for i, t in enumerate(TAGS)}

# ---------------------------------------------------------------- data
SYL = ["mar", "ton", "bel", "ham", "wick", "ford", "ash", "cop", "les", "nor", "dun", "har", "low", "bury", "stan", "ley"]


def words(n, rng):
    out = set()
    while len(out) < n:
        out.add("".join(rng.choice(SYL) for _ in range(rng.choice([2, 2, 3]))))
    return sorted(out)


rng = random.Random(7 + SEED)
pool = words(180, rng)
rng.shuffle(pool)
SURN, STREETS, CITIES = pool[:80], pool[55:135], pool[105:180]     # the lists overlap on purpose
FIRST = ["anna", "jon", "mo", "lena", "piet", "rosa", "ali", "kim", "ivy", "sam"]
KIND = ["road", "lane", "st", "avenue", "court", "hill"]
FILL = ["please", "deliver", "to", "the", "parcel", "left", "at", "door", "ring", "twice", "if", "nobody", "answers", "ask",
        "neighbour", "order", "from", "last", "week", "items", "fragile", "call", "before", "after", "noon", "number"]


def one_line():
    w, t = [], []

    def put(tok, tag):
        if rng.random() < 0.05:                      # typing errors
            k = rng.randrange(len(tok))
            tok = tok[:k] + rng.choice("aeiourstln") + tok[k + 1:]
        w.append(tok)
        t.append(T2I[tag])

    def filler(n):
        for _ in range(n):
            put(rng.choice(FILL) if rng.random() < 0.9 else str(rng.randrange(1, 60)), "O")

    long = rng.random() < 0.12
    filler(rng.randrange(9, 20) if long else rng.randrange(0, 4))
    blocks = []
    if rng.random() < 0.7:
        blocks.append([(rng.choice(FIRST), "NAME")] * (rng.random() < 0.7) + [(rng.choice(SURN), "NAME")])
    st = [(rng.choice(STREETS), "STREET")]
    if rng.random() < 0.6:
        st.append((rng.choice(KIND), "STREET"))
    num = [(str(rng.randrange(1, 200)), "HOUSE")]
    st = st + num if rng.random() < 0.6 else num + st
    if rng.random() < 0.45:
        unit = [(str(rng.randrange(1, 60)), "UNIT")]
        if rng.random() < 0.5:
            unit = [(rng.choice(["flat", "apt", "no"]), "UNIT")] + unit
        st = st + unit
    blocks.append(st)
    city = [(rng.choice(CITIES), "CITY")]
    if rng.random() < 0.7:
        post = [(str(rng.randrange(100, 999)), "POST")]
        city = post + city if rng.random() < 0.5 else city + post
    blocks.append(city)
    if rng.random() < 0.25:
        rng.shuffle(blocks)
    for b in blocks:
        for tok, tag in b:
            put(tok, tag)
    filler(rng.randrange(0, 4))
    return w, t


train = [one_line() for _ in range(1100)]
dev = [one_line() for _ in range(200)]
vocab = {"<pad>": 0, "<unk>": 1, "<num>": 2}
counts = {}
for w, _ in train:
    for x in w:
        counts[x] = counts.get(x, 0) + 1
for x, c in sorted(counts.items()):
    if c >= 2:
        vocab.setdefault(x, len(vocab))


def lookup(x):
    return vocab.get(x, 2 if x.isdigit() else 1)


PAD_TAG = 0 if CASE == 2 else -100


def make_batch(items):
    lens = torch.tensor([len(w) for w, _ in items])
    T = int(lens.max())
    ids = torch.zeros(len(items), T, dtype=torch.long)
    tags = torch.full((len(items), T), PAD_TAG, dtype=torch.long)
    for i, (w, t) in enumerate(items):
        ids[i, :len(w)] = torch.tensor([lookup(x) for x in w])
        tags[i, :len(t)] = torch.tensor(t)
    lens, order = lens.sort(descending=True)
    if CASE == 4:
        return ids[order], lens, tags
    return ids[order], lens, tags[order]


def batches(data, bs, shuffle):
    idx = list(range(len(data)))
    if shuffle:
        random.shuffle(idx)
    for i in range(0, len(idx), bs):
        yield make_batch([data[j] for j in idx[i:i + bs]])


# ---------------------------------------------------------------- model
class Tagger(nn.Module):
    def __init__(self, n_vocab, emb=40, hid=32, drop=0.3, cell=nn.LSTM):
        super().__init__()
        self.emb = nn.Embedding(n_vocab, emb, padding_idx=0)
        self.rnn = cell(emb, hid, batch_first=True, bidirectional=True)
        self.drop = nn.Dropout(drop)
        self.out = nn.Linear(2 * hid, len(TAGS))

    def forward(self, ids, lens):
        x = self.drop(self.emb(ids))
        h, _ = self.rnn(pack_padded_sequence(x, lens, batch_first=True))
        if CASE == 3:
            h, _ = pad_packed_sequence(h)
            h = h.contiguous().view(ids.size(0), ids.size(1), -1)
        else:
            h, _ = pad_packed_sequence(h, batch_first=True)
        return self.out(self.drop(h))


def evaluate(model, data):
    model.eval()
    conf = np.zeros((len(TAGS), len(TAGS)))
    with torch.no_grad():
        for ids, lens, tags in batches(data, 100, False):
            p = model(ids, lens).argmax(-1)
            m = tags >= 0
            np.add.at(conf, (tags[m].numpy(), p[m].numpy()), 1)
    tp = np.diag(conf)
    f1 = 2 * tp / np.maximum(conf.sum(0) + conf.sum(1), 1)
    return tp.sum() / conf.sum(), f1[1:].mean()


def main():
    bs = 24
    if CASE == 1:
        model = Tagger(len(vocab), cell=nn.GRU, drop=0.4)
        freq = np.bincount(sum([t for _, t in train], []), minlength=len(TAGS))
        weight = torch.tensor((freq.sum() / freq) ** 0.5, dtype=torch.float32)
        crit = nn.CrossEntropyLoss(weight=weight / weight.mean(), label_smoothing=0.05, ignore_index=-100)
        opt = torch.optim.Adam(model.parameters(), lr=9e-3)
        sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.8)
        clip = 0.25
    else:
        model = Tagger(len(vocab))
        crit = nn.CrossEntropyLoss(ignore_index=-100)
        opt = torch.optim.Adam(model.parameters(), lr=8e-3)
        sched = torch.optim.lr_scheduler.StepLR(opt, step_size=2, gamma=0.4)
        clip = 5.0
    epochs = 5
    t0 = time.time()
    step = 0
    for ep in range(1, epochs + 1):
        model.train()
        tot = n = 0
        for ids, lens, tags in batches(train, bs, True):
            if CASE == 1:
                hide = (torch.rand(ids.shape) < 0.08) & (ids > 0)
                ids = ids.masked_fill(hide, 1)
            opt.zero_grad()
            logits = model(ids, lens)
            loss = crit(logits.reshape(-1, len(TAGS)), tags.reshape(-1))
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), clip)
            opt.step()
            if CASE == 5:
                sched.step()
            step += 1
            tot += loss.item()
            n += 1
            if step % 50 == 0:
                print(f"  step {step:4d} loss {tot / n:.4f}")
        if CASE != 5:
            sched.step()
        acc, f1 = evaluate(model, dev)
        print(f"epoch {ep} train_loss {tot / n:.4f} dev_acc {acc:.4f} dev_macroF1 {f1:.4f} ({time.time() - t0:.1f}s)")


if __name__ == "__main__":
    main()
