"""Spelling to sound with a plain encoder-decoder (no attention): the decoder sees only the last state of the encoder. Short words."""
import os
import random
import torch
import torch.nn as nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
random.seed(SEED); torch.manual_seed(SEED)
PAD, BOS, EOS = 0, 1, 2
C, Vw = "bcdfgklmnprst", "aeiou"
src_sym = {c: i + 3 for i, c in enumerate(C + Vw + "h")}
tgt_sym = {c: i + 3 for i, c in enumerate("bkdfglmnprstSTvzAEIOUaeiou")}


def word():
    w = ""
    for _ in range(random.randint(1, 2)):
        w += random.choice(C)
        if w[-1] in "cts" and random.random() < .35: w += "h"
        w += random.choice(Vw)
    if random.random() < .5: w += random.choice("nrst") + ("e" if random.random() < .4 else "")
    return w


def sound(w):
    out, i = "", 0
    while i < len(w):
        two = w[i:i + 2]
        if two in ("ch", "sh"): out += "S"; i += 2; continue
        if two == "th": out += "T"; i += 2; continue
        c = w[i]
        if c == "c": out += "s" if i + 1 < len(w) and w[i + 1] in "ei" else "k"
        elif c == "s" and 0 < i < len(w) - 1 and w[i - 1] in Vw and w[i + 1] in Vw: out += "z"
        elif c == "e" and i == len(w) - 1 and len(w) > 2 and w[i - 1] in "nrst" and w[i - 2] in Vw: pass
        elif c in Vw: out += c.upper() if w[i + 2:] == "e" and i + 1 < len(w) and w[i + 1] in "nrst" else c
        else: out += c
        i += 1
    return out


words = sorted({word() for _ in range(6000)}); random.shuffle(words)
pairs = [(w, sound(w)) for w in words]
test, train = pairs[:300], pairs[300:2800]
print(len(train), "train", len(test), "test", pairs[:4])


def batch(ps):
    S = max(len(w) for w, _ in ps); T = max(len(p) for _, p in ps) + 1
    x = torch.zeros(len(ps), S, dtype=torch.long); y = torch.zeros(len(ps), T, dtype=torch.long)
    for i, (w, p) in enumerate(ps):
        x[i, S - len(w):] = torch.tensor([src_sym[c] for c in w])       # left padded: the state ends at the last letter
        y[i, :len(p) + 1] = torch.tensor([tgt_sym[c] for c in p] + [EOS])
    return x, y


class Seq2Seq(nn.Module):
    def __init__(self, h=64):
        super().__init__()
        self.es = nn.Embedding(len(src_sym) + 3, 24, padding_idx=0)
        self.et = nn.Embedding(len(tgt_sym) + 3, 24)
        self.enc, self.dec = nn.GRU(24, h, batch_first=True), nn.GRU(24, h, batch_first=True)
        self.out = nn.Linear(h, len(tgt_sym) + 3)

    def forward(self, x, y):
        h = self.enc(self.es(x))[1]
        inp = torch.cat([torch.full((len(y), 1), BOS), y[:, :-1]], 1)
        return self.out(self.dec(self.et(inp), h)[0])

    @torch.no_grad()
    def greedy(self, x, n=8):
        h = self.enc(self.es(x))[1]
        t = torch.full((len(x), 1), BOS); res = []
        for _ in range(n):
            o, h = self.dec(self.et(t), h)
            t = self.out(o).argmax(-1); res.append(t)
        return torch.cat(res, 1)


net = Seq2Seq()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda e: max(0.1, 1 - e / 8))
xt, yt = batch(test)
inv = {v: k for k, v in tgt_sym.items()}
for epoch in range(8):
    random.shuffle(train)
    tot = cnt = 0
    for i in range(0, len(train), 60):
        x, y = batch(train[i:i + 60])
        loss = nn.functional.cross_entropy(net(x, y).flatten(0, 1), y.flatten(), ignore_index=PAD)
        opt.zero_grad(); loss.backward(); nn.utils.clip_grad_norm_(net.parameters(), 1.0); opt.step()
        tot += loss.item(); cnt += 1
    sched.step()
    with torch.no_grad():
        vl = nn.functional.cross_entropy(net(xt, yt).flatten(0, 1), yt.flatten(), ignore_index=PAD).item()
    g = net.greedy(xt).tolist()
    said = ["".join(inv.get(t, "?") for t in r[:r.index(EOS)] if t > EOS) if EOS in r else "-" for r in g]
    exact = sum(s == p for s, (_, p) in zip(said, test)) / len(test)
    print(f"epoch {epoch} train {tot / cnt:.4f} test {vl:.4f} exact words {exact:.3f}   e.g. {test[0][0]} -> {said[0]}")
