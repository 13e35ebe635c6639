"""Lighthouse logbook lines -> what has to be done about them."""
import os
import random
from collections import Counter

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset, WeightedRandomSampler

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)

PAD, CLS, NOT = "<pad>", "<cls>", "no"
LABELS = ["routine", "lamp", "weather", "rescue"]
SHARE = [0.70, 0.16, 0.09, 0.05]
CUES = {1: "lamp lens wick mantle burner".split(),
        2: "gale squall surge fog ice".split(),
        3: "flare mayday adrift overboard wreck".split()}
FILLER = ["w%03d" % i for i in range(220)]
WEIGHT = 1.0 / np.arange(3, 223)
WEIGHT /= WEIGHT.sum()
MAX_LEN = 16


def write_line(label):
    words = list(np.random.choice(FILLER, random.randint(3, 8), p=WEIGHT))
    pieces = []
    if label:
        pieces += [[random.choice(CUES[label])] for _ in range(random.choice([1, 1, 2]))]
    for _ in range(random.choice([0, 0, 1, 1])):
        other = random.choice([k for k in CUES if k != label])
        pieces.append([NOT, random.choice(CUES[other])])
    if random.random() < 0.25:
        pieces.append([NOT, random.choice(FILLER[:30])])
    for p in pieces:
        at = random.randint(0, len(words))
        while 0 < at <= len(words) and words[at - 1] == NOT:
            at -= 1
        words[at:at] = p
    return words[:MAX_LEN]


def logbook(n, share=SHARE):
    labels = np.random.choice(4, n, p=share)
    lines = [write_line(k) for k in labels]
    wrong = np.random.rand(n) < 0.03
    labels = np.where(wrong, np.random.choice(4, n, p=share), labels)
    return lines, labels


class Vocab:
    def __init__(self, lines):
        counts = Counter(w for line in lines for w in line)
        self.words = [PAD, CLS, "<unk>"] + sorted(w for w, c in counts.items() if c > 1)
        self.index = {w: i for i, w in enumerate(self.words)}

    def __len__(self):
        return len(self.words)

    def __call__(self, line):
        return [self.index.get(w, 2) for w in line]


class Lines(Dataset):
    def __init__(self, lines, labels, vocab):
        self.x = [torch.tensor([1] + vocab(line)) for line in lines]
        self.y = torch.as_tensor(labels)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def pad(batch):
    xs, ys = zip(*batch)
    out = torch.zeros(len(xs), MAX_LEN + 2, dtype=torch.long)
    for row, x in zip(out, xs):
        row[:len(x)] = x
    return out, torch.stack(ys)


