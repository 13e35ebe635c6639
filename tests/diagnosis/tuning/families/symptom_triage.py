# Routing of short triage notes to one of four departments with a recurrent network.
import argparse
import os
import random
import time

import numpy as np
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

DEPTS = ["cardio", "pulmo", "neuro", "gastro"]
SYMPTOMS = {
    "cardio": "palpitations angina syncope edema tachycardia murmur".split(),
    "pulmo": "cough wheeze dyspnea sputum stridor pleurisy".split(),
    "neuro": "headache numbness aphasia vertigo seizure tremor".split(),
    "gastro": "nausea vomiting heartburn melena cramps reflux".split(),
}
GRADE = {"slight": 1, "mild": 1, "moderate": 2, "marked": 2, "severe": 3, "intense": 3}
NEG = ["no", "denies", "without"]
FILL = ("patient reports since morning yesterday also and then with at night after meal walking rest family says "
        "was seen by gp last week medication unchanged sleeps badly came alone history of travel works office").split()


def write_note(rng):
    words, score, last = [], {d: 0.0 for d in DEPTS}, {}
    for k in range(rng.randint(2, 4)):
        for _ in range(rng.randint(0, 2)):
            words.append(rng.choice(FILL))
        dept = rng.choice(DEPTS)
        sym = rng.choice(SYMPTOMS[dept])
        g = rng.choice(list(GRADE))
        if rng.random() < 0.3:
            words.append(rng.choice(NEG))
        else:
            score[dept] += GRADE[g] + 0.01 * k
        words += [g, sym]
    for _ in range(rng.randint(0, 4)):
        words.append(rng.choice(FILL))
    top = max(DEPTS, key=lambda d: score[d])
    if rng.random() < 0.04:
        top = rng.choice(DEPTS)
    return words, DEPTS.index(top)


def make_notes(n, rng):
    return [write_note(rng) for _ in range(n)]


def build_vocab(notes):
    vocab = {"<pad>": 0, "<unk>": 1}
    for words, _ in notes:
        for w in words:
            if w not in vocab:
                vocab[w] = len(vocab)
    return vocab


def word_vectors(notes, vocab, dim, known=1.0):
    """Co-occurrence vectors; words outside the 'known' share stay at zero."""
    n = len(vocab)
    C = np.zeros((n, n))
    for words, label in notes:
        ids = [vocab[w] for w in words]
        for i, a in enumerate(ids):
            for b in ids[max(0, i - 2):i]:
                C[a, b] += 1; C[b, a] += 1
    # lexical hints, as trained vectors would have them
    side = np.random.RandomState(5)
    proto = {d: side.randn(dim) for d in DEPTS}
    grade = {1: side.randn(dim), 2: side.randn(dim), 3: side.randn(dim), 0: side.randn(dim)}
    U, S, _ = np.linalg.svd(np.log1p(C))
    W = U[:, :dim] * np.sqrt(S[:dim]) * 0.2 + 0.3 * side.randn(n, dim)
    for d in DEPTS:
        for w in SYMPTOMS[d]:
            W[vocab[w]] += proto[d]
    for w, g in GRADE.items():
        W[vocab[w]] += grade[g]
    for w in NEG:
        W[vocab[w]] += grade[0]
    missing = [i for i in range(2, n) if side.rand() > known]
    W[missing] = 0.0
    W[0] = 0.0
    return torch.tensor(W, dtype=torch.float32)


class NoteClassifier(nn.Module):
    def __init__(self, vocab_size, dim=24, hidden=24, cell="lstm", pool="last", p_drop=0.2, vectors=None, freeze=None):
        super().__init__()
        if vectors is None:
            self.emb = nn.Embedding(vocab_size, dim, padding_idx=0)
        elif freeze is None:
            self.emb = nn.Embedding.from_pretrained(vectors, padding_idx=0)
        else:
            self.emb = nn.Embedding.from_pretrained(vectors, freeze=freeze, padding_idx=0)
        rnn = nn.LSTM if cell == "lstm" else nn.GRU
        self.rnn = rnn(dim, hidden, batch_first=True, bidirectional=True)
        self.pool = pool
        self.att = nn.Linear(2 * hidden, 1)
        self.drop = nn.Dropout(p_drop)
        self.out = nn.Linear(2 * hidden, len(DEPTS))

    def forward(self, x, lengths):
        e = self.drop(self.emb(x))
        packed = pack_padded_sequence(e, lengths, batch_first=True, enforce_sorted=False)
        states, h = self.rnn(packed)
        if isinstance(h, tuple):
            h = h[0]
        if self.pool == "last":
            if CASE == 1:
                v = h.view(x.size(0), -1)
            else:
                v = torch.cat([h[0], h[1]], dim=1)
        else:
            states, _ = pad_packed_sequence(states, batch_first=True)
            s = self.att(torch.tanh(states)).squeeze(-1)
            s = s.masked_fill(x[:, :s.size(1)] == 0, float("-inf"))
            if self.pool == "attention":
                a = torch.softmax(s, dim=1)
            else:
                a = torch.nan_to_num(torch.softmax(s, dim=0))
            v = (a.unsqueeze(-1) * states).sum(1)
        return self.out(self.drop(v))


