import argparse
import os
import random
import time
from collections import Counter

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

# ---- notes hikers leave in a hut book: places, hazards, times ----
FIRST = "bear cedar stone white black elk raven silver long north south upper lower lost eagle pine iron cold".split()
SECOND = "creek ridge lake pass meadow gulch falls camp point summit basin saddle bridge flat".split()
HAZ = [["bear"], ["loose", "stone"], ["black", "ice"], ["fallen", "pine"], ["washed", "out", "bridge"], ["elk", "herd"],
       ["white", "out"], ["cold", "wind"], ["rock", "fall"], ["wasps"], ["deep", "snow"], ["high", "water"]]
TIME = [["at", "noon"], ["before", "dawn"], ["last", "night"], ["this", "morning"], ["around", "six"], ["yesterday"],
        ["two", "days", "ago"], ["after", "lunch"], ["on", "sunday"]]
FILL = ("we i the a and then very nice walk sun was out with friends dog boots map slow fast view from toward path "
        "trail hut fire tea good bad wet dry tired happy again left right long cold black white out stone pine water "
        "snow wind rock high deep lunch night morning days two six").split()
TAGS = ["O", "B-PLC", "I-PLC", "B-HAZ", "I-HAZ", "B-TIM", "I-TIM"]
TAG2ID = {t: i for i, t in enumerate(TAGS)}


def span(words, kind):
    return words, ["B-" + kind] + ["I-" + kind] * (len(words) - 1)


def one_note(r):
    w, t = [], []

    def add(ws, ts=None):
        w.extend(ws)
        t.extend(ts or ["O"] * len(ws))

    for _ in range(r.choice([1, 1, 2, 2, 3])):
        add([r.choice(FILL) for _ in range(r.randint(0, 4))])
        kind = r.random()
        if kind < 0.38:
            place = [r.choice(FIRST), r.choice(SECOND)] if r.random() < .75 else [r.choice(FIRST) for _ in range(2)]
            if r.random() < .1:
                place = place[:1]
            add([r.choice(["near", "reached", "past", "crossed", "to", "saw"])])
            add(*span(place, "PLC"))
        elif kind < 0.66:
            add(r.choice([["beware", "of"], ["watch", "for"], ["saw"], ["there", "is"], ["met"]]))
            add(*span(r.choice(HAZ), "HAZ"))
        elif kind < 0.85:
            add(*span(r.choice(TIME), "TIM"))
        else:
            add([r.choice(["like", "my", "some"]), r.choice(FIRST), r.choice(FILL)])
    add([r.choice(FILL) for _ in range(r.randint(1, 3))])
    for i in range(len(w)):
        if r.random() < 0.07:
            w[i] = w[i] + r.choice("aeiou")
    return w, t


def build_vocab(notes):
    counts = Counter()
    for words, _ in notes:
        if CASE == 5:
            counts.update(" ".join(words))
        else:
            counts.update(words)
    return {w: i + 2 for i, (w, c) in enumerate(counts.most_common()) if c >= 2}


def encode(notes, vocab):
    return [([vocab.get(x, 1) for x in w], [TAG2ID[x] for x in t]) for w, t in notes]


PAD_TAG = 0 if CASE == 1 else -100


def collate(batch, maxlen=None):
    L = maxlen or max(len(b[0]) for b in batch)
    x = torch.zeros(len(batch), L, dtype=torch.long)
    y = torch.full((len(batch), L), PAD_TAG, dtype=torch.long)
    for i, (a, b) in enumerate(batch):
        x[i, :len(a)] = torch.tensor(a)
        y[i, :len(b)] = torch.tensor(b)
    return x, y, torch.tensor([len(b[0]) for b in batch])


class LstmTagger(nn.Module):
    def __init__(self, n_words, emb=32, hid=32):
        super().__init__()
        self.emb = nn.Embedding(n_words, emb, padding_idx=0)
        self.lstm = nn.LSTM(emb, hid, bidirectional=True)
        self.drop = nn.Dropout(0.2)
        self.out = nn.Linear(2 * hid, len(TAGS))

    def forward(self, x, lengths=None):
        B, T = x.shape
        e = self.drop(self.emb(x))
        e = e.view(T, B, -1) if CASE == 2 else e.transpose(0, 1)
        h, _ = self.lstm(e)
        h = h.view(B, T, -1) if CASE == 2 else h.transpose(0, 1)
        z = self.out(self.drop(h))
        if CASE == 3:
            return F.log_softmax(z, dim=1)
        if CASE == 4:
            return F.softmax(z, dim=-1)
        return z


