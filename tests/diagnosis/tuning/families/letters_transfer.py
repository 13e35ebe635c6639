import math
import os
import random
from collections import Counter

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
MAXLEN = 20
TOPICS, INTENTS = 4, 2
rnd = random.Random(1000 + SEED)
torch.manual_seed(SEED)
np.random.seed(SEED)


# ---------- letters to a town hall: a topic and an intent ----------
def lexicon():
    cons, vow = "bdfgklmnprstvz", "aeiou"
    w = set()
    while len(w) < 250:
        w.add("".join(rnd.choice(cons) + rnd.choice(vow) for _ in range(rnd.choice([2, 3]))))
    w = sorted(w)
    rnd.shuffle(w)
    topic = [w[i * 30:(i + 1) * 30] for i in range(TOPICS)]
    intent = [w[120 + i * 12:120 + (i + 1) * 12] for i in range(INTENTS)]
    return topic, intent, w[144:]


TOPIC_W, INTENT_W, COMMON = lexicon()


def letter(topic, intent):
    n = rnd.randint(12, MAXLEN)
    out = []
    for _ in range(n):
        u = rnd.random()
        if u < 0.34:
            out.append(rnd.choice(TOPIC_W[topic]))
        elif u < 0.44:
            out.append(rnd.choice(TOPIC_W[rnd.randrange(TOPICS)]))
        else:
            out.append(COMMON[min(int(rnd.expovariate(0.03)), len(COMMON) - 1)])
    for _ in range(2):
        out[rnd.randrange(n)] = rnd.choice(INTENT_W[intent])
    if rnd.random() < 0.15:
        out[rnd.randrange(n)] = rnd.choice(INTENT_W[1 - intent])
    return out


def corpus(n, priors=None, per_file=1):
    docs = []
    for k in range(n):
        if k % per_file == 0:
            t = rnd.choices(range(TOPICS), priors or [1] * TOPICS)[0]
        i = rnd.randrange(INTENTS)
        docs.append((letter(t, i), t, i))
    return docs


def build_vocab(docs):
    c = Counter(w for d, _, _ in docs for w in d)
    return {w: k + 2 for k, (w, _) in enumerate(c.most_common())}


def encode(docs, vocab, joint=True):
    x = torch.zeros(len(docs), MAXLEN, dtype=torch.long)
    for r, (d, _, _) in enumerate(docs):
        x[r, :len(d)] = torch.tensor([vocab.get(w, 1) for w in d])
    y = torch.tensor([t * INTENTS + i if joint else t for _, t, i in docs])
    return x, y


# ---------- encoder ----------
class Encoder(nn.Module):
    def __init__(self, vocab_size, d=32):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, d, padding_idx=0)
        self.pos = nn.Parameter(torch.randn(MAXLEN, d) * 0.1)
        self.layer = nn.TransformerEncoderLayer(d, 4, 64, dropout=0.1, batch_first=True)
        self.d = d

    def forward(self, x):
        pad = x == 0
        h = self.layer(self.emb(x) + self.pos, src_key_padding_mask=pad)
        return h.masked_fill(pad.unsqueeze(-1), 0).sum(1) / (~pad).sum(1, keepdim=True)


class Classifier(nn.Module):
    def __init__(self, enc, classes):
        super().__init__()
        self.encoder = enc
        self.head = nn.Linear(enc.d, classes)

    def forward(self, x):
        return self.head(self.encoder(x))


class Student(nn.Module):
    def __init__(self, vocab_size, classes, d=16):
        super().__init__()
        self.bag = nn.Embedding(vocab_size, d, padding_idx=0)
        self.fc = nn.Sequential(nn.Linear(d, 32), nn.ReLU(), nn.Linear(32, classes))

    def forward(self, x):
        return self.fc(self.bag(x).sum(1) / 4)


