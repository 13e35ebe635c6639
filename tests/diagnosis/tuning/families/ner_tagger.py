#!/usr/bin/env python
"""Named-entity tagger: character CNN + word embedding -> BiLSTM -> BIO tags."""
import os
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.utils.data import DataLoader

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-ORG", "I-ORG"]
IGNORE = -100
ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-"
WORD_LEN = 10


class Config:
    word_dim = 24
    char_dim = 12
    filters = 24
    hidden = 48
    layers = 1
    dropout = 0.3
    optimizer = "adam"
    lr = 4e-3
    momentum = 0.9
    weight_decay = 0.0
    clip = 5.0
    batch = 16
    accumulate = 1
    epochs = 8
    n_train = 900
    noise = 0.0
    fixed_len = 0          # pad all sentences to this length (0: to the longest of the batch)
    schedule = None


cfg = Config()
if CASE == 0:
    cfg.fixed_len, cfg.optimizer, cfg.lr = 80, "sgd", 0.05
    cfg.epochs, cfg.dropout, cfg.batch = 7, 0.2, 24
elif CASE == 1:
    cfg.optimizer, cfg.lr = "sgd", 0.03
elif CASE == 2:
    cfg.batch = 20
elif CASE == 3:
    cfg.layers, cfg.hidden, cfg.lr, cfg.epochs = 2, 32, 2e-3, 6
elif CASE == 4:
    cfg.lr, cfg.epochs = 5e-3, 8
elif CASE == 5:
    cfg.dropout, cfg.hidden = 0.6, 64
elif CASE == 7:
    cfg.optimizer, cfg.lr, cfg.batch, cfg.epochs = "sgd", 0.12, 10, 9
elif CASE == 8:
    cfg.dropout, cfg.hidden, cfg.lr, cfg.epochs = 0.5, 64, 5e-3, 9
elif CASE == 9:
    cfg.fixed_len, cfg.batch, cfg.n_train, cfg.epochs = 40, 24, 800, 7
elif CASE == 10:
    cfg.batch, cfg.accumulate, cfg.noise, cfg.epochs, cfg.layers, cfg.hidden = 4, 4, 0.03, 7, 2, 32
    cfg.n_train = 700
elif CASE == 11:
    cfg.optimizer, cfg.lr, cfg.schedule, cfg.filters, cfg.weight_decay = "adamw", 8e-3, "onecycle", 32, 0.1


# ------------------------------------------------------------------ synthetic newswire
def syllables(r, n):
    return "".join(r.choice("bdfgklmnprstvz") + r.choice("aeiou") for _ in range(n))


def build_lexicon(r):
    verbs = [syllables(r, 2) + "ed" for _ in range(40)]
    nouns = [syllables(r, 2) for _ in range(80)]
    small = ["the", "a", "of", "and", "in", "at", "by", "for", "with", "to"]
    return verbs, nouns, small


class Newswire:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.verbs, self.nouns, self.small = build_lexicon(random.Random(7))

    def entity(self, kind):
        r = self.r
        stem = syllables(r, 2).capitalize()
        if kind == "PER":
            words = [stem, syllables(r, 1).capitalize() + r.choice(["son", "sky", "ez"])]
            if r.random() < 0.3:
                words.insert(1, r.choice("ABCDEFG") + ".")
        elif kind == "LOC":
            words = [stem[:4] + r.choice(["ville", "burg", "ia"])]
            if r.random() < 0.3:
                words.insert(0, r.choice(["New", "San", "Upper"]))
        else:
            words = [stem, r.choice(["Corp", "Inc", "Group", "Bank"])]
            if r.random() < 0.3:
                words.insert(1, syllables(r, 2).capitalize())
        return words, ["B-" + kind] + ["I-" + kind] * (len(words) - 1)

    def sentence(self):
        r = self.r
        words, tags = [], []
        for _ in range(r.randint(2, 4)):
            for _ in range(r.randint(1, 4)):
                w = r.choice(r.choice([self.verbs, self.nouns, self.small]))
                if r.random() < 0.1:
                    w = w.capitalize()
                words.append(w)
                tags.append("O")
            if r.random() < 0.6:
                w, t = self.entity(r.choice(["PER", "LOC", "ORG"]))
                words += w
                tags += t
        words.append(".")
        tags.append("O")
        return words, tags


