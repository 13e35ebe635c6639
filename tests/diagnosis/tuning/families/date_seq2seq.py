# Rewriting dates: "7 march 2014" -> "2014-03-07", GRU encoder-decoder with additive attention.
import os, random, math, time
import torch, torch.nn as nn
import torch.nn.functional as F
from torch import optim

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
random.seed(SEED)

MONTHS = "january february march april may june july august september october november december".split()
SRC = ["<pad>", "<eos>"] + list("0123456789") + ["/", ",", "the", "of", "th"] + MONTHS + [m[:3] + "." for m in MONTHS]
TGT = ["<pad>", "<sos>", "<eos>"] + list("0123456789") + ["-"]
S = {w: i for i, w in enumerate(SRC)}
T = {w: i for i, w in enumerate(TGT)}


def random_date():
    y, m, d = random.randint(1970, 2029), random.randint(1, 12), random.randint(1, 28)
    style = random.randrange(4)
    name = random.choice([MONTHS[m - 1], MONTHS[m - 1][:3] + "."])
    if style == 0:
        src = list(str(d)) + [name] + list(str(y))
    elif style == 1:
        src = [name] + list(str(d)) + [","] + list(str(y))
    elif style == 2:
        src = ["the"] + list(str(d)) + ["th", "of", name] + list(str(y))
    else:
        src = list("%02d/%02d/%d" % (d, m, y))
    tgt = list("%02d-%02d-%02d" % (y % 100, m, d))
    return [S[w] for w in src] + [S["<eos>"]], [T[w] for w in tgt] + [T["<eos>"]]


def batch_of(n):
    rows = [random_date() for _ in range(n)]
    w = max(len(s) for s, _ in rows)
    src = torch.tensor([s + [0] * (w - len(s)) for s, _ in rows])
    tgt = torch.tensor([t for _, t in rows])
    return src, tgt


HIDDEN = {7: 96, 8: 64, 9: 80, 10: 64, 11: 72}.get(CASE, 64)
EMB = 32
BATCH = {7: 64, 8: 24, 9: 48, 10: 96, 11: 40}.get(CASE, 48)
STEPS = {7: 300, 8: 600, 9: 450, 10: 260, 11: 480}.get(CASE, 420)
TWO_WAY = CASE in (7, 10)


