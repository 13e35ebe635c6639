# Encoder-decoder with attention: read a string of letters, write it backwards.
import os, sys, random
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)
torch.set_num_threads(1)
random.seed(SEED)

PAD, BOS, EOS = 0, 1, 2
V = 13
LMIN, LMAX = 2, 5
FIXED = 22 if CASE in (1, 10) else None      # static shapes


def batch(n):
    src, tgt = [], []
    for _ in range(n):
        s = [random.randrange(3, V) for _ in range(random.randint(LMIN, LMAX))]
        src.append(s)
        tgt.append([BOS] + s[::-1] + [EOS])
    ls = max(map(len, src))
    lt = FIXED or max(map(len, tgt))
    src = torch.tensor([s + [PAD] * (ls - len(s)) for s in src])
    tgt = torch.tensor([t + [PAD] * (lt - len(t)) for t in tgt])
    return src, tgt


class Encoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.emb = nn.Embedding(V, d, padding_idx=PAD)
        if CASE == 3:
            self.rnn = nn.RNN(d, d, num_layers=2, nonlinearity="relu", batch_first=True)
            for name, p in self.rnn.named_parameters():
                if name.startswith("weight_hh"):
                    nn.init.normal_(p, 0, 0.45)
        else:
            self.rnn = nn.GRU(d, d, batch_first=True)

    def forward(self, src):
        out, h = self.rnn(self.emb(src))
        return out, h[-1:]


class Decoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.emb = nn.Embedding(V, d, padding_idx=PAD)
        self.rnn = nn.GRU(d, d, batch_first=True)
        self.query = nn.Linear(d, d)
        self.mix = nn.Linear(2 * d, d)
        self.out = nn.Linear(d, V)

    def forward(self, tok, h, memory, mask):
        o, h = self.rnn(self.emb(tok), h)
        score = self.query(o) @ memory.transpose(1, 2)
        score = score.masked_fill(mask[:, None, :], float("-inf"))
        ctx = score.softmax(-1) @ memory
        return self.out(torch.tanh(self.mix(torch.cat([o, ctx], -1)))), h


class Seq2Seq(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.enc = Encoder(d)
        self.dec = Decoder(d)

    def forward(self, src, dec_in, own=0.0):
        mem, h = self.enc(src)
        mask = src == PAD
        if own == 0:
            return self.dec(dec_in, h, mem, mask)[0]
        outs, tok = [], dec_in[:, :1]
        for i in range(dec_in.size(1)):
            o, h = self.dec(tok, h, mem, mask)
            outs.append(o)
            if i + 1 < dec_in.size(1):
                tok = o.argmax(-1) if random.random() < own else dec_in[:, i + 1:i + 2]
        return torch.cat(outs, 1)

    @torch.no_grad()
    def greedy(self, src, steps):
        mem, h = self.enc(src)
        mask = src == PAD
        tok = torch.full((len(src), 1), BOS)
        res = []
        for _ in range(steps):
            o, h = self.dec(tok, h, mem, mask)
            tok = o.argmax(-1)
            res.append(tok)
        return torch.cat(res, 1)


def exact(model):
    model.eval()
    state = random.getstate()
    random.seed(12345)
    src, tgt = batch(200)
    random.setstate(state)
    want = tgt[:, 1:LMAX + 2]
    got = model.greedy(src, want.size(1))
    ok = ((got == want) | (want == PAD)).all(1).float().mean().item()
    model.train()
    return ok


def make_optimizer(model):
    if CASE in (2, 6):
        return torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9)
    if CASE == 9:
        return torch.optim.RMSprop(model.parameters(), lr=2e-3)
    return torch.optim.Adam(model.parameters(), lr=6e-3)


def criterion(logits, y):
    logits, y = logits.reshape(-1, V), y.reshape(-1)
    if CASE == 1:
        return F.cross_entropy(logits, y)
    if CASE == 4:
        return F.cross_entropy(logits, y, ignore_index=PAD, reduction="sum")
    return F.cross_entropy(logits, y, ignore_index=PAD)


def train_step(model, optimizer, src, tgt, step):
    if CASE == 7:
        optimizer = make_optimizer(model)
    if CASE == 5:
        dec_in = tgt[:, 1:]
    else:
        dec_in = tgt[:, :-1]
    own = 0.25 if CASE == 4 and step > 240 else 0.0
    logits = model(src, dec_in, own)
    loss = criterion(logits, tgt[:, 1:])
    if CASE != 8:
        optimizer.zero_grad()
    loss.backward()
    if CASE == 2:
        nn.utils.clip_grad_norm_(model.parameters(), 1e-3)
    elif CASE == 4:
        nn.utils.clip_grad_norm_(model.parameters(), 50.0)
    elif CASE != 3:
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


def main(steps=400):
    model = Seq2Seq()
    optimizer = make_optimizer(model)
    avg = None
    for step in range(1, steps + 1):
        src, tgt = batch(32)
        l = train_step(model, optimizer, src, tgt, step)
        avg = l if avg is None else 0.95 * avg + 0.05 * l
        if step % 80 == 0:
            sys.stdout.write("step %4d  loss %.4f  exact match %.3f\n" % (step, avg, exact(model)))
            sys.stdout.flush()


main(560 if CASE in (2, 6) else 400)