def encode(notes, vocab):
    return [([vocab.get(w, 1) for w in words], y) for words, y in notes]


def batches(data, size, rng=None, bucket=False):
    idx = list(range(len(data)))
    if rng is not None:
        rng.shuffle(idx)
    if bucket:  # sort inside chunks of ten batches
        idx = [j for k in range(0, len(idx), 10 * size)
               for j in sorted(idx[k:k + 10 * size], key=lambda i: len(data[i][0]))]
    chunks = [idx[k:k + size] for k in range(0, len(idx), size)]
    if bucket:
        rng.shuffle(chunks)
    for ch in chunks:
        seqs = [data[i][0] for i in ch]
        y = torch.tensor([data[i][1] for i in ch])
        lengths = torch.tensor([len(s) for s in seqs])
        if CASE == 2:
            lengths, order = lengths.sort(descending=True)
            seqs = [seqs[i] for i in order]
        x = torch.zeros(len(ch), int(lengths.max()), dtype=torch.long)
        for r, s in enumerate(seqs):
            x[r, :len(s)] = torch.tensor(s)
        yield x, lengths, y


@torch.no_grad()
def accuracy(model, data, criterion):
    model.eval()
    hit, loss, n = 0, 0.0, 0
    for x, l, y in batches(data, 200):
        o = model(x, l)
        loss += criterion(o, y).item() * len(y)
        hit += (o.argmax(1) == y).sum().item()
        n += len(y)
    return hit / n, loss / n


def parse():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=7)
    ap.add_argument("--batch", type=int, default=40)
    ap.add_argument("--lr", type=float, default=8e-3)
    ap.add_argument("--clip", type=float, default=1.0)
    ap.add_argument("--n-train", type=int, default=1600)
    return ap.parse_args([])


def main():
    args = parse()
    torch.manual_seed(SEED)
    rng = random.Random(SEED + 3)
    train_notes = make_notes(args.n_train, rng)
    dev_notes = make_notes(300, rng)
    if CASE == 10:  # rebalanced inflow: far fewer neuro and gastro cases
        keep = lambda ns: [n for n in ns if n[1] < 2 or rng.random() < 0.25]
        train_notes, dev_notes = keep(train_notes), keep(dev_notes)
    vocab = build_vocab(train_notes)
    train = encode(train_notes, vocab)
    dev = encode(dev_notes, build_vocab(dev_notes) if CASE == 9 else vocab)
    print(f"{len(train)} train / {len(dev)} dev notes, {len(vocab)} words")

    criterion = nn.CrossEntropyLoss()
    kw = {}
    if CASE == 3:
        kw = dict(cell="gru", pool="attention")
    elif CASE == 4:
        kw = dict(cell="gru", pool="attn")
    elif CASE == 5:
        kw = dict(vectors=word_vectors(train_notes, vocab, 24, known=0.5))
    elif CASE == 6:
        kw = dict(vectors=word_vectors(train_notes, vocab, 24), freeze=True)
    elif CASE == 7:
        kw = dict(p_drop=0.8)
    elif CASE == 11:
        kw = dict(cell="gru", pool="attention", p_drop=0.4)
    model = NoteClassifier(len(vocab), **kw)
    params = [p for p in model.parameters() if p.requires_grad]

    if CASE == 8:
        make_opt = lambda: torch.optim.SGD(params, lr=0.1, momentum=0.9)
        opt = make_opt()
    elif CASE == 10:
        args.batch, args.clip, args.epochs = 8, 1.0, 6
        opt = torch.optim.SGD(params, lr=0.05, momentum=0.9)
        freq = np.bincount([y for _, y in train], minlength=4)
        criterion = nn.CrossEntropyLoss(weight=torch.tensor(freq.sum() / (4 * freq), dtype=torch.float32))
    else:
        opt = torch.optim.Adam(params, lr=args.lr)
    sched = None
    if CASE == 11:
        args.epochs = 9
        total = args.epochs * (len(train) // args.batch + 1)
        sched = torch.optim.lr_scheduler.LambdaLR(
            opt, lambda s: (s + 1) / 60 if s < 60 else max(0.02, 1 - (s - 60) / (total - 60)))

    step, t0 = 0, time.time()
    for epoch in range(1, args.epochs + 1):
        model.train()
        for x, l, y in batches(train, args.batch, rng, bucket=CASE == 11):
            if CASE == 8:
                opt = make_opt()
            opt.zero_grad()
            loss = criterion(model(x, l), y)
            loss.backward()
            gn = nn.utils.clip_grad_norm_(params, args.clip)
            opt.step()
            if sched is not None:
                sched.step()
            step += 1
            if step % 40 == 0:
                print(f"step {step:4d}  loss {loss.item():.4f}  |g| {gn:.3f}")
        acc, dl = accuracy(model, dev, criterion)
        print(f"epoch {epoch}: dev acc {acc:.3f}  dev loss {dl:.3f}  ({time.time() - t0:.1f}s)")
    print(f"final dev accuracy {acc:.4f}")


if __name__ == "__main__":
    main()