class Reader(nn.Module):
    def __init__(self, n_words, d=32, drop=0.1):
        super().__init__()
        self.word = nn.Embedding(n_words, d, padding_idx=0)
        self.place = nn.Parameter(torch.randn(MAX_LEN + 2, d) * 0.1)
        self.drop = nn.Dropout(drop)
        layer = nn.TransformerEncoderLayer(d, 4, 64, dropout=drop, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(d, len(LABELS))

    def forward(self, x):
        mask = x.ne(0) if CASE == 1 else x.eq(0)
        h = self.drop(self.word(x) + self.place)
        h = self.encoder(h, src_key_padding_mask=mask)
        return self.out(h[:, 0])


def report(pred, true, names):
    f1s, text = [], []
    for k, name in enumerate(names):
        tp = int(((pred == k) & (true == k)).sum())
        fp = int(((pred == k) & (true != k)).sum())
        fn = int(((pred != k) & (true == k)).sum())
        f1s.append(2 * tp / max(2 * tp + fp + fn, 1))
        text.append("%s %.2f" % (name, f1s[-1]))
    return float(np.mean(f1s)), float((pred == true).mean()), ", ".join(text)


def train_reader():
    lines, labels = logbook(3200)
    n = 2560
    vocab = Vocab(lines[:n])
    order = np.argsort(labels[:n], kind="stable")
    train = Lines([lines[i] for i in order], labels[order], vocab)
    valid = Lines(lines[n:], labels[n:], vocab)
    loader = DataLoader(train, batch_size=64, shuffle=CASE != 4, collate_fn=pad)
    valid_loader = DataLoader(valid, batch_size=200, collate_fn=pad)
    freq = np.bincount(train.y, minlength=4) / n
    weight = torch.tensor((1 / freq) ** 0.5, dtype=torch.float32)
    weight = weight / weight.mean()
    net = Reader(len(vocab), drop=0.9 if CASE == 7 else 0.1)
    opt = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=0.01)
    sched = torch.optim.lr_scheduler.StepLR(opt, step_size=3, gamma=0.5)
    crit = nn.CrossEntropyLoss(weight=weight)
    print(len(vocab), "words,", n, "lines, share of classes", freq.round(3))
    step = 0
    for epoch in range(6):
        net.train()
        seen = []
        for x, y in loader:
            opt.zero_grad()
            loss = crit(net(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
            if CASE == 3:
                sched.step()
            seen.append(loss.item())
            step += 1
        if CASE != 3:
            sched.step()
        net.eval()
        with torch.no_grad():
            pred = torch.cat([net(x).argmax(1) for x, _ in valid_loader]).numpy()
        f1, acc, text = report(pred, valid.y.numpy(), LABELS)
        print(f"epoch {epoch} step {step} loss {np.mean(seen):.3f} | accuracy {acc:.3f} macro F1 {f1:.3f} ({text})")


class Siren(nn.Module):
    """words and word pairs in a bag; is somebody in danger?"""

    def __init__(self, buckets=6000, d=24):
        super().__init__()
        self.bag = nn.EmbeddingBag(buckets, d, mode="sum")
        nn.init.normal_(self.bag.weight, 0, 0.05)
        self.score = nn.Parameter(torch.zeros(buckets))
        self.head = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 2))

    def attend(self, flat, offsets):
        """weight of every entry inside its own line"""
        s = self.score[flat]
        line = torch.zeros_like(flat)
        line[offsets[1:]] = 1
        line = line.cumsum(0)
        if CASE == 5:
            return torch.softmax(s, dim=0)
        e = s.clamp(-10, 10).exp()
        total = torch.zeros(len(offsets)).index_add(0, line, e)
        return e / total[line]

    def forward(self, flat, offsets):
        pooled = self.bag(flat, offsets, per_sample_weights=self.attend(flat, offsets))
        return self.head(pooled)


def train_siren():
    lines, labels = logbook(5400, [0.71, 0.17, 0.09, 0.03])
    y = (labels == 3).astype(int)
    buckets = 6000
    table = {}

    def encode(line):
        grams = list(line) + [a + "_" + b for a, b in zip(line, line[1:])]
        return torch.tensor([table.setdefault(g, len(table) % buckets) for g in grams])

    data = [(encode(l), int(k)) for l, k in zip(lines, y)]
    train, valid = data[:3800], data[3800:]

    def collate(batch):
        xs, ys = zip(*batch)
        offs = np.cumsum([0] + [len(x) for x in xs[:-1]])
        return torch.cat(xs), torch.from_numpy(offs), torch.tensor(ys)

    rate = y[:3800].mean()
    if CASE == 2:
        loader = DataLoader(train, 64, shuffle=True, collate_fn=collate)
    else:
        w = np.where(y[:3800] == 1, 0.35 / rate, 0.65 / (1 - rate))
        loader = DataLoader(train, 64, sampler=WeightedRandomSampler(w, 3800), collate_fn=collate)
    net = Siren(buckets)
    opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4)
    warm = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 60))
    truth = np.array([k for _, k in valid])
    print("danger in %.1f%% of the lines" % (100 * rate))
    step = 0
    for epoch in range(4):
        net.train()
        for flat, offs, t in loader:
            loss = nn.functional.cross_entropy(net(flat, offs), t)
            net.zero_grad()
            loss.backward()
            opt.step()
            warm.step()
            step += 1
            if step % 40 == 0:
                print("  %4d loss %.3f" % (step, loss.item()))
        net.eval()
        with torch.no_grad():
            prob = torch.cat([net(f, o).softmax(1)[:, 1] for f, o, _ in DataLoader(valid, 128, collate_fn=collate)]).numpy()
        f1, acc, text = report((prob > 0.5).astype(int), truth, ["calm", "danger"])
        rank = prob.argsort().argsort()
        pos = truth == 1
        auc = (rank[pos].sum() - pos.sum() * (pos.sum() - 1) / 2) / (pos.sum() * (~pos).sum())
        print(f"epoch {epoch} accuracy {acc:.3f}  F1 {text}  auc {auc:.3f}")


if __name__ == "__main__":
    train_siren() if CASE in (2, 5, 6) else train_reader()
