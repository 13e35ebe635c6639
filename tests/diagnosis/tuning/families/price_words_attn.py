"""Read prices out loud: digits -> words, e.g. "4 2 0 7" -> "four thousand two hundred and seven"."""
import math
import os
import random
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()
WORDS = ["<pad>", "<s>", "</s>"] + ONES + TENS[2:] + ["hundred", "thousand", "and", "double"]
W = {w: i for i, w in enumerate(WORDS)}
SRC = ["<pad>"] + list("0123456789.,$")
S = {c: i for i, c in enumerate(SRC)}
PAD, BOS, EOS = 0, 1, 2
MAXT = 11


def below_thousand(n):
    out = []
    if n >= 100:
        out += [ONES[n // 100], "hundred"]
        n %= 100
        if n:
            out.append("and")
    if n >= 20:
        out.append(TENS[n // 10])
        n %= 10
        if n:
            out.append(ONES[n])
    elif n:
        out.append(ONES[n])
    return out


def spoken(n):
    out = []
    if n >= 1000:
        out += below_thousand(n // 1000) + ["thousand"]
        n %= 1000
        if 0 < n < 100:
            out.append("and")
    out += below_thousand(n)
    return out or ["zero"]


class Prices(Dataset):
    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.rows = []
        for _ in range(n):
            v = rng.randrange(10 ** rng.choice([2, 3, 3, 4, 4]))
            txt = f"{v:,}" if rng.random() < 0.5 else str(v)
            if rng.random() < 0.3:
                txt = "$" + txt
            words = spoken(v)
            if rng.random() < 0.04 and len(words) > 2:            # transcription slips
                words = words[:-1]
            self.rows.append(([S[c] for c in txt], [W[w] for w in words]))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    ls = max(len(s) for s, _ in rows)
    src = torch.zeros(len(rows), ls, dtype=torch.long)
    tgt = torch.zeros(len(rows), MAXT, dtype=torch.long)
    for i, (s, t) in enumerate(rows):
        src[i, :len(s)] = torch.tensor(s)
        tgt[i, :len(t) + 2] = torch.tensor([BOS] + t + [EOS])
    return src, tgt


# ---------------------------------------------------------------- recurrent model
class Attention(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.q = nn.Linear(h, h)
        self.k = nn.Linear(2 * h, h)
        self.v = nn.Linear(h, 1, bias=False)

    def forward(self, state, memory, mask):
        e = self.v(torch.tanh(self.q(state)[:, None] + self.k(memory))).squeeze(-1)
        e = e.masked_fill(mask, -1e4)
        a = F.softmax(e, dim=0 if CASE == 1 else 1)
        return (a[:, :, None] * memory).sum(1)


class GruTranslator(nn.Module):
    def __init__(self, h=48, carry=False):
        super().__init__()
        self.es = nn.Embedding(len(SRC), 32, padding_idx=PAD)
        self.et = nn.Embedding(len(WORDS), 32)
        self.enc = nn.GRU(32, h, bidirectional=True)
        self.att = Attention(h)
        self.dec = nn.GRUCell(32 + 2 * h, h)
        self.out = nn.Linear(3 * h, len(WORDS))
        self.h, self.carry = h, carry
        self.bridge = nn.Linear(2 * h, h) if carry else None

    def encode(self, src):
        y, hn = self.enc(self.es(src).transpose(0, 1))
        if CASE == 2:
            memory = y.contiguous().view(src.size(0), src.size(1), -1)
        else:
            memory = y.transpose(0, 1)
        if self.carry:
            s0 = torch.tanh(self.bridge(torch.cat([hn[0], hn[1]], 1)))
        else:
            s0 = memory.new_zeros(len(src), self.h)
        return memory, s0

    def tick(self, prev, s, memory, mask):
        ctx = self.att(s, memory, mask)
        s = self.dec(torch.cat([self.et(prev), ctx], 1), s)
        return self.out(torch.cat([s, ctx], 1)), s

    def forward(self, src, tgt_in, force=1.0):
        memory, s = self.encode(src)
        mask = src == PAD
        outs, prev = [], tgt_in[:, 0]
        for t in range(tgt_in.size(1)):
            o, s = self.tick(prev, s, memory, mask)
            outs.append(o)
            if t + 1 < tgt_in.size(1):
                prev = tgt_in[:, t + 1] if random.random() < force else o.argmax(1)
        return torch.stack(outs, 1)

    @torch.no_grad()
    def greedy(self, src):
        memory, s = self.encode(src)
        mask, prev, res = src == PAD, torch.full((len(src),), BOS), []
        for _ in range(MAXT - 1):
            o, s = self.tick(prev, s, memory, mask)
            prev = o.argmax(1)
            res.append(prev)
        return torch.stack(res, 1)


# ---------------------------------------------------------------- transformer
class TransTranslator(nn.Module):
    def __init__(self, d=48, drop=0.05):
        super().__init__()
        self.es = nn.Embedding(len(SRC), d)
        self.et = nn.Embedding(len(WORDS), d)
        self.ps = nn.Parameter(torch.randn(16, d) * 0.1)
        self.pt = nn.Parameter(torch.randn(MAXT, d) * 0.1)
        self.core = nn.Transformer(d, 4, 1, 1, 128, drop, batch_first=True, norm_first=True)
        self.out = nn.Linear(d, len(WORDS))

    def forward(self, src, tgt_in, force=1.0):
        n = tgt_in.size(1)
        causal = torch.full((n, n), float("-inf")).triu(1)
        if CASE == 7:
            causal = None
        pad = src == PAD
        h = self.core(self.es(src) + self.ps[:src.size(1)], self.et(tgt_in) + self.pt[:n],
                      tgt_mask=causal, src_key_padding_mask=pad, memory_key_padding_mask=pad)
        return self.out(h)

    @torch.no_grad()
    def greedy(self, src):
        ys = torch.full((len(src), 1), BOS)
        for _ in range(MAXT - 1):
            ys = torch.cat([ys, self(src, ys)[:, -1].argmax(1, keepdim=True)], 1)
        return ys[:, 1:]


# ---------------------------------------------------------------- run
def split(tgt):
    if CASE == 10:
        return tgt[:, :-1], tgt[:, :-1]
    return tgt[:, :-1], tgt[:, 1:]


def seq_loss(logits, gold, smooth=0.0):
    if CASE == 5:
        return F.cross_entropy(logits.flatten(0, 1), gold.flatten())
    return F.cross_entropy(logits.flatten(0, 1), gold.flatten(), ignore_index=PAD, label_smoothing=smooth)


def strip(row):
    out = []
    for w in row:
        if w == EOS:
            break
        out.append(w)
    return out


def check(model, loader, teacher=True):
    model.eval()
    tot, ok, n, tok, ntok = 0.0, 0, 0, 0, 0
    with torch.no_grad():
        for src, tgt in loader:
            inp, gold = split(tgt)
            lg = model(src, inp)
            tot += seq_loss(lg, gold).item() * len(src)
            if CASE == 5:
                tok += (lg.argmax(-1) == gold).sum().item()
                ntok += gold.numel()
            else:
                tok += ((lg.argmax(-1) == gold) & (gold != PAD)).sum().item()
                ntok += (gold != PAD).sum().item()
            if not teacher:
                hyp = model.greedy(src)
                ok += sum(strip(a) == strip(b) for a, b in zip(hyp.tolist(), tgt[:, 1:].tolist()))
            n += len(src)
    model.train()
    return tot / n, tok / ntok, ok / n


def main():
    torch.manual_seed(SEED)
    random.seed(SEED)
    np.random.seed(SEED)
    train = Prices(3200, 1 + SEED)
    dev = Prices(160, 99 + SEED)
    dl = DataLoader(train, batch_size=32, shuffle=True, collate_fn=collate)
    vl = DataLoader(dev, batch_size=160, collate_fn=collate)

    recurrent = CASE <= 5
    model = GruTranslator(carry=CASE in (3, 4)) if recurrent else TransTranslator(drop=0.1 if CASE == 9 else 0.0)
    epochs, smooth, clip = (2 if recurrent else 3), 0.0, 1.0
    lr = 3e-3 if recurrent else 2e-3
    if CASE == 9:
        smooth = 0.1
    if CASE == 11:
        clip = 50.0
    opt = torch.optim.Adam(model.parameters(), lr=lr, betas=(0.9, 0.98))
    if CASE in (8, 11):
        warm = 60
        sch = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min((s + 1) / warm, (warm / (s + 1)) ** 0.5))
    elif CASE == 3:
        sch = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs * len(dl))
    else:
        sch = None

    print("parameters", sum(p.numel() for p in model.parameters()), "batches per epoch", len(dl))
    t0, step, run = time.time(), 0, []
    for ep in range(epochs):
        for src, tgt in dl:
            step += 1
            inp, gold = split(tgt)
            force = 1.0 if CASE != 3 else max(0.5, 1 - step / 300)
            logits = model(src, inp, force)
            loss = seq_loss(logits, gold, smooth)
            if CASE != 4:
                opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), clip)
            if CASE == 4:
                opt.zero_grad()
            opt.step()
            if sch is not None and CASE != 8:
                sch.step()
            run.append(loss.item())
            if step % 25 == 0:
                print(f"epoch {ep} step {step} loss {np.mean(run[-25:]):.4f}", flush=True)
            if step % 100 == 0:
                l, acc, _ = check(model, vl)
                print(f"   dev loss {l:.4f} token accuracy {acc:.3f}")
        if CASE == 8:
            sch.step()
    l, acc, exact = check(model, vl, teacher=False)
    print(f"dev loss {l:.4f} token accuracy {acc:.3f} exact match (greedy) {exact:.3f}   [{time.time() - t0:.1f}s]")
    src, tgt = next(iter(vl))
    for s, h in list(zip(src.tolist(), model.greedy(src[:3]).tolist()))[:3]:
        print("".join(SRC[c] for c in s if c), "->", " ".join(WORDS[w] for w in strip(h)))


if __name__ == "__main__":
    main()
