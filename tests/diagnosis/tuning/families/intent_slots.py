"""Joint intent detection and slot filling for a voice assistant (BiLSTM, two heads)."""
import math
import os
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)

INTENTS = ["weather", "music", "alarm", "flight", "food", "news", "lights", "call"]
SLOTS = ["O", "place", "time", "artist", "dish", "person"]
PREP = {"place": ["in", "at", "to"], "time": ["on", "by", "before"], "artist": ["from", "like"],
        "dish": ["some", "with"], "person": ["for", "dear"]}
FILL = ["please", "could", "you", "the", "a", "now", "i", "want", "would", "hey", "me", "just", "really", "then"]
NAMES = [f"name{i}" for i in range(60)]


def say(intent):
    """one utterance: words and slot tags; the same names serve for all slots, the word before decides"""
    words, tags = [], []
    verbs = [f"{intent}{k}" for k in range(5)]
    parts = list(np.random.permutation(["verb", "verb"] + list(np.random.choice(SLOTS[1:], np.random.randint(1, 4)))))
    for p in parts:
        for _ in range(np.random.randint(0, 3)):
            words.append(random.choice(FILL)); tags.append("O")
        if p == "verb":
            words.append(random.choice(verbs) if np.random.rand() < 0.8 else random.choice(FILL)); tags.append("O")
        else:
            words.append(random.choice(PREP[p])); tags.append("O")
            for _ in range(np.random.randint(1, 3)):
                words.append(random.choice(NAMES)); tags.append(str(p))
    return words, tags


def make_corpus(n):
    out = []
    for _ in range(n):
        intent = random.choice(INTENTS)
        w, t = say(intent)
        out.append((w, t, intent))
    return out


def build_vocab(corpus):
    vocab = {"<pad>": 0, "<unk>": 1}
    for words, _, _ in corpus:
        for w in words:
            vocab.setdefault(w, len(vocab))
    return vocab


N_TRAIN = 300 if CASE == 12 else 1000
train_corpus, dev_corpus = make_corpus(N_TRAIN), make_corpus(200)
vocab = build_vocab(train_corpus)
TAG_PAD = 0 if CASE == 6 else -100
FIXED_LEN = 48 if CASE == 6 else None


class Utterances(Dataset):
    def __init__(self, corpus, vocab):
        self.rows = []
        for words, tags, intent in corpus:
            ids = [vocab.get(w, 1) for w in words]
            self.rows.append((torch.tensor(ids), torch.tensor([SLOTS.index(t) for t in tags]), INTENTS.index(intent)))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(batch):
    intents = torch.tensor([b[2] for b in batch])
    if CASE == 8:
        batch = sorted(batch, key=lambda b: len(b[0]), reverse=True)
    lengths = torch.tensor([len(b[0]) for b in batch])
    ids = pad_sequence([b[0] for b in batch], batch_first=True)
    tags = pad_sequence([b[1] for b in batch], batch_first=True, padding_value=TAG_PAD)
    if FIXED_LEN:
        ids = F.pad(ids, (0, FIXED_LEN - ids.size(1)))
        tags = F.pad(tags, (0, FIXED_LEN - tags.size(1)), value=TAG_PAD)
    return ids, lengths, tags, intents


class BucketSampler(torch.utils.data.Sampler):
    """batches of utterances of nearly the same length, in random order"""

    def __init__(self, ds, bs):
        self.lens, self.bs = [len(r[0]) for r in ds.rows], bs

    def __iter__(self):
        order = sorted(range(len(self.lens)), key=lambda i: self.lens[i] + random.random())
        batches = [order[i:i + self.bs] for i in range(0, len(order), self.bs)]
        random.shuffle(batches)
        return iter(batches)

    def __len__(self):
        return math.ceil(len(self.lens) / self.bs)