class PackedGru(nn.Module):
    def __init__(self, n_words, emb=32, hid=28):
        super().__init__()
        self.emb = nn.Embedding(n_words, emb, padding_idx=0)
        self.gru = nn.GRU(emb, hid, batch_first=True, bidirectional=True)
        self.out = nn.Sequential(nn.LayerNorm(2 * hid), nn.Linear(2 * hid, len(TAGS)))
        self.word_drop = 0.2

    def forward(self, x, lengths):
        if self.training:
            hide = torch.rand(x.shape) < self.word_drop
            x = torch.where(hide & (x > 0), torch.ones_like(x), x)
        p = pack_padded_sequence(self.emb(x), lengths, batch_first=True, enforce_sorted=False)
        h, _ = pad_packed_sequence(self.gru(p)[0], batch_first=True, total_length=x.shape[1])
        return self.out(h)


def spans_of(ids):
    res, start, kind = set(), None, None
    for i, k in enumerate(list(ids) + [0]):
        tag = TAGS[k]
        if start is not None and tag != "I-" + kind:
            res.add((start, i, kind))
            start = None
        if tag.startswith("B-"):
            start, kind = i, tag[2:]
    return res


@torch.no_grad()
def evaluate(model, data, maxlen):
    model.eval()
    tp = fp = fn = right = total = 0
    for i in range(0, len(data), 64):
        x, y, ln = collate(data[i:i + 64], maxlen)
        p = model(x, ln).argmax(-1)
        m = y != -100
        right += (p == y)[m].sum().item()
        total += m.sum().item()
        for a, b, n in zip(p.tolist(), y.tolist(), ln.tolist()):
            A, B = spans_of(a[:n]), spans_of(b[:n])
            tp += len(A & B)
            fp += len(A - B)
            fn += len(B - A)
    model.train()
    return right / total, 2 * tp / max(1, 2 * tp + fp + fn)


def buckets(data, size, r):
    idx = sorted(range(len(data)), key=lambda i: (len(data[i][0]), r.random()))
    out = [idx[i:i + size] for i in range(0, len(idx), size)]
    r.shuffle(out)
    return out


def plain_batches(data, size, r):
    idx = list(range(len(data)))
    r.shuffle(idx)
    return [idx[i:i + size] for i in range(0, len(idx), size)]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--batch", type=int, default=24)
    ap.add_argument("--lr", type=float, default=8e-3)
    ap.add_argument("--maxlen", type=int, default=32)
    ap.add_argument("--accum", type=int, default=2)
    args = ap.parse_args([])
    torch.manual_seed(SEED)
    r = random.Random(SEED)
    notes = [one_note(r) for _ in range(1200)]
    train_raw, dev_raw = notes[:900], notes[900:]
    vocab = build_vocab(train_raw)
    train, dev = encode(train_raw, vocab), encode(dev_raw, vocab)
    print("vocab", len(vocab) + 2, "train", len(train), "dev", len(dev))
    t0 = time.time()
    step = 0
    if CASE == 6:
        model = PackedGru(len(vocab) + 2)
        counts = torch.bincount(torch.tensor([k for _, t in train for k in t]), minlength=len(TAGS)).float()
        weight = (counts.sum() / counts).sqrt()
        weight = weight / weight.mean()
        opt = torch.optim.RMSprop(model.parameters(), lr=6e-3, alpha=0.95)
        for ep in range(5):
            model.train()
            run = 0.0
            todo = buckets(train, 16, r)
            for k, ids in enumerate(todo):
                x, y, ln = collate([train[i] for i in ids])
                loss = F.cross_entropy(model(x, ln).flatten(0, 1), y.flatten(), weight=weight, ignore_index=-100)
                (loss / args.accum).backward()
                run += loss.item()
                if (k + 1) % args.accum == 0 or k + 1 == len(todo):
                    opt.step()
                    opt.zero_grad()
                    step += 1
                    if step % 50 == 0:
                        print(f"step {step} micro-batch loss {loss.item():.3f}")
            acc, f1 = evaluate(model, dev, None)
            print(f"epoch {ep} loss {run / (k + 1):.4f} dev token acc {acc:.4f} span F1 {f1:.4f}")
        return
    model = LstmTagger(len(vocab) + 2)
    if CASE == 3:
        criterion = nn.NLLLoss(ignore_index=-100)
    else:
        criterion = nn.CrossEntropyLoss(ignore_index=-100)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    for ep in range(args.epochs):
        run = seen = 0
        for ids in plain_batches(train, args.batch, r):
            x, y, ln = collate([train[i] for i in ids], args.maxlen)
            scores = model(x, ln)
            loss = criterion(scores.reshape(-1, len(TAGS)), y.reshape(-1))
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
            step += 1
            run += loss.item()
            seen += 1
        acc, f1 = evaluate(model, dev, args.maxlen)
        print(f"epoch {ep} step {step} loss {run / seen:.4f} dev token acc {acc:.4f} span F1 {f1:.4f} ({time.time() - t0:.1f}s)")


if __name__ == "__main__":
    main()
