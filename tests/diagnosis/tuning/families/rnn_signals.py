import os
import numpy as np
import torch
import torch.nn as nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
np.random.seed(SEED)

# Two tasks.
#   "tag":   every symbol gets a tag that depends on it and on the symbol before
#   "class": which of four motifs is hidden in a noisy series of 2 channels
#   "next":  forecast of the next value of a noisy oscillation
TASK = {0: "tag", 1: "class", 2: "class", 3: "class", 4: "tag", 5: "next", 6: "tag", 7: "class",
        8: "tag", 9: "class", 10: "next", 11: "class", 12: "tag"}[CASE]
VOCAB, TAGS, LEN = 12, 5, 20


def tag_data(n):
    rule = np.random.RandomState(3).randint(0, TAGS, size=(VOCAB, VOCAB))
    x = np.random.randint(0, VOCAB, size=(n, LEN))
    prev = np.concatenate([np.zeros((n, 1), dtype=int), x[:, :-1]], axis=1)
    y = rule[x, prev]
    return torch.tensor(x), torch.tensor(y)


def class_data(n):
    t = np.arange(8) / 8.0
    motifs = [np.stack([np.sin(2 * np.pi * t), t]), np.stack([t, np.sin(2 * np.pi * t)]),
              np.stack([np.sin(2 * np.pi * t), -t]), np.stack([-t, np.sin(4 * np.pi * t)])]
    x = 0.5 * np.random.randn(n, 2, 24)
    y = np.random.randint(0, 4, n)
    for i in range(n):
        s = np.random.randint(0, 17)
        x[i, :, s:s + 8] += 1.2 * motifs[y[i]]
    rows = []
    row = np.zeros((2, 24), dtype=np.float32)
    for i in range(n):
        if CASE != 7:
            row = np.zeros((2, 24), dtype=np.float32)
        row[:] = x[i] - x[i].mean(axis=1, keepdims=True)
        rows.append(torch.from_numpy(row))
    return torch.stack(rows), torch.tensor(y)


def next_data(n):
    w = np.random.uniform(0.2, 0.6, (n, 1))
    p = np.random.uniform(0, 6.28, (n, 1))
    a = np.sin(w * np.arange(33) + p) + 0.1 * np.random.randn(n, 33)
    a = torch.tensor(a, dtype=torch.float32)
    return a[:, :-1, None], a[:, 1:, None]


class Tagger(nn.Module):
    def __init__(self, hidden=48, kind="gru"):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, 16)
        self.rnn = (nn.GRU if kind == "gru" else nn.LSTM)(16, hidden, batch_first=True)
        self.out = nn.Linear(hidden, TAGS)

    def forward(self, x):
        h, _ = self.rnn(self.emb(x))
        return self.out(h)


class SeriesClassifier(nn.Module):
    def __init__(self, hidden=32, drop=0.0):
        super().__init__()
        self.hidden = hidden
        self.inp = nn.Linear(2, 16)
        self.cell = nn.GRUCell(16, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.drop = nn.Dropout(drop)
        self.out = nn.Linear(hidden, 4)

    def forward(self, x):
        if CASE == 3:
            x = x.reshape(24, -1, 2)
        else:
            x = x.permute(2, 0, 1)
        h = x.new_zeros(x.size(1), self.hidden)
        states = []
        for t in range(x.size(0)):
            h = self.cell(torch.tanh(self.inp(x[t])), h)
            states.append(h.detach() if CASE == 1 else h)
        h = torch.stack(states, 1).max(dim=1)[0]
        return self.out(self.drop(self.norm(h)))


class Forecaster(nn.Module):
    def __init__(self, hidden=40):
        super().__init__()
        self.rnn = nn.LSTM(1, hidden, num_layers=1, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        h, _ = self.rnn(x)
        return self.out(h)


def build():
    if TASK == "tag":
        return Tagger(kind="lstm" if CASE in (6, 12) else "gru")
    if TASK == "class":
        return SeriesClassifier(10 if CASE == 1 else 32, 0.5 if CASE == 11 else 0.0)
    return Forecaster(96 if CASE == 5 else 40)


def loss_of(model, x, y):
    out = model(x)
    if TASK == "tag":
        if CASE == 4:
            return nn.functional.cross_entropy(out[:, :-1].reshape(-1, TAGS), y[:, 1:].reshape(-1)), out
        return nn.functional.cross_entropy(out.reshape(-1, TAGS), y.reshape(-1)), out
    if TASK == "class":
        return nn.functional.cross_entropy(out, y), out
    return nn.functional.mse_loss(out, y), out


def metric(out, y):
    if TASK == "next":
        return 1 - ((out - y) ** 2).mean().item() / y.var().item()
    return (out.argmax(-1) == y).float().mean().item()


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        loss, out = loss_of(model, x, y)
    model.train()
    return loss.item(), metric(out, y)


def main():
    make = {"tag": tag_data, "class": class_data, "next": next_data}[TASK]
    n = 1500
    xa, ya = make(n + 400)
    x, y, xv, yv = xa[:n], ya[:n], xa[n:], ya[n:]
    model = build()
    steps, bs, clip = 400, 32, 1.0
    lr = 3e-3
    accumulate = 1
    if CASE == 0:
        clip = None
    if CASE == 2:
        clip = 1e-3
    if CASE == 10:
        steps, clip = 250, 0.05
    if CASE == 9:
        accumulate, steps, bs, lr = 4, 800, 12, 5e-3
    if CASE == 5:
        bs, steps = 64, 160
    if CASE == 12:
        lr = 1e-2
    if CASE in (2, 11):
        opt = torch.optim.SGD(model.parameters(), lr=0.3 if CASE == 11 else 0.3, momentum=0.9 if CASE == 11 else 0.0)
        steps = 700
    elif CASE in (0, 8):
        opt = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.5 if CASE == 8 else 0.0)
    else:
        opt = torch.optim.Adam(model.parameters(), lr=lr)
    warm = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / (150 if CASE == 12 else 1)))

    history = []
    smooth = None
    for step in range(steps):
        ids = np.random.randint(0, n, size=bs)
        xb, yb = x[ids], y[ids]
        loss, out = loss_of(model, xb, yb)
        (loss / accumulate).backward()
        if (step + 1) % accumulate == 0:
            if clip:
                nn.utils.clip_grad_norm_(model.parameters(), clip)
            if CASE != 6:
                opt.step()
            if CASE != 0:
                opt.zero_grad()
            warm.step()
        if CASE == 5:
            history.append((loss, out))
        else:
            history.append((loss.item(), 0))
        smooth = loss.item() if smooth is None else 0.95 * smooth + 0.05 * loss.item()
        if (step + 1) % 80 == 0:
            vl, vm = evaluate(model, xv, yv)
            print("step", step + 1, "train %.4f valid %.4f metric %.3f" % (smooth, vl, vm))
    vl, vm = evaluate(model, xv, yv)
    print("mean of the last losses %.4f" % (sum(float(h[0]) for h in history[-20:]) / 20), "final metric %.3f" % vm)


main()