class Vocabulary:
    def __init__(self, sentences):
        count = {}
        for words, _ in sentences:
            for w in words:
                count[w.lower()] = count.get(w.lower(), 0) + 1
        self.word2id = {"<pad>": 0, "<unk>": 1}
        for w, c in sorted(count.items()):
            if c >= 3:
                self.word2id[w] = len(self.word2id)
        self.char2id = {c: i + 1 for i, c in enumerate(ALPHABET)}
        self.tag2id = {t: i for i, t in enumerate(TAGS)}

    def encode(self, words, tags):
        w = [self.word2id.get(x.lower(), 1) for x in words]
        c = [[self.char2id[k] for k in x[:WORD_LEN]] + [0] * (WORD_LEN - len(x[:WORD_LEN])) for x in words]
        return torch.tensor(w), torch.tensor(c), torch.tensor([self.tag2id[t] for t in tags])


def collate(rows):
    lengths = torch.tensor([len(w) for w, _, _ in rows])
    width = cfg.fixed_len or int(lengths.max())
    words = torch.zeros(len(rows), width, dtype=torch.long)
    chars = torch.zeros(len(rows), width, WORD_LEN, dtype=torch.long)
    tags = torch.full((len(rows), width), 0 if CASE == 0 else IGNORE, dtype=torch.long)
    for i, (w, c, t) in enumerate(rows):
        words[i, :len(w)] = w
        chars[i, :len(w)] = c
        tags[i, :len(w)] = t
    return words, chars, lengths, tags


# ------------------------------------------------------------------ model
class CharCNN(nn.Module):
    def __init__(self, n_chars, dim, filters):
        super().__init__()
        self.emb = nn.Embedding(n_chars, dim, padding_idx=0)
        self.conv = nn.Conv1d(dim, filters, kernel_size=3, padding=1)

    def forward(self, chars):
        b, t, k = chars.shape
        x = self.emb(chars.view(b * t, k)).transpose(1, 2)
        x = F.relu(self.conv(x)).max(2)[0]
        return x.view(b, t, -1)


class Tagger(nn.Module):
    def __init__(self, n_words, n_chars):
        super().__init__()
        self.words = nn.Embedding(n_words, cfg.word_dim, padding_idx=0)
        if CASE == 3:
            self.chars = [CharCNN(n_chars, cfg.char_dim, cfg.filters)]
        else:
            self.chars = nn.ModuleList([CharCNN(n_chars, cfg.char_dim, cfg.filters)])
        sizes = [cfg.word_dim + cfg.filters] + [2 * cfg.hidden] * (cfg.layers - 1)
        rnns = [nn.LSTM(s, cfg.hidden, batch_first=True, bidirectional=True) for s in sizes]
        self.rnns = rnns if CASE == 3 else nn.ModuleList(rnns)
        self.drop = nn.Dropout(cfg.dropout)
        self.out = nn.Linear(2 * cfg.hidden, len(TAGS))

    def regularise(self, x):
        if CASE == 5:
            return F.dropout(x, cfg.dropout)
        return self.drop(x)

    def forward(self, words, chars, lengths):
        width = words.size(1)
        x = torch.cat([self.words(words)] + [c(chars) for c in self.chars], 2)
        x = self.regularise(x)
        if CASE in (2, 8):
            lengths, order = lengths.sort(descending=True)
            x = x[order]
            for rnn in self.rnns:
                y, _ = rnn(pack_padded_sequence(x, lengths, batch_first=True))
                x, _ = pad_packed_sequence(y, batch_first=True, total_length=width)
            if CASE == 8:
                x = x[order.argsort()]
        else:
            for rnn in self.rnns:
                y, _ = rnn(pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False))
                x, _ = pad_packed_sequence(y, batch_first=True, total_length=width)
        x = self.out(self.regularise(x))
        if CASE in (6, 11):
            x = F.log_softmax(x, dim=-1)
        return x