def pretrain(enc, x, epochs=6, bs=50, tau=0.2):
    """two letters of one file (neighbouring rows) belong together"""
    proj = nn.Sequential(nn.Linear(enc.d, enc.d), nn.ReLU(), nn.Linear(enc.d, 24))
    opt = torch.optim.Adam([*enc.parameters(), *proj.parameters()], lr=3e-3)
    files = x.view(-1, 2, MAXLEN)
    step = 0
    for ep in range(epochs):
        for idx in torch.randperm(len(files)).split(bs):
            b = files[idx]
            z = F.normalize(proj(enc(b.reshape(-1, MAXLEN))), dim=1).view(len(idx), 2, -1)
            z1, z2 = z[:, 0], z[:, 1]
            if CASE == 6:
                loss = 2 - 2 * (z1 * z2).sum(1).mean()
            else:
                sim = z1 @ z2.t() / tau
                y = torch.arange(len(b))
                loss = (F.cross_entropy(sim, y) + F.cross_entropy(sim.t(), y)) / 2
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
        print(f"pretrain epoch {ep} step {step} loss {loss.item():.3f}")


@torch.no_grad()
def score(model, x, y, classes):
    model.eval()
    p = torch.cat([model(b).argmax(1) for b in x.split(200)])
    f1 = []
    for c in range(classes):
        tp = ((p == c) & (y == c)).sum().item()
        f1.append(2 * tp / max(1, (p == c).sum().item() + (y == c).sum().item()))
    model.train()
    return (p == y).float().mean().item(), float(np.mean(f1))


def finetune(model, train, test, classes, epochs=6, bs=20, weight=None):
    x, y = train
    if CASE == 7:
        order = y.argsort()
        x, y = x[order], y[order]
    loader = DataLoader(TensorDataset(x, y), batch_size=bs, shuffle=CASE != 7)
    if CASE in (1, 3):
        for p in model.encoder.parameters():
            p.requires_grad_(False)
        opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
    else:
        opt = torch.optim.AdamW([{"params": model.encoder.parameters(), "lr": 2e-3},
                                 {"params": model.head.parameters(), "lr": 1e-2}])
    total = epochs * len(loader)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1, (s + 1) / 15) * max(0.02, 1 - s / total))
    for ep in range(1, epochs + 1):
        if CASE == 3 and ep == 2:
            for p in model.encoder.parameters():
                p.requires_grad_(True)
            print("encoder unfrozen")
        model.train()
        tot = 0.0
        for xb, yb in loader:
            loss = F.cross_entropy(model(xb), yb, weight=weight)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            tot += loss.item()
        tr, te = score(model, x, y, classes), score(model, *test, classes)
        print(f"finetune epoch {ep} loss {tot / len(loader):.3f} train acc {tr[0]:.3f} test acc {te[0]:.3f} macro-F1 {te[1]:.3f}")


def distill(teacher, student, x, test, classes, epochs=8, bs=48, T=2.0):
    opt = torch.optim.Adam(student.parameters(), lr=1e-2)
    axis = 0 if CASE == 5 else 1
    teacher.eval()
    for ep in range(1, epochs + 1):
        student.train()
        tot, n = 0.0, 0
        for idx in torch.randperm(len(x)).split(bs):
            with torch.no_grad():
                soft = F.softmax(teacher(x[idx]) / T, dim=axis)
            logp = F.log_softmax(student(x[idx]) / T, dim=axis)
            loss = T * T * F.kl_div(logp, soft, reduction="batchmean")
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot, n = tot + loss.item(), n + 1
        acc, f1 = score(student, *test, classes)
        print(f"distill epoch {ep} kd loss {tot / n:.4f} student test acc {acc:.3f} macro-F1 {f1:.3f}")


def main():
    priors = [12, 5, 2, 1] if CASE == 1 else None
    unlabelled = corpus(1300, per_file=2)
    train_docs, test_docs = corpus(600, priors), corpus(400, priors)
    vocab = build_vocab(unlabelled)
    joint = CASE != 1
    classes = TOPICS * INTENTS if joint else TOPICS
    xu, _ = encode(unlabelled, vocab)
    train = encode(train_docs, vocab, joint)
    test = encode(test_docs, build_vocab(test_docs) if CASE == 4 else vocab, joint)
    size = max(vocab.values()) + 1
    enc = Encoder(size)
    pretrain(enc, xu)
    model = Classifier(enc, classes)
    weight = None
    if CASE == 1:
        n = torch.bincount(train[1], minlength=classes).float()
        weight = n.sum() / n / classes
    finetune(model, train, test, classes, epochs=5 if CASE in (2, 5) else 6, weight=weight)
    if CASE in (2, 5):
        distill(model, Student(size, classes), torch.cat([xu, train[0]]), test, classes)


if __name__ == "__main__":
    main()
