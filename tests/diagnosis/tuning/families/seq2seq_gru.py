import os
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)
random.seed(SEED)

PAD, BOS, EOS = 0, 1, 2
FIRST, VOCAB = 3, 13
HID = 48
EMB = 32
CELL = "lstm" if CASE in (1, 10) else "gru"
LR = {8: 0.15, 7: 1.5e-3, 10: 5e-3}.get(CASE, 6e-3)
EPOCHS = {7: 24, 10: 18, 2: 16}.get(CASE, 16)
BATCH = {7: 32, 10: 24}.get(CASE, 32)
CLIP = {10: None}.get(CASE, 1.0)
MAX_LEN = 6


def make_pair():
    n = random.randint(3, MAX_LEN)
    src = [random.randrange(FIRST, VOCAB) for _ in range(n)]
    shift = [FIRST + (t - FIRST + 2) % (VOCAB - FIRST) for t in reversed(src)]
    return torch.tensor(src + [EOS]), torch.tensor([BOS] + shift + [EOS])


def collate(pairs):
    src = [p[0] for p in pairs]
    tgt = [p[1] for p in pairs]
    lens = torch.tensor([len(s) for s in src])
    src = pad_sequence(src, batch_first=True, padding_value=PAD)
    tgt = pad_sequence(tgt, batch_first=True, padding_value=PAD)
    if CASE == 4:
        lens, order = lens.sort(descending=True)
        src = src[order]
    return src, lens, tgt


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, EMB, padding_idx=PAD)
        rnn = nn.LSTM if CELL == "lstm" else nn.GRU
        self.rnn = rnn(EMB, HID, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * HID, HID)

    def forward(self, src, lens):
        x = self.emb(src)
        if CASE == 5:
            B, T, E = x.shape
            x = x.transpose(0, 1).contiguous()
            x = x.view(B, T, E)
        packed = pack_padded_sequence(x, lens, batch_first=True, enforce_sorted=False)
        out, h = self.rnn(packed)
        if CELL == "lstm":
            h = h[0]
        out, _ = pad_packed_sequence(out, batch_first=True)
        h = torch.tanh(self.bridge(torch.cat([h[0], h[1]], 1)))
        return out, h


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, EMB, padding_idx=PAD)
        self.rnn = nn.GRU(EMB, HID, batch_first=True)
        self.query = nn.Linear(HID, 2 * HID, bias=False)
        self.drop = nn.Dropout(0.1)
        self.mix = nn.Linear(3 * HID, HID)
        self.out = nn.Linear(HID, VOCAB)

    def forward(self, tok, h, mem, mask):
        y, h = self.rnn(self.drop(self.emb(tok)), h.unsqueeze(0))
        score = torch.bmm(self.query(y), mem.transpose(1, 2)) / HID ** 0.5
        score = score.masked_fill(mask[:, None] if CASE == 2 else ~mask[:, None], -1e9)
        w = F.softmax(score, dim=0 if CASE == 9 else 2)
        ctx = torch.bmm(w, mem)
        return self.out(self.drop(torch.tanh(self.mix(torch.cat([y, ctx], 2))))), h[0]


class Seq2Seq(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = Encoder()
        self.dec = Decoder()

    def forward(self, src, lens, tgt):
        mem, h = self.enc(src, lens)
        if CASE == 11:
            mem, h = mem.data, h.data
        inp = tgt[:, 1:] if CASE == 6 else tgt[:, :-1]
        return self.dec(inp, h, mem, src != PAD)[0]

    @torch.no_grad()
    def greedy(self, src, lens, steps):
        mem, h = self.enc(src, lens)
        tok = torch.full((len(src), 1), BOS)
        outs = []
        for _ in range(steps):
            o, h = self.dec(tok, h, mem, src != PAD)
            tok = o.argmax(2)
            outs.append(tok)
        return torch.cat(outs, 1)


if CASE == 3:
    EPOCHS, LR = 160, 5e-3
    train = [make_pair() for _ in range(32)]
    valid = train
else:
    train = [make_pair() for _ in range(640)]
    valid = [make_pair() for _ in range(96)]
train_loader = DataLoader(train, batch_size=BATCH, shuffle=True, collate_fn=collate)
valid_loader = DataLoader(valid, batch_size=96, collate_fn=collate)

model = Seq2Seq()
opt = torch.optim.Adam(model.parameters(), lr=LR)
loss_fn = nn.CrossEntropyLoss(ignore_index=PAD)


def evaluate():
    model.eval()
    tot = n = hit = m = free = 0
    with torch.no_grad():
        for src, lens, tgt in valid_loader:
            logits = model(src, lens, tgt)
            gold = tgt[:, 1:]
            tot += loss_fn(logits.transpose(1, 2), gold).item()
            n += 1
            keep = gold != PAD
            hit += (logits.argmax(2) == gold)[keep].sum().item()
            free += (model.greedy(src, lens, gold.shape[1]) == gold)[keep].sum().item()
            m += keep.sum().item()
    return tot / n, hit / m, free / m


for epoch in range(EPOCHS):
    model.train()
    total = 0.0
    for src, lens, tgt in train_loader:
        opt.zero_grad()
        logits = model(src, lens, tgt)
        loss = loss_fn(logits.transpose(1, 2), tgt[:, 1:])
        loss.backward()
        if CLIP:
            nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        opt.step()
        total += loss.item()
    if epoch % (16 if CASE == 3 else 2) == 1:
        vl, va, fa = evaluate()
        print(f"epoch {epoch:2d} train {total / len(train_loader):.4f} valid {vl:.4f} "
              f"token acc {va:.3f} decoded {fa:.3f}")