def spans(tags):
    found, start, kind = set(), None, None
    for i, t in enumerate(list(tags) + ["O"]):
        if start is not None and t != "I-" + kind:
            found.add((start, i, kind))
            start = None
        if t.startswith("B-"):
            start, kind = i, t[2:]
    return found


class Trainer:
    def __init__(self, model, train, dev):
        self.model, self.train_set, self.dev_set = model, train, dev
        params = model.parameters()
        if cfg.optimizer == "sgd":
            self.optimizer = torch.optim.SGD(params, lr=cfg.lr, momentum=cfg.momentum, weight_decay=cfg.weight_decay)
        elif cfg.optimizer == "adamw":
            self.optimizer = torch.optim.AdamW(params, lr=cfg.lr, weight_decay=cfg.weight_decay)
        else:
            self.optimizer = torch.optim.Adam(params, lr=cfg.lr)
        self.criterion = nn.NLLLoss(ignore_index=IGNORE) if CASE in (4, 6, 11) else nn.CrossEntropyLoss(ignore_index=IGNORE)
        self.scheduler = None
        if cfg.schedule == "onecycle":
            self.scheduler = torch.optim.lr_scheduler.OneCycleLR(
                self.optimizer, max_lr=cfg.lr, total_steps=cfg.epochs * len(train))
        self.steps = 0

    def epoch(self, number):
        self.model.train()
        total = 0.0
        for i, (words, chars, lengths, tags) in enumerate(self.train_set):
            scores = self.model(words, chars, lengths)
            loss = self.criterion(scores.reshape(-1, len(TAGS)), tags.reshape(-1))
            (loss / cfg.accumulate).backward()
            total += loss.item()
            if (i + 1) % cfg.accumulate and i + 1 < len(self.train_set):
                continue
            nn.utils.clip_grad_norm_(self.model.parameters(), cfg.lr if CASE == 1 else cfg.clip)
            self.optimizer.step()
            self.optimizer.zero_grad()
            if self.scheduler is not None:
                self.scheduler.step()
            self.steps += 1
        print("epoch %d  step %d  loss %.4f" % (number, self.steps, total / len(self.train_set)))

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        right = n = hit = said = gold = 0
        for words, chars, lengths, tags in self.dev_set:
            guess = self.model(words, chars, lengths).argmax(-1)
            seen = tags != IGNORE
            right += (guess[seen] == tags[seen]).sum().item()
            n += seen.sum().item()
            for g, t, k in zip(guess.tolist(), tags.tolist(), lengths.tolist()):
                a, b = spans([TAGS[j] for j in g[:k]]), spans([TAGS[j] for j in t[:k]])
                hit, said, gold = hit + len(a & b), said + len(a), gold + len(b)
        f1 = 2 * hit / max(1, said + gold)
        print("         dev tokens %.4f  entities F1 %.4f" % (right / n, f1))
        return f1


def main():
    torch.manual_seed(SEED)
    random.seed(SEED)
    np.random.seed(SEED)
    wire = Newswire(SEED)
    train = [wire.sentence() for _ in range(cfg.n_train)]
    dev = [wire.sentence() for _ in range(250)]
    if cfg.noise:
        train = [(w, [random.choice(TAGS) if random.random() < cfg.noise else t for t in ts]) for w, ts in train]
    vocab = Vocabulary(train)
    train = [vocab.encode(*s) for s in train]
    dev = [vocab.encode(*s) for s in dev]
    model = Tagger(len(vocab.word2id), len(ALPHABET) + 1)
    if CASE == 9:
        # most tokens are O: begin with that, so that the first steps are not spent on learning it
        with torch.no_grad():
            model.out.bias.zero_()
            model.out.bias[0] = 2.0
    trainer = Trainer(model, DataLoader(train, cfg.batch, shuffle=True, collate_fn=collate),
                      DataLoader(dev, 50, collate_fn=collate))
    best = 0.0
    for number in range(1, cfg.epochs + 1):
        trainer.epoch(number)
        best = max(best, trainer.evaluate())
    print("best F1 %.4f" % best)


if __name__ == "__main__":
    main()
