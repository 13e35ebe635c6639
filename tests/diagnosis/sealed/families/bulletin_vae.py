# Variational autoencoder over short weather bulletins, GRU both ways. Written as one long script.
import math
import os
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
random.seed(SEED); np.random.seed(SEED); torch.manual_seed(SEED)
torch.set_num_threads(1)

# ---------------------------------------------------------------- corpus
places = "north south coast valley islands capital".split()
times = "morning noon evening night".split()
skies = "rain snow fog sun hail storms clouds drizzle".split()
hows = "light heavy patchy steady brief".split()
winds = "calm gusty northerly westerly".split()
templates = [
    "in the {p} {h} {s} is expected by {t}",
    "{h} {s} over the {p} with {w} winds",
    "{t} brings {s} to the {p}",
    "winds turn {w} in the {p} before {t} then {h} {s}",
]


def bulletin(r):
    f = dict(p=r.choice(places), t=r.choice(times), s=r.choice(skies), h=r.choice(hows), w=r.choice(winds))
    return r.choice(templates).format(**f).split()


r = random.Random(SEED)
corpus = [bulletin(r) for _ in range(2400)]
vocab = ["<pad>", "<s>", "</s>", "<unk>"] + sorted({w for line in corpus for w in line})
stoi = {w: i for i, w in enumerate(vocab)}
lines = [[stoi[w] for w in line] for line in corpus]
train_lines, test_lines = lines[:2000], lines[2000:]
V, EMB, HID, LAT = len(vocab), 24, 48, 8


def batchify(chunk):
    width = max(len(l) for l in chunk)
    lens = torch.tensor([len(l) for l in chunk])
    enc = torch.zeros(len(chunk), width, dtype=torch.long)
    inp = torch.zeros(len(chunk), width + 1, dtype=torch.long)
    out = torch.zeros(len(chunk), width + 1, dtype=torch.long)
    for i, l in enumerate(chunk):
        enc[i, :len(l)] = torch.tensor(l)
        inp[i, :len(l) + 1] = torch.tensor([1] + l)
        out[i, :len(l) + 1] = torch.tensor(l + [2])
    return enc, lens, inp, out


# ---------------------------------------------------------------- model
class BulletinVAE(nn.Module):
    def __init__(self, drop=0.1):
        super().__init__()
        self.word_emb = nn.Embedding(V, EMB, padding_idx=0)
        self.enc = nn.GRU(EMB, HID, batch_first=True, bidirectional=True)
        self.to_mu = nn.Linear(2 * HID, LAT)
        self.to_logvar = nn.Linear(2 * HID, LAT)
        self.z_to_h = nn.Linear(LAT, HID)
        self.dec = nn.GRU(EMB + LAT, HID, batch_first=True)
        self.drop = nn.Dropout(drop)
        self.vocab_out = nn.Linear(HID, V)
        self.bow = nn.Linear(LAT, V)

    def encode(self, enc, lens):
        packed = pack_padded_sequence(self.word_emb(enc), lens, batch_first=True, enforce_sorted=False)
        _, h = self.enc(packed)
        if CASE == 2:
            h = h.view(enc.size(0), 2 * HID)
        else:
            h = torch.cat([h[0], h[1]], dim=1)
        return self.to_mu(h), self.to_logvar(h)

    def sample(self, mu, logvar):
        std = (0.5 * logvar).exp()
        if CASE == 5:
            return torch.normal(mu, std)
        if CASE == 7:
            torch.manual_seed(SEED)
        return mu + std * torch.randn_like(std)

    def decode(self, z, inp):
        x = self.drop(self.word_emb(inp))
        x = torch.cat([x, z.unsqueeze(1).expand(-1, inp.size(1), -1)], dim=2)
        y, _ = self.dec(x, torch.tanh(self.z_to_h(z)).unsqueeze(0))
        return self.vocab_out(self.drop(y))


def kl_terms(mu, logvar):
    return -0.5 * (1 + logvar - mu.pow(2) - logvar.exp())


def word_dropout(inp, rate):
    hide = (torch.rand(inp.shape) < rate) & (inp > 3)
    return inp.masked_fill(hide, 3)


EPOCHS, BS = 10, 64
model = BulletinVAE(drop={3: 0.4, 6: 0.9}.get(CASE, 0.1))
if CASE == 10:
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.9)
else:
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
total_steps = EPOCHS * (len(train_lines) // BS)


def beta_at(step):
    if CASE == 1:
        return 1.0
    if CASE == 9:                                       # four cycles, half ramp, half flat
        return 0.2 * min(1.0, 2 * (step % (total_steps // 4)) / (total_steps // 4))
    return 0.15 * min(1.0, step / (0.6 * total_steps))


def evaluate():
    if CASE != 3:
        model.eval()
    nll = kl_sum = toks = right = 0
    with torch.no_grad():
        for i in range(0, len(test_lines), 100):
            enc, lens, inp, out = batchify(test_lines[i:i + 100])
            mu, logvar = model.encode(enc, lens)
            logits = model.decode(mu, inp)
            keep = out != 0
            nll += F.cross_entropy(logits[keep], out[keep], reduction="sum").item()
            right += (logits.argmax(-1)[keep] == out[keep]).sum().item()
            kl_sum += kl_terms(mu, logvar).sum().item()
            toks += keep.sum().item()
    model.train()
    return nll / toks, kl_sum / len(test_lines), right / toks


step = 0
rate = {8: 0.8}.get(CASE, 0.5)
model.train()
for epoch in range(EPOCHS):
    random.shuffle(train_lines)
    logged = []
    for i in range(0, len(train_lines) - BS + 1, BS):
        enc, lens, inp, out = batchify(train_lines[i:i + BS])
        mu, logvar = model.encode(enc, lens)
        z = model.sample(mu, logvar)
        logits = model.decode(z, word_dropout(inp, rate))
        per_token = F.cross_entropy(logits.reshape(-1, V), out.reshape(-1), ignore_index=0)
        words = (out != 0).sum() / len(out)
        if CASE == 1:
            rec = per_token
        else:
            rec = per_token * words                     # nats per bulletin
        kl = kl_terms(mu, logvar)
        if CASE == 11:
            kl = kl.mean(0).clamp(min=0.4).sum()        # free bits
        else:
            kl = kl.sum(1).mean()
        if CASE == 4:
            loss = rec - beta_at(step) * kl
        else:
            loss = rec + beta_at(step) * kl
        if CASE == 12:
            bag = F.log_softmax(model.bow(z), dim=1).gather(1, enc)
            loss = loss - (bag * (enc != 0)).sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        if CASE in (8, 10):
            nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()
        step += 1
        logged.append((loss.item(), per_token.item(), kl.item()))
    a, b, c = np.mean(logged, axis=0)
    nll, klt, acc = evaluate()
    print(f"epoch {epoch}: loss {a:.3f} ce/token {b:.3f} kl {c:.2f} beta {beta_at(step):.2f} | test ce {nll:.3f} kl {klt:.2f} acc {acc:.3f}")

model.eval()
with torch.no_grad():
    z = torch.randn(4, LAT)
    inp = torch.full((4, 1), 1)
    for _ in range(11):
        inp = torch.cat([inp, model.decode(z, inp)[:, -1].argmax(-1, keepdim=True)], 1)
for row in inp.tolist():
    row = row[1:row.index(2)] if 2 in row else row[1:]
    print("  sample:", " ".join(vocab[k] for k in row))