class EncoderRNN(nn.Module):
    def __init__(self):
        super(EncoderRNN, self).__init__()
        self.embedding = nn.Embedding(len(SRC), EMB, padding_idx=0)
        self.gru = nn.GRU(EMB, HIDDEN // (2 if TWO_WAY else 1), bidirectional=TWO_WAY)

    def forward(self, src):
        e = self.embedding(src)                       # B x T x E
        if CASE == 4:
            e = e.view(src.size(1), src.size(0), -1)  # T x B x E
        else:
            e = e.transpose(0, 1)                     # T x B x E
        out, h = self.gru(e)
        if TWO_WAY:
            h = torch.cat([h[0], h[1]], 1)[None]
        return out, h


class AttnDecoderRNN(nn.Module):
    def __init__(self):
        super(AttnDecoderRNN, self).__init__()
        self.embedding = nn.Embedding(len(TGT), EMB)
        self.W = nn.Linear(HIDDEN, HIDDEN)
        self.U = nn.Linear(HIDDEN, HIDDEN, bias=False)
        self.v = nn.Linear(HIDDEN, 1, bias=False)
        self.gru = nn.GRU(EMB + HIDDEN, HIDDEN)
        self.out = nn.Linear(2 * HIDDEN, len(TGT))
        self.drop = nn.Dropout(0.2 if CASE == 10 else 0.0)

    def keys(self, enc_out):
        return self.U(enc_out)

    def forward(self, token, h, enc_out, keys, src_mask):
        e = self.drop(self.embedding(token))[None]                # 1 x B x E
        energy = self.v(torch.tanh(self.W(h[-1])[None] + keys))   # T x B x 1
        energy = energy.squeeze(2).t()                            # B x T
        energy = energy.masked_fill(~src_mask, -1e9 if CASE < 8 else -float("inf"))
        a = F.softmax(energy, dim=0 if CASE == 0 else 1)
        ctx = torch.bmm(a[:, None], enc_out.transpose(0, 1)).transpose(0, 1)  # 1 x B x H
        o, h = self.gru(torch.cat([e, ctx], 2), h)
        logits = self.out(torch.cat([o, ctx], 2)[0])
        return logits, h, a


encoder, decoder = EncoderRNN(), AttnDecoderRNN()

if CASE in (5, 8):
    for net in (encoder, decoder):
        for name, p in net.named_parameters():
            if "bias" in name:
                nn.init.zeros_(p)
            elif CASE == 5:
                nn.init.normal_(p, 0, 1)
            else:
                nn.init.normal_(p, 0, 0.1)
if CASE == 9:
    for net in (encoder, decoder):
        for name, p in net.named_parameters():
            if "weight_hh" in name:
                for k in range(3):
                    nn.init.orthogonal_(p.data[k * HIDDEN:(k + 1) * HIDDEN])

criterion = nn.CrossEntropyLoss(reduction="sum" if CASE == 11 else "mean")
LR = {2: 6e-3, 7: 4e-3, 8: 5e-3, 9: 0.25, 10: 6e-3, 11: 3e-3}.get(CASE, 4e-3)
if CASE == 9:
    enc_opt = optim.SGD(encoder.parameters(), lr=LR, momentum=0.9)
    dec_opt = optim.SGD(decoder.parameters(), lr=LR, momentum=0.9)
elif CASE == 10:
    enc_opt = optim.AdamW(encoder.parameters(), lr=LR, weight_decay=0.05)
    dec_opt = optim.AdamW(decoder.parameters(), lr=LR, weight_decay=0.05)
elif CASE == 11:
    enc_opt = optim.RMSprop(encoder.parameters(), lr=LR, alpha=0.98)
    dec_opt = optim.RMSprop(decoder.parameters(), lr=LR, alpha=0.98)
else:
    enc_opt = optim.Adam(encoder.parameters(), lr=LR)
    dec_opt = optim.Adam(decoder.parameters(), lr=LR)
scheds = []
if CASE in (9, 10, 11):
    def rate(i):
        if CASE == 9:
            return min(1.0, i / 60.0) * (1.0 if i < 350 else 0.3)
        if CASE == 11:
            return 1.0 if i < 300 else 0.2
        return 0.5 * (1 + math.cos(math.pi * i / STEPS))
    scheds = [optim.lr_scheduler.LambdaLR(o, rate) for o in (enc_opt, dec_opt)]


def repackage_hidden(h):
    """Wraps hidden states in new tensors."""
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


def train_step(src, tgt, step):
    encoder.train(); decoder.train()
    enc_opt.zero_grad()
    if CASE != 2:
        dec_opt.zero_grad()
    memory = encoder(src)
    if CASE == 1:
        memory = repackage_hidden(memory)
    enc_out, h = memory
    keys = decoder.keys(enc_out)
    mask = src != 0
    token = torch.full((src.size(0),), T["<sos>"], dtype=torch.long)
    loss, free = 0, 0.0
    if CASE == 8:
        free = 0.3 * step / STEPS       # feed back own guesses more and more often
    for t in range(tgt.size(1)):
        if CASE == 3:
            token = tgt[:, t]
        logits, h, a = decoder(token, h, enc_out, keys, mask)
        loss = loss + criterion(logits, tgt[:, t])
        if random.random() < free:
            token = logits.argmax(1)
        else:
            token = tgt[:, t]
    loss.backward()
    clip = 60.0 if CASE == 11 else 1.0 if CASE == 9 else 5.0
    if CASE != 2:
        nn.utils.clip_grad_norm_(encoder.parameters(), clip)
        nn.utils.clip_grad_norm_(decoder.parameters(), clip)
    enc_opt.step()
    dec_opt.step()
    for s in scheds:
        s.step()
    return loss.item() / tgt.size(1)


def translate(src, length):
    encoder.eval(); decoder.eval()
    with torch.no_grad():
        enc_out, h = encoder(src)
        keys = decoder.keys(enc_out)
        token = torch.full((src.size(0),), T["<sos>"], dtype=torch.long)
        result = []
        for t in range(length):
            logits, h, a = decoder(token, h, enc_out, keys, src != 0)
            token = logits.argmax(1)
            result.append(token)
    return torch.stack(result, 1)


held_out = batch_of(200)
began, total = time.time(), 0.0
for step in range(1, STEPS + 1):
    src, tgt = batch_of(BATCH)
    total += train_step(src, tgt, step)
    if step % 60 == 0:
        guess = translate(held_out[0], held_out[1].size(1))
        hit = guess == held_out[1]
        print("%5d  %5.1fs  loss %.4f   characters %.3f  whole dates %.3f" % (
            step, time.time() - began, total / 60, hit.float().mean(), hit.all(1).float().mean()))
        total = 0.0

for i in range(3):
    src = held_out[0][i:i + 1]
    out = translate(src, 9)[0].tolist()
    print(" ".join(SRC[k] for k in src[0].tolist() if k > 1), "->", "".join(TGT[k] for k in out if k > 2))
