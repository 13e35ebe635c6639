import os
import random
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
PAD, SOS, EOS, V = 0, 1, 2, 16
rng = random.Random(SEED)
torch.manual_seed(SEED)


def make_pair():
    n = rng.choice([2, 3, 3, 4, 4, 5, 6, 8])
    src = [rng.randint(3, V - 1) for _ in range(n)]
    return src, src[::-1]


def collate(pairs):
    S = max(len(s) for s, _ in pairs)
    T = max(len(t) for _, t in pairs) + 2
    if CASE == 5:
        T = 40
    src = torch.full((len(pairs), S), PAD)
    trg = torch.full((len(pairs), T), PAD)
    for i, (s, t) in enumerate(pairs):
        src[i, :len(s)] = torch.tensor(s)
        trg[i, :len(t) + 2] = torch.tensor([SOS] + t + [EOS])
    return src, trg


class Encoder(nn.Module):
    def __init__(self, emb, hid, p):
        super().__init__()
        self.emb = nn.Embedding(V, emb, padding_idx=PAD)
        self.drop = nn.Dropout(p)
        self.gru = nn.GRU(emb, hid, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(2 * hid, hid)

    def forward(self, src):
        lens = (src != PAD).sum(1)
        packed = nn.utils.rnn.pack_padded_sequence(self.drop(self.emb(src)), lens, batch_first=True, enforce_sorted=False)
        out, h = self.gru(packed)
        out, _ = nn.utils.rnn.pad_packed_sequence(out, batch_first=True)
        if CASE == 7:
            h = h.view(src.shape[0], -1)
            out = out.reshape(out.shape[1], out.shape[0], -1).transpose(0, 1)
        else:
            h = torch.cat([h[0], h[1]], 1)
        return out, torch.tanh(self.fc(h))


class Decoder(nn.Module):
    def __init__(self, emb, hid, p):
        super().__init__()
        self.emb = nn.Embedding(V, emb)
        self.drop = nn.Dropout(p)
        self.score = nn.Linear(3 * hid, hid)
        self.v = nn.Linear(hid, 1, bias=False)
        self.cell = nn.GRUCell(emb + 2 * hid, hid)
        self.out = nn.Linear(3 * hid, V)

    def forward(self, tok, h, enc, mask):
        e = self.v(torch.tanh(self.score(torch.cat([h.unsqueeze(1).expand(-1, enc.shape[1], -1), enc], 2)))).squeeze(2)
        e = e.masked_fill(mask if CASE == 6 else ~mask, -1e9)
        a = e.softmax(1)
        ctx = (a.unsqueeze(1) @ enc).squeeze(1)
        h = self.cell(torch.cat([self.drop(self.emb(tok)), ctx], 1), h)
        return self.out(torch.cat([h, ctx], 1)), h


class Seq2Seq(nn.Module):
    def __init__(self, emb=24, hid=40, p=0.0):
        super().__init__()
        self.enc, self.dec = Encoder(emb, hid, p), Decoder(emb, hid, p)

    def forward(self, src, trg, force):
        enc, h = self.enc(src)
        if CASE == 9:
            enc, h = enc.detach(), h.detach()
        mask = src != PAD
        tok, outs = trg[:, 0], []
        for t in range(1, trg.shape[1]):
            o, h = self.dec(tok, h, enc, mask)
            outs.append(o)
            tok = trg[:, t] if force else o.argmax(1)
        return torch.stack(outs, 1)


def make_optimizer(model):
    params = model.dec.parameters() if CASE == 8 else model.parameters()
    if CASE == 4:
        return torch.optim.RMSprop(params, lr=1e-3)
    return torch.optim.Adam(params, lr=3e-3)


def evaluate(model, pairs):
    model.eval()
    good = tok = seqs = 0
    with torch.no_grad():
        for i in range(0, len(pairs), 100):
            src, trg = collate(pairs[i:i + 100])
            guess = model(src, trg, False).argmax(2)
            real = trg[:, 1:] != PAD
            ok = (guess == trg[:, 1:]) | ~real
            good += (ok & real).sum().item()
            tok += real.sum().item()
            seqs += ok.all(1).sum().item()
    return good / tok, seqs / len(pairs)


def train():
    pairs = [make_pair() for _ in range(1920)]
    dev = [make_pair() for _ in range(300)]
    model = Seq2Seq(p={2: 0.15}.get(CASE, 0.0))
    opt = make_optimizer(model)
    crit = nn.CrossEntropyLoss() if CASE == 5 else nn.CrossEntropyLoss(ignore_index=PAD)
    bs = 16 if CASE == 3 else 32
    epochs = {3: 3, 5: 2}.get(CASE, 5)
    for ep in range(epochs):
        model.train()
        rng.shuffle(pairs)
        tot, k = 0.0, 0
        for i in range(0, len(pairs), bs):
            src, trg = collate(pairs[i:i + bs])
            logits = model(src, trg, CASE != 1 or rng.random() < 0.7)
            if CASE == 11:
                gold = trg[:, 1:].roll(1, 0)
                loss = crit(logits.reshape(-1, V), gold.reshape(-1))
            else:
                loss = crit(logits.reshape(-1, V), trg[:, 1:].reshape(-1))
            if CASE == 10:
                opt = make_optimizer(model)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            tot, k = tot + loss.item(), k + 1
        acc, full = evaluate(model, dev)
        print("Epoch %02d | train loss %.3f | dev token acc %.3f | dev whole sequences %.3f" % (ep + 1, tot / k, acc, full))


if __name__ == "__main__":
    train()
