"""Toy translation: token strings are mapped to another alphabet and reversed. GRU encoder/decoder with dot attention."""
import os
import random
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

CASE = int(os.environ.get("CASE", 5))
SEED = int(os.environ.get("SEED", 0))
random.seed(SEED)
torch.manual_seed(SEED)

PAD, BOS, EOS = 0, 1, 2
NSYM = 12
VOCAB = NSYM + 3
MINLEN, MAXLEN = 2, 7
PADTO = 40 if CASE == 1 else MAXLEN + 2
table = list(range(NSYM))
random.Random(7).shuffle(table)


class Pairs(Dataset):
    def __init__(self, n, seed):
        r = random.Random(seed)
        self.items = []
        for _ in range(n):
            L = r.randint(MINLEN, MAXLEN)
            src = [r.randrange(NSYM) for _ in range(L)]
            tgt = [table[s] + 3 for s in reversed(src)]
            self.items.append(([s + 3 for s in src], [BOS] + tgt + [EOS]))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    n = max(len(s) for s, _ in batch)
    src = torch.full((len(batch), n), PAD)
    tgt = torch.full((len(batch), PADTO), PAD)
    for i, (s, t) in enumerate(batch):
        src[i, :len(s)] = torch.tensor(s)
        tgt[i, :len(t)] = torch.tensor(t)
    return src, tgt


class Seq2Seq(nn.Module):
    def __init__(self, emb=32, hid=64, tie=False, p=0.0):
        super().__init__()
        self.src_emb = nn.Embedding(VOCAB, emb, padding_idx=PAD)
        self.tgt_emb = nn.Embedding(VOCAB, emb, padding_idx=PAD)
        self.encoder = nn.GRU(emb, hid // 2, batch_first=True, bidirectional=True)
        self.decoder = nn.GRU(emb, hid, batch_first=True)
        self.drop = nn.Dropout(p)
        self.combine = nn.Linear(2 * hid, hid)
        self.pre = nn.Linear(hid, emb)
        self.out = nn.Linear(emb, VOCAB)
        if tie:
            self.out.weight = self.tgt_emb.weight
        self.tie = tie

    def encode(self, src):
        lens = (src != PAD).sum(1)
        packed = nn.utils.rnn.pack_padded_sequence(self.src_emb(src), lens, batch_first=True, enforce_sorted=False)
        mem, h = self.encoder(packed)
        mem, _ = nn.utils.rnn.pad_packed_sequence(mem, batch_first=True, total_length=src.size(1))
        return mem, torch.cat([h[0], h[1]], -1)[None]

    def decode(self, inp, h, mem, src):
        d, h = self.decoder(self.drop(self.tgt_emb(inp)), h)
        score = d @ mem.transpose(1, 2) / d.size(-1) ** 0.5
        mask = (src == PAD)[:, None]
        if CASE == 2:
            mask = (src != PAD)[:, None]
            score = score.masked_fill(mask, -1e9)
        else:
            score = score.masked_fill(mask, float("-inf"))
        if CASE == 4:
            score = score.masked_fill(mask, -1e4)
            att = F.softmax(score, dim=0)
        else:
            att = F.softmax(score, dim=-1)
        ctx = att @ mem
        z = torch.tanh(self.combine(torch.cat([d, ctx], -1)))
        return self.out(self.pre(self.drop(z))), h

    def forward(self, src, tgt_in):
        mem, h = self.encode(src)
        return self.decode(tgt_in, h, mem, src)[0]

    @torch.no_grad()
    def greedy(self, src, n=MAXLEN + 1):
        mem, h = self.encode(src)
        tok = torch.full((len(src), 1), BOS)
        outs = []
        for _ in range(n):
            logits, h = self.decode(tok, h, mem, src)
            tok = logits.argmax(-1)
            outs.append(tok)
        return torch.cat(outs, 1)


def accuracy(model, loader):
    was = model.training
    model.eval()
    right = total = 0
    for src, tgt in loader:
        out = model.greedy(src)
        gold = tgt[:, 1:MAXLEN + 2]
        m = gold != PAD
        right += ((out == gold) & m).sum().item()
        total += m.sum().item()
    model.train(was)
    return right / total


train, valid = Pairs(6000, SEED + 1), Pairs(400, SEED + 999)
if CASE == 6:
    # buckets of similar length, short ones first, three times over
    order = sorted(range(len(train)), key=lambda i: len(train[i][0]))
    chunks = [order[i:i + 48] for i in range(0, len(order), 48)]
    first = list(chunks)
    rest = []
    for e in range(4):
        random.shuffle(chunks)
        rest += chunks
    loader = DataLoader(train, batch_sampler=first + rest, collate_fn=collate)
    epochs = 1
else:
    loader = DataLoader(train, batch_size=48, shuffle=True, collate_fn=collate, drop_last=True)
    epochs = 3 if CASE == 1 else 5
vloader = DataLoader(valid, batch_size=100, collate_fn=collate)

model = Seq2Seq(tie=CASE == 10, p=0.1 if CASE == 9 else 0.0)
ema = None
if CASE == 9:
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=6e-3, total_steps=epochs * len(loader))
elif CASE == 1:
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    sched = None
else:
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    sched = None
if CASE == 10:
    with torch.no_grad():
        model.tgt_emb.weight.mul_(0.3)
    import copy
    ema = copy.deepcopy(model)
    for p in ema.parameters():
        p.requires_grad_(False)

if CASE == 1:
    criterion = nn.CrossEntropyLoss()
elif CASE == 7:
    criterion = nn.CrossEntropyLoss(ignore_index=PAD, reduction="sum")
elif CASE == 10:
    criterion = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=0.2)
else:
    criterion = nn.CrossEntropyLoss(ignore_index=PAD)

step = 0
for epoch in range(epochs):
    model.train()
    running = 0.0
    for src, tgt in loader:
        inp, gold = tgt[:, :-1], tgt[:, 1:]
        if CASE == 3:
            inp = tgt[:, 1:]
        if CASE == 8 and epoch >= 2:
            # scheduled sampling
            with torch.no_grad():
                guess = model(src, inp).argmax(-1)
            use = torch.rand(inp.shape) < 0.15 * (epoch - 1)
            use[:, 0] = False
            shifted = torch.cat([inp[:, :1], guess[:, :-1]], 1)
            inp = torch.where(use & (inp != PAD), shifted, inp)
        logits = model(src, inp)
        loss = criterion(logits.reshape(-1, VOCAB), gold.reshape(-1))
        opt.zero_grad()
        loss.backward()
        if CASE == 7:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        else:
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        opt.step()
        if sched is not None:
            sched.step()
        if ema is not None:
            with torch.no_grad():
                for a, b in zip(ema.parameters(), model.parameters()):
                    a.mul_(0.98).add_(b, alpha=0.02)
        running += loss.item()
        step += 1
        if step % 100 == 0:
            print(f"epoch {epoch} step {step} loss {running / 100:.4f}")
            running = 0.0
    print(f"epoch {epoch}: valid token acc {accuracy(ema or model, vloader):.3f}")
print("METRIC", round(accuracy(ema or model, vloader), 4))