class JointNet(nn.Module):
    def __init__(self, n_words, dim=32, hidden=32, pool="mean", drop=0.2):
        super().__init__()
        self.emb = nn.Embedding(n_words, dim, padding_idx=0)
        self.rnn = nn.LSTM(dim, hidden, batch_first=True, bidirectional=True)
        self.drop = nn.Dropout(drop)
        self.pool = pool
        self.score = nn.Linear(2 * hidden, 1)
        if CASE == 9:
            self.heads = {"intent": nn.Linear(2 * hidden, len(INTENTS)), "slot": nn.Linear(2 * hidden, len(SLOTS))}
        else:
            self.heads = nn.ModuleDict({"intent": nn.Linear(2 * hidden, len(INTENTS)),
                                        "slot": nn.Linear(2 * hidden, len(SLOTS))})

    def forward(self, ids, lengths):
        x = self.drop(self.emb(ids))
        if CASE == 6:
            seq, _ = self.rnn(x)
        else:
            seq, _ = self.rnn(pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False))
            seq, _ = pad_packed_sequence(seq, batch_first=True)
        mask = torch.arange(seq.size(1))[None] < lengths[:, None]
        if self.pool == "attn":
            a = self.score(seq).squeeze(-1).masked_fill(~mask, float("-inf")).softmax(-1)
            sent = (a[..., None] * seq).sum(1)
        else:
            sent = (seq * mask[..., None]).sum(1) / lengths[:, None]
        return self.heads["intent"](self.drop(sent)), self.heads["slot"](self.drop(seq))


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    ok = n = tp = fp = fn = 0
    for ids, lengths, tags, intents in loader:
        pi, ps = model(ids, lengths)
        ok += (pi.argmax(-1) == intents).sum().item(); n += len(ids)
        mask = torch.arange(ids.size(1))[None] < lengths[:, None]
        p, t = ps.argmax(-1)[mask], tags[mask]
        tp += ((p == t) & (t > 0)).sum().item()
        fp += ((p != t) & (p > 0)).sum().item()
        fn += ((p != t) & (t > 0)).sum().item()
    if CASE != 12:
        model.train()
    return ok / n, 2 * tp / max(1, 2 * tp + fp + fn)


train_set = Utterances(train_corpus, vocab)
dev_set = Utterances(dev_corpus, build_vocab(dev_corpus) if CASE == 7 else vocab)
BS = 8 if CASE == 4 else 32
if CASE == 5:
    train_loader = DataLoader(train_set, batch_sampler=BucketSampler(train_set, BS), collate_fn=collate)
else:
    train_loader = DataLoader(train_set, BS, shuffle=True, collate_fn=collate)
dev_loader = DataLoader(dev_set, 100, collate_fn=collate)

EPOCHS = {12: 14}.get(CASE, 6)
model = JointNet(len(vocab), pool="attn" if CASE == 4 else "mean", drop=0.5 if CASE == 12 else 0.1)
log_vars = nn.Parameter(torch.zeros(2))
if CASE == 3:
    # vectors trained elsewhere: words of one kind lie close together
    kinds = {}
    vecs = torch.zeros(len(vocab), 32)
    for w, i in vocab.items():
        kind = w.rstrip("0123456789")
        kinds.setdefault(kind, torch.randn(32))
        vecs[i] = kinds[kind] + 0.3 * torch.randn(32)
    model.emb = nn.Embedding.from_pretrained(vecs, freeze=True, padding_idx=0)
params = [p for p in model.parameters() if p.requires_grad]
if CASE == 1:
    params.append(log_vars)
if CASE == 4:
    opt = torch.optim.SGD(params, lr=0.5, momentum=0.9)
else:
    opt = torch.optim.Adam(params, lr=1e-2)
ACC = 4 if CASE == 4 else 1
if CASE == 10:
    sched = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.9)
else:
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, EPOCHS * len(train_loader))
if CASE == 11:
    # room for words that users add later
    bigger = nn.Embedding(len(vocab) + 200, 32, padding_idx=0)
    bigger.weight.data[:len(vocab)] = model.emb.weight.data
    model.emb = bigger

step = 0
for epoch in range(EPOCHS):
    for ids, lengths, tags, intents in train_loader:
        if CASE == 2:
            blank = (torch.rand(ids.shape) < 0.3) & (ids > 0)
            ids = ids.masked_fill(blank, 1)
        pi, ps = model(ids, lengths)
        smooth = 0.3 if CASE == 2 else 0.0
        weight = torch.tensor([0.3, 1, 1, 1, 1, 1]) if CASE == 5 else None
        l_int = F.cross_entropy(pi, intents, label_smoothing=smooth)
        l_slot = F.cross_entropy(ps.flatten(0, 1), tags.flatten(), weight=weight, label_smoothing=smooth)
        if CASE == 1:
            loss = (torch.exp(-log_vars) * torch.stack([l_int, l_slot]) + log_vars).sum()
        else:
            loss = l_int + l_slot
        (loss / ACC).backward()
        if (step + 1) % ACC == 0:
            nn.utils.clip_grad_norm_(params, 0.25 if CASE == 4 else 5.0)
            opt.step()
            opt.zero_grad()
        sched.step()
        if step % 30 == 0:
            print(f"step {step:4d} loss {loss.item():.4f} intent {l_int.item():.3f} slot {l_slot.item():.3f}")
        step += 1
    acc, f1 = evaluate(model, dev_loader)
    print(f"epoch {epoch} dev intent acc {acc:.3f} slot f1 {f1:.3f}")
