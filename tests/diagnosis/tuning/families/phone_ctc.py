# BiLSTM + CTC: strings of tones are read from spectrogram-like frames
import os
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
np.random.seed(SEED)
torch.manual_seed(SEED)
torch.set_num_threads(1)

NSYM, NMEL = 8, 12            # symbols 1..8, 0 is the blank
SIL = 8                       # the last symbol is a pause and may be heard at the end


class Tones(Dataset):
    def __init__(self, n, seed):
        r = np.random.default_rng(seed)
        proto = np.random.default_rng(77).normal(0, 1, (NSYM + 1, NMEL))
        self.items = []
        for _ in range(n):
            ln = r.integers(2, 6)
            sym = r.integers(1, NSYM, ln)
            if r.random() < 0.3:
                sym[-1] = SIL
            frames = []
            for s in sym:
                k = r.integers(3, 5)
                frames += [proto[s]] * k + [proto[0]] * r.integers(1, 2)
            if CASE == 5 and r.random() < 0.03:
                frames = frames[:2]
            f = np.array(frames) + r.normal(0, 0.35, (len(frames), NMEL))
            self.items.append((torch.tensor(f, dtype=torch.float32), torch.tensor(sym)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(b):
    b = sorted(b, key=lambda z: -len(z[0]))
    fl = torch.tensor([len(x) for x, _ in b])
    sl = torch.tensor([len(y) for _, y in b])
    X = pad_sequence([x for x, _ in b], batch_first=True)
    Y = pad_sequence([y for _, y in b], batch_first=True, padding_value=SIL)
    if CASE == 4:
        sl = torch.full_like(sl, Y.size(1))
    return X, fl, Y, sl


class Reader(nn.Module):
    def __init__(self, hid=40):
        super().__init__()
        self.inp = nn.Linear(NMEL, 32)
        self.rnn = nn.LSTM(32, hid, bidirectional=True)
        self.out = nn.Linear(2 * hid, NSYM + 1)
        if CASE == 6:
            for n, w in self.rnn.named_parameters():
                nn.init.normal_(w, std=4.0) if "weight" in n else None

    def forward(self, x, fl):
        B, L, M = x.shape
        h = torch.relu(self.inp(x))
        if CASE == 7:
            h = h.view(L, B, -1)
        else:
            h = h.transpose(0, 1)
        if CASE == 5:
            o, _ = self.rnn(pack_padded_sequence(h, fl, enforce_sorted=True))
            o, _ = pad_packed_sequence(o, total_length=L)
        else:
            o, _ = self.rnn(h)
        z = self.out(o)                       # time, batch, symbol
        if CASE == 1:
            return F.softmax(z, dim=2)
        return F.log_softmax(z, dim=1 if CASE == 3 else 2)


def edit(a, b):
    d = list(range(len(b) + 1))
    for i, p in enumerate(a, 1):
        last, d[0] = d[0], i
        for j, q in enumerate(b, 1):
            last, d[j] = d[j], min(d[j] + 1, d[j - 1] + 1, last + (p != q))
    return d[-1]


def error_rate(net, loader):
    net.eval()
    wrong = total = blank = frames = 0
    with torch.no_grad():
        for X, fl, Y, sl in loader:
            best = net(X, fl).argmax(2).t()
            for k in range(len(X)):
                seq = best[k, :fl[k]].tolist()
                blank += seq.count(0)
                frames += len(seq)
                hyp = [s for i, s in enumerate(seq) if s != 0 and (i == 0 or seq[i - 1] != s)]
                ref = Y[k, :sl[k]].tolist()
                wrong += edit(hyp, ref)
                total += len(ref)
    net.train()
    return wrong / total, blank / frames


full = Tones(900, SEED + 1)
if CASE == 9:
    train_set, val_set = Subset(full, range(0, 800)), Subset(full, range(500, 700))
else:
    train_set, val_set = Subset(full, range(0, 700)), Subset(full, range(700, 900))
train_dl = DataLoader(train_set, batch_size=32, shuffle=CASE != 10, collate_fn=collate)
val_dl = DataLoader(val_set, batch_size=100, collate_fn=collate)

net = Reader()
ctc = nn.CTCLoss(blank=0, zero_infinity=CASE == 5)
lr = 4e-3
opt = torch.optim.Adam(net.parameters(), lr=lr)
clip, plateau = 5.0, None
if CASE == 2:
    opt = torch.optim.SGD(net.parameters(), lr=0.06, momentum=0.9, nesterov=True)
    clip = 2.0
if CASE == 8:
    clip = 0.1
if CASE == 11:
    opt = torch.optim.Adam(net.parameters(), lr=4e-3)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=0)

EPOCHS = 15 if CASE == 2 else 12
for ep in range(EPOCHS):
    run = 0.0
    for it in range(len(train_dl)) if CASE == 10 else enumerate(train_dl):
        X, fl, Y, sl = next(iter(train_dl)) if CASE == 10 else it[1]
        opt.zero_grad()
        lp = net(X, fl)
        loss = ctc(lp, Y, fl, sl)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), clip)
        opt.step()
        run += loss.item()
    err, bl = error_rate(net, val_dl)
    if plateau is not None:
        plateau.step(run)
    if ep % 2 == 1 or ep == EPOCHS - 1:
        print("epoch %2d  ctc %.4f  symbol error %.3f  blanks %.2f  lr %.1e" % (ep, run / len(train_dl), err, bl, opt.param_groups[0]["lr"]))
