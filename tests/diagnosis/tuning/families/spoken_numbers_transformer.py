"""Spelled-out numbers to digits ("four thousand and twelve" -> 4 0 1 2) with nn.Transformer blocks."""
import copy
import math
import os
import random

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

ONES = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
        "sixteen seventeen eighteen nineteen").split()
TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()


def spell(n):
    if n < 20:
        return [ONES[n]]
    if n < 100:
        return [TENS[n // 10]] + ([ONES[n % 10]] if n % 10 else [])
    if n < 1000:
        rest = spell(n % 100) if n % 100 else []
        return [ONES[n // 100], "hundred"] + (["and"] + rest if rest else [])
    rest = spell(n % 1000) if n % 1000 else []
    glue = ["and"] if rest and n % 1000 < 100 else []
    return spell(n // 1000) + ["thousand"] + glue + rest


WORDS = ["<pad>"] + ONES + TENS[2:] + ["hundred", "thousand", "and"]
W2I = {w: i for i, w in enumerate(WORDS)}
PAD, BOS, EOS = 0, 1, 2                      # digits are 3..12
MAXLEN = 16 if CASE == 3 else None


def encode_pair(n):
    return [W2I[w] for w in spell(n)], [BOS] + [3 + int(c) for c in str(n)] + [EOS]


numbers = list(range(1000))
random.shuffle(numbers)
train_pairs = [encode_pair(n) for n in numbers[:800]]
valid_pairs = [encode_pair(n) for n in numbers[800:]]


def buckets(pairs, bs, shuffle=True):
    """Batches in which all source sentences have the same number of words."""
    by_len = {}
    for s, t in pairs:
        by_len.setdefault(len(s), []).append((s, t))
    out = []
    for group in by_len.values():
        if shuffle:
            random.shuffle(group)
        for i in range(0, len(group), bs):
            out.append(group[i:i + bs])
    if shuffle:
        random.shuffle(out)
    for chunk in out:
        width = MAXLEN or max(len(t) for _, t in chunk)
        src = torch.tensor([s for s, _ in chunk])
        tgt = torch.tensor([t + [PAD] * (width - len(t)) for _, t in chunk])
        yield src, tgt


class Positions(nn.Module):
    def __init__(self, dim, longest=40):
        super().__init__()
        t = torch.arange(longest).unsqueeze(1)
        f = torch.exp(torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
        pe = torch.zeros(longest, dim)
        pe[:, 0::2] = torch.sin(t * f)
        pe[:, 1::2] = torch.cos(t * f)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[: x.size(1)]


class Speller(nn.Module):
    def __init__(self, dim=40, heads=4, ff=80, drop=0.1, enc_kwargs=None, norm_first=False):
        super().__init__()
        self.dim = dim
        self.src_emb = nn.Embedding(len(WORDS), dim, padding_idx=PAD)
        self.tgt_emb = nn.Embedding(13, dim, padding_idx=PAD)
        self.pos = Positions(dim)
        self.drop = nn.Dropout(drop)
        enc_kwargs = {"batch_first": True} if enc_kwargs is None else enc_kwargs
        enc = nn.TransformerEncoderLayer(dim, heads, ff, drop, norm_first=norm_first, **enc_kwargs)
        dec = nn.TransformerDecoderLayer(dim, heads, ff, drop, norm_first=norm_first, batch_first=True)
        self.encoder = nn.TransformerEncoder(enc, 1)
        self.decoder = nn.TransformerDecoder(dec, 2)
        self.out = nn.Linear(dim, 13)

    def encode(self, src):
        return self.encoder(self.drop(self.pos(self.src_emb(src))))

    def decode(self, tgt, memory, mask=None):
        x = self.drop(self.pos(self.tgt_emb(tgt)))
        return self.out(self.decoder(x, memory, tgt_mask=mask, tgt_key_padding_mask=(tgt == PAD)))


def causal(n):
    return torch.triu(torch.full((n, n), float("-inf")), diagonal=1)


def loss_of(net, src, tgt, smoothing=0.0):
    memory = net.encode(src)
    if CASE == 2:
        inp, gold = tgt, tgt
    else:
        inp, gold = tgt[:, :-1], tgt[:, 1:]
    mask = None if (CASE == 1 and net.training) else causal(inp.size(1))
    if CASE == 11 and net.training and random.random() < 0.5:
        with torch.no_grad():
            guess = net.decode(inp, memory, mask).argmax(-1)
        coin = (torch.rand(inp.shape) < 0.15) & (inp != PAD)
        coin[:, 0] = False
        mixed = inp.clone()
        mixed[:, 1:] = torch.where(coin[:, 1:], guess[:, :-1].clamp(min=1), inp[:, 1:])
        inp = mixed
    logits = net.decode(inp, memory, mask)
    if CASE == 5:
        logits = logits.softmax(-1)
    if CASE == 3:
        return F.cross_entropy(logits.reshape(-1, 13), gold.reshape(-1))
    return F.cross_entropy(logits.reshape(-1, 13), gold.reshape(-1), ignore_index=PAD, label_smoothing=smoothing)


@torch.no_grad()
def exact_match(net, pairs):
    net.eval()
    hit = total = 0
    for src, tgt in buckets(pairs, 1, shuffle=False):
        memory = net.encode(src)
        ys = torch.full((src.size(0), 1), BOS)
        for _ in range(5):
            nxt = net.decode(ys, memory, causal(ys.size(1)))[:, -1].argmax(-1, keepdim=True)
            ys = torch.cat([ys, nxt], 1)
        for row, gold in zip(ys.tolist(), tgt.tolist()):
            row = row[1:row.index(EOS)] if EOS in row else row[1:]
            hit += row == gold[1:gold.index(EOS)]
            total += 1
    return hit / total


def valid_loss(net, pairs):
    net.eval()
    with torch.no_grad():
        vals = [loss_of(net, s, t).item() for s, t in buckets(pairs, 100, shuffle=False)]
    if CASE != 7:
        net.train()
    return sum(vals) / len(vals)


def main():
    epochs, bs = 22, 64
    if CASE == 4:
        net = Speller(enc_kwargs={})
    elif CASE == 9:
        net = Speller(norm_first=True)
    else:
        net = Speller()
    steps_total = epochs * (sum(1 for _ in buckets(train_pairs, bs)))
    optim = torch.optim.Adam(net.parameters(), lr=5e-3, betas=(0.9, 0.98), eps=1e-9)
    warm = 120 if CASE == 9 else 40

    if CASE == 6:
        sched = torch.optim.lr_scheduler.StepLR(optim, step_size=3, gamma=0.7)
    elif CASE == 9:
        sched = torch.optim.lr_scheduler.LambdaLR(
            optim, lambda s: min((s + 1) / warm, 0.5 * (1 + math.cos(math.pi * min(s, steps_total) / steps_total))))
    else:
        sched = torch.optim.lr_scheduler.LambdaLR(
            optim, lambda s: min((s + 1) / warm, (warm / (s + 1)) ** 0.5))
    shadow = copy.deepcopy(net) if CASE == 10 else None
    accumulate = 2 if CASE == 8 else 1
    step = 0
    optim.zero_grad()
    for epoch in range(epochs):
        if CASE != 7 or epoch == 0:
            net.train()
        for src, tgt in buckets(train_pairs, bs):
            loss = loss_of(net, src, tgt, smoothing=0.2 if CASE == 8 else 0.0)
            (loss / accumulate).backward()
            step += 1
            if step % accumulate == 0:
                if CASE == 10:
                    torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
                optim.step()
                optim.zero_grad()
                sched.step()
            if shadow is not None:
                with torch.no_grad():
                    for a, b in zip(shadow.parameters(), net.parameters()):
                        a.mul_(0.98).add_(b, alpha=0.02)
            if step % 50 == 0:
                val = valid_loss(net, valid_pairs[:150])
                print(f"epoch {epoch} step {step}: train {loss.item():.4f} valid {val:.4f} lr {optim.param_groups[0]['lr']:.2e}")
    print(f"exact match on unseen numbers: {exact_match(shadow if shadow is not None else net, valid_pairs[:100]):.3f}")


if __name__ == "__main__":
    main()
