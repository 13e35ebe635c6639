# tagging of log events: every event gets a tag that depends on its kind, the mode switched on
# before it and the event that follows.  sequences of very different lengths -> padding
import math
import os

import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader

case = int(os.environ.get("CASE", "0"))
seed = int(os.environ.get("SEED", "0"))
np.random.seed(seed)
torch.manual_seed(seed)

VOCAB, N_TAGS, PAD = 30, 6, 0
IGNORE = -100


def gen_sequence(rng):
    n = int(min(5 + rng.exponential(8), 36))
    toks = rng.integers(1, VOCAB, n)
    mode, tags = 0, []
    for i, t in enumerate(toks):
        if t < 7:
            mode = 1 + t % 3
        kind = t % 4
        nxt = toks[i + 1] % 2 if i + 1 < n else 0
        if case == 2:
            tag = 1 + mode if (kind == 3 and mode > 0 and nxt) else 0
        elif mode == 0:
            tag = 0
        else:
            tag = 1 + (kind + mode + 2 * nxt) % (N_TAGS - 1)
        tags.append(tag)
    return torch.tensor(toks), torch.tensor(tags)


def gen_corpus(n, s):
    rng = np.random.default_rng(s)
    return [gen_sequence(rng) for _ in range(n)]


def collate(batch):
    xs, ys = [b[0] for b in batch], [b[1] for b in batch]
    lens = torch.tensor([len(x) for x in xs])
    if case in (0, 3, 9):
        # longest first for the packed lstm
        order = lens.argsort(descending=True)
        xs = [xs[i] for i in order]
        if case != 9:
            ys = [ys[i] for i in order]
        lens = lens[order]
    x = pad_sequence(xs, batch_first=True, padding_value=PAD)
    y = pad_sequence(ys, batch_first=True, padding_value=0 if case == 5 else IGNORE)
    return x, y, lens


class Tagger(nn.Module):
    def __init__(self, emb=24, hid=32, cell="lstm", packed=True, layers=1, p=0.1):
        super().__init__()
        self.packed = packed
        self.embed = nn.Embedding(VOCAB, emb, padding_idx=PAD)
        rnn = nn.LSTM if cell == "lstm" else nn.GRU
        kw = dict(bidirectional=True, batch_first=True)
        if case == 6:
            kw.pop("batch_first")
        if case == 8:
            self.rnns = [rnn(emb if i == 0 else 2 * hid, hid, **kw) for i in range(2)]
        else:
            self.rnns = nn.ModuleList([rnn(emb if i == 0 else 2 * hid, hid, **kw) for i in range(layers)])
        self.drop = nn.Dropout(p)
        self.out = nn.Linear(2 * hid, N_TAGS)

    def forward(self, x, lens):
        h = self.drop(self.embed(x))
        for rnn in self.rnns:
            if self.packed:
                packed = pack_padded_sequence(h, lens, batch_first=True, enforce_sorted=False)
                h, _ = pad_packed_sequence(rnn(packed)[0], batch_first=True)
            else:
                h, _ = rnn(h)
        scores = self.out(self.drop(h))
        if case == 10:
            return torch.log_softmax(scores, dim=1)
        return torch.log_softmax(scores, dim=-1)


def evaluate(model, corpus):
    if case != 11:
        model.eval()
    right = total = 0
    tp = fn = fp = 0
    with torch.no_grad():
        for x, y, lens in DataLoader(corpus, batch_size=64, collate_fn=collate):
            pred = model(x, lens).argmax(-1)
            m = y != IGNORE
            right += (pred[m] == y[m]).sum().item()
            total += m.sum().item()
            tp += ((pred == y) & (y > 0)).sum().item()
            fn += ((pred != y) & (y > 0)).sum().item()
            fp += ((pred != y) & (pred > 0) & m).sum().item()
    model.train()
    return right / total, 2 * tp / max(2 * tp + fn + fp, 1)


def real_accuracy(model, corpus):
    """on true events only, one sequence at a time"""
    model.eval()
    right = total = 0
    with torch.no_grad():
        for x, y in corpus[:120]:
            pred = model(x[None], torch.tensor([len(x)])).argmax(-1)[0]
            right += (pred == y).sum().item()
            total += len(y)
    return right / total


def main():
    train, dev = gen_corpus(600, seed + 10), gen_corpus(150, seed + 11)
    epochs, lr, clip = 10, 1e-2, 1.0
    cell, packed, layers, p = "lstm", case not in (4, 6), 1, 0.1
    shuffle = True
    if case == 1:
        cell, clip, lr = "gru", 0.1, 1e-2
    if case == 4:
        train.sort(key=lambda s: len(s[0]))   # buckets of like lengths, less padding
        shuffle, cell, lr = False, "gru", 8e-3
    if case == 7:
        lr, clip = 0.3, None
    if case == 11:
        p = 0.3
    model = Tagger(cell=cell, packed=packed, layers=layers, p=p)
    weight = None
    if case == 2:
        counts = torch.zeros(N_TAGS)
        for _, y in train:
            counts += torch.bincount(y, minlength=N_TAGS)
        weight = (counts.sum() / counts.clamp(min=1)).sqrt()
        print("tag counts", counts.int().tolist())
    loss_fn = nn.NLLLoss(weight=weight, ignore_index=IGNORE)
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    loader = DataLoader(train, batch_size=16, shuffle=shuffle, collate_fn=collate)
    sched = None
    if case == 3:
        warm, full = 120, epochs * len(loader)
        sched = torch.optim.lr_scheduler.LambdaLR(
            opt, lambda s: (s + 1) / warm if s < warm else 0.5 * (1 + math.cos(math.pi * (s - warm) / (full - warm))))
    step = 0
    for epoch in range(epochs):
        running = []
        for x, y, lens in loader:
            logp = model(x, lens)
            loss = loss_fn(logp.reshape(-1, N_TAGS), y.reshape(-1))
            opt.zero_grad()
            loss.backward()
            if clip:
                nn.utils.clip_grad_norm_(model.parameters(), clip)
            opt.step()
            if sched:
                sched.step()
            running.append(loss.item())
            step += 1
        if epoch % 2 == 1:
            acc, f1 = evaluate(model, dev)
            print(f"epoch {epoch + 1} step {step} loss {np.mean(running):.4f} dev acc {acc:.3f} f1 {f1:.3f}")
    print(f"final: accuracy on single sequences {real_accuracy(model, dev):.3f}")


main()
