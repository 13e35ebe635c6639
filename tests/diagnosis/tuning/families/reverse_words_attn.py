"""Toy translation: a string of symbols to the same string, reversed and each symbol shifted by one.
GRU encoder, dot attention, GRU decoder, teacher forcing. Adapted from the translation tutorial."""
import os
import random
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)
torch.set_num_threads(1)

PAD, SOS, EOS = 0, 1, 2
NSYM = 12
VOCAB = 3 + NSYM
MAX_LEN = 7
HID = 48
BATCH = 48
ITERS = 180
LR = 5e-3
TF_RATIO = 1.0
CLIP = None
PAD_TO = None          # fixed length, like a bucket
WARMUP = 0

if CASE == 2:
    PAD_TO = 16
if CASE == 7:
    TF_RATIO = 0.9
if CASE == 8:
    CLIP = 0.5
    WARMUP = 40
if CASE == 9:
    PAD_TO = 12
if CASE == 11:
    LR = 0.25

rng = np.random.RandomState(SEED + 100)


def make_pair(r):
    n = r.randint(2, MAX_LEN + 1)
    s = r.randint(0, NSYM, n)
    src = s + 3
    tgt = (s[::-1] + 1) % NSYM + 3
    return list(src), list(tgt) + [EOS]


def pad(seqs, length=None):
    m = length or max(len(s) for s in seqs)
    return torch.tensor([list(s) + [PAD] * (m - len(s)) for s in seqs])


def get_batch(n, r=None):
    if r is None:
        r = np.random.RandomState(SEED) if CASE == 6 else rng
    pairs = [make_pair(r) for _ in range(n)]
    src = pad([p[0] for p in pairs])
    tgt = pad([p[1] for p in pairs], PAD_TO)
    return src, tgt


class EncoderRNN(nn.Module):
    def __init__(self, vocab, hid):
        super().__init__()
        self.embedding = nn.Embedding(vocab, hid, padding_idx=PAD)
        self.gru = nn.GRU(hid, hid, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(2 * hid, hid)

    def forward(self, src):
        lengths = (src != PAD).sum(1)
        x = nn.utils.rnn.pack_padded_sequence(self.embedding(src), lengths, batch_first=True, enforce_sorted=False)
        out, h = self.gru(x)
        out, _ = nn.utils.rnn.pad_packed_sequence(out, batch_first=True)
        h = torch.tanh(self.fc(torch.cat([h[0], h[1]], 1)))
        return out, h


class Attn(nn.Module):
    def __init__(self, hid):
        super().__init__()
        self.attn = nn.Linear(2 * hid, hid)
        self.dim = 0 if CASE == 1 else 1

    def forward(self, hidden, enc_out, mask):
        energy = torch.bmm(self.attn(enc_out), hidden.unsqueeze(2)).squeeze(2)
        energy = energy.masked_fill(mask, -1e9 if CASE in (1, 4, 7) else float("-inf"))
        w = F.softmax(energy, dim=self.dim)
        return torch.bmm(w.unsqueeze(1), enc_out).squeeze(1), w


class AttnDecoderRNN(nn.Module):
    def __init__(self, vocab, hid):
        super().__init__()
        self.embedding = nn.Embedding(vocab, hid)
        self.attn = Attn(hid)
        self.gru = nn.GRUCell(hid, hid)
        self.concat = nn.Linear(3 * hid, hid)
        self.out = nn.Linear(hid, vocab)

    def forward(self, tok, h, enc_out, mask):
        h = self.gru(self.embedding(tok), h)
        ctx, w = self.attn(h, enc_out, mask)
        o = torch.tanh(self.concat(torch.cat([h, ctx], 1)))
        return self.out(o), h, w


encoder = EncoderRNN(VOCAB, HID)
decoder = AttnDecoderRNN(VOCAB, HID)


def src_mask(src):
    if CASE == 4:
        return src != PAD
    return src == PAD


def run(src, tgt, ratio):
    enc_out, h = encoder(src)
    if CASE == 5:
        memory = torch.zeros_like(enc_out)
        for i in range(enc_out.size(1)):
            memory[:, i] = enc_out[:, i].data
        enc_out, h = memory, h.data
    mask = src_mask(src)
    steps = tgt.size(1)
    tok = torch.full((src.size(0),), SOS)
    logits = []
    for t in range(steps):
        if CASE == 10:
            tok = tgt[:, t]
        o, h, _ = decoder(tok, h, enc_out, mask)
        logits.append(o)
        tok = tgt[:, t] if random.random() < ratio else o.argmax(1).detach()
    return torch.stack(logits, 1)


@torch.no_grad()
def greedy(src, steps):
    enc_out, h = encoder(src)
    mask = src_mask(src)
    tok = torch.full((src.size(0),), SOS)
    res = []
    for _ in range(steps):
        o, h, _ = decoder(tok, h, enc_out, mask)
        tok = o.argmax(1)
        res.append(tok)
    return torch.stack(res, 1)


def evaluate():
    encoder.eval(), decoder.eval()
    src, tgt = get_batch(256, np.random.RandomState(SEED + 7))
    hyp = greedy(src, tgt.size(1))
    keep = tgt != PAD
    acc = (hyp == tgt)[keep].float().mean().item()
    whole = ((hyp == tgt) | ~keep).all(1).float().mean().item()
    encoder.train(), decoder.train()
    return acc, whole


if CASE == 3:
    optim = torch.optim.Adam(decoder.parameters(), lr=LR)
else:
    optim = torch.optim.Adam(list(encoder.parameters()) + list(decoder.parameters()), lr=LR)
criterion = nn.CrossEntropyLoss() if CASE == 2 else nn.CrossEntropyLoss(ignore_index=PAD)
sched = torch.optim.lr_scheduler.LambdaLR(optim, lambda k: min(1.0, (k + 1) / WARMUP) if WARMUP else 1.0)

start, total = time.time(), 0.0
for it in range(1, ITERS + 1):
    src, tgt = get_batch(BATCH)
    ratio = TF_RATIO - 0.6 * it / ITERS if CASE == 7 else TF_RATIO
    optim.zero_grad()
    logits = run(src, tgt, ratio)
    loss = criterion(logits.reshape(-1, VOCAB), tgt.reshape(-1))
    loss.backward()
    if CLIP:
        nn.utils.clip_grad_norm_(list(encoder.parameters()) + list(decoder.parameters()), CLIP)
    optim.step()
    sched.step()
    total += loss.item()
    if it % 45 == 0:
        acc, whole = evaluate()
        print(f"{time.time() - start:5.1f}s it {it} loss {total / 45:.4f} token acc {acc:.3f} whole {whole:.3f}")
        total = 0.0
