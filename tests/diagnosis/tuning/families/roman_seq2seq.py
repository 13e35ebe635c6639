# Digits (with thousands separators and stray words) -> roman numerals, encoder-decoder transformer
import argparse
import logging
import math
import os
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

p = argparse.ArgumentParser()
p.add_argument("--d-model", type=int, default=48)
p.add_argument("--nhead", type=int, default=4)
p.add_argument("--layers", type=int, default=1)
p.add_argument("--ff", type=int, default=128)
p.add_argument("--dropout", type=float, default=0.3 if CASE == 5 else 0.05)
p.add_argument("--batch-size", type=int, default=48)
p.add_argument("--epochs", type=int, default=6)
p.add_argument("--factor", type=float, default=1.0)
p.add_argument("--warmup", type=int, default=4000 if CASE == 4 else 60)
p.add_argument("--max-number", type=int, default=999)
args = p.parse_args([])
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("roman")

random.seed(SEED)
torch.manual_seed(SEED)

PAD, BOS, EOS = 0, 1, 2
SRC = {c: i + 3 for i, c in enumerate("0123456789,.#- abcy")}
TGT = {c: i + 3 for i, c in enumerate("IVXLCDM")}


def roman(n):
    out = ""
    for v, s in [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"),
                 (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]:
        while n >= v:
            out += s
            n -= v
    return out


def noisy(n, rng):
    s = str(n)
    pre = rng.choice(["", "", "#", "c ", "ca ", "y", "a. "])
    post = rng.choice(["", "", ".", " bc", "-"])
    return pre + s + post


class Numerals(Dataset):
    def __init__(self, numbers, copies, seed):
        rng = random.Random(seed)
        self.items = [(noisy(n, rng), roman(n)) for n in numbers for _ in range(copies)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        s, t = self.items[i]
        return [SRC[c] for c in s] + [EOS], [BOS] + [TGT[c] for c in t] + [EOS]


def collate(batch):
    S = max(len(s) for s, _ in batch) + 1
    T = max(len(t) for _, t in batch)
    src = torch.tensor([s + [PAD] * (S - len(s)) for s, _ in batch])
    tgt = torch.tensor([t + [PAD] * (T - len(t)) for _, t in batch])
    return src, tgt


class Positional(nn.Module):
    def __init__(self, d, n=64):
        super().__init__()
        pos = torch.arange(n).unsqueeze(1)
        div = torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
        pe = torch.zeros(n, d)
        pe[:, 0::2], pe[:, 1::2] = torch.sin(pos * div), torch.cos(pos * div)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[:x.size(1)]


class Seq2Seq(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.d = a.d_model
        self.src = nn.Embedding(len(SRC) + 3, a.d_model, padding_idx=PAD)
        self.tgt = nn.Embedding(len(TGT) + 3, a.d_model, padding_idx=PAD)
        self.pe = Positional(a.d_model)
        self.drop = nn.Dropout(a.dropout)
        self.tr = nn.Transformer(a.d_model, a.nhead, a.layers, a.layers, a.ff, a.dropout, batch_first=True, norm_first=True)
        self.gen = nn.Linear(a.d_model, len(TGT) + 3)
        for q in self.parameters():
            if q.dim() > 1:
                nn.init.xavier_uniform_(q)

    def src_pad(self, src):
        return src.ne(PAD) if CASE == 3 else src.eq(PAD)

    def embed(self, table, x):
        return self.drop(self.pe(table(x) * math.sqrt(self.d)))

    def forward(self, src, tgt):
        sp = self.src_pad(src)
        causal = torch.full((tgt.size(1), tgt.size(1)), float("-inf")).triu(1)
        h = self.tr(self.embed(self.src, src), self.embed(self.tgt, tgt), tgt_mask=causal,
                    src_key_padding_mask=sp, tgt_key_padding_mask=tgt.eq(PAD), memory_key_padding_mask=sp)
        return self.gen(h)

    @torch.no_grad()
    def greedy(self, src, limit=16):
        sp = self.src_pad(src)
        mem = self.tr.encoder(self.embed(self.src, src), src_key_padding_mask=sp)
        y = torch.full((len(src), 1), BOS)
        for _ in range(limit):
            causal = torch.full((y.size(1), y.size(1)), float("-inf")).triu(1)
            h = self.tr.decoder(self.embed(self.tgt, y), mem, tgt_mask=causal, memory_key_padding_mask=sp)
            y = torch.cat([y, self.gen(h[:, -1]).argmax(-1, keepdim=True)], 1)
        return y


def exact_match(model, loader):
    hit = n = 0
    for src, tgt in loader:
        y = model.greedy(src)
        for a, b in zip(y.tolist(), tgt.tolist()):
            a = a[1:a.index(EOS)] if EOS in a else a[1:]
            b = b[1:b.index(EOS)]
            hit += a == b
            n += 1
    return hit / n


def main():
    numbers = list(range(1, args.max_number + 1))
    random.Random(3 + SEED).shuffle(numbers)
    cut = int(0.85 * len(numbers))
    train = DataLoader(Numerals(numbers[:cut], 2, 1), args.batch_size, shuffle=True, collate_fn=collate)
    valid = DataLoader(Numerals(numbers[cut:], 1, 2), 75, collate_fn=collate)
    model = Seq2Seq(args)
    log.info("parameters: %d", sum(q.numel() for q in model.parameters()))
    if CASE == 1:
        opt = torch.optim.Adam(model.parameters(), lr=4e-3)
        sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.3, patience=0)
        crit = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=0.1)
    else:
        opt = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
        sched = torch.optim.lr_scheduler.LambdaLR(
            opt, lambda s: args.factor * 0.28 * args.d_model ** -0.5 * min((s + 1) ** -0.5, (s + 1) * args.warmup ** -1.5))
        crit = nn.CrossEntropyLoss(ignore_index=PAD)
    best, best_state, step = -1.0, None, 0
    for epoch in range(args.epochs):
        model.train()
        for src, tgt in train:
            if CASE == 2:
                inp, gold = tgt, tgt
            else:
                inp, gold = tgt[:, :-1], tgt[:, 1:]
            logits = model(src, inp)
            loss = crit(logits.reshape(-1, logits.size(-1)), gold.reshape(-1))
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            if CASE != 1:
                sched.step()
            step += 1
            if step % 20 == 0:
                log.info("epoch %d step %d loss %.4f", epoch, step, loss.item())
        if CASE == 5:
            with torch.no_grad():
                em = exact_match(model, valid)
        else:
            model.eval()
            em = exact_match(model, valid)
        if CASE == 1:
            sched.step(-em)
        log.info("epoch %d  valid exact match %.3f  lr %.2e", epoch, em, opt.param_groups[0]["lr"])
        if em > best:
            best, best_state = em, {k: v.clone() for k, v in model.state_dict().items()}
    model.load_state_dict(best_state)
    log.info("best exact match %.3f", best)


main()
