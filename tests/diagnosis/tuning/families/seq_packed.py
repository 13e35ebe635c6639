import os
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

CASE = int(os.environ.get('CASE', 0))
SEED = int(os.environ.get('SEED', 0))
torch.set_num_threads(1)
np.random.seed(SEED)
torch.manual_seed(SEED)

VOCAB = 20
REGRESSION = CASE == 6


def make(n, rng, first=False):
    """label: which of the marker tokens 1..4 was seen last (or first); target: a weighted count"""
    xs, ys, ts = [], [], []
    for _ in range(n):
        L = rng.randint(6, 25)
        s = rng.randint(5, VOCAB, L)
        k = rng.randint(1, 4)
        pos = rng.choice(L, k, replace=False)
        s[pos] = rng.randint(1, 5, k)
        marks = [v for v in s if v < 5]
        if first:
            s[0] = marks[0]
            marks = [s[0]]
        xs.append(torch.tensor(s))
        ys.append(marks[-1] - 1)
        ts.append(float(np.sum(s % 5 == 0) - np.sum(s % 5 == 1)))
    t = torch.tensor(ts)
    return xs, torch.tensor(ys), (t - t.mean()) / t.std()


class SeqNet(nn.Module):
    def __init__(self, hidden=32, layers=1, bi=False, n_out=4, rnn='gru'):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, 16, padding_idx=0)
        cls = nn.GRU if rnn == 'gru' else nn.LSTM
        self.rnn = cls(16, hidden, layers, batch_first=True, bidirectional=bi)
        self.kind, self.bi, self.layers = rnn, bi, layers
        width = hidden * (2 if bi else 1)
        if CASE == 3:
            width = hidden * layers * (2 if bi else 1)
        self.fc1 = nn.Linear(width, 32)
        self.fc2 = nn.Linear(32, n_out)

    def forward(self, x, lengths):
        e = self.emb(x)
        if CASE == 9:
            e = F.dropout(e, p=0.5)
        packed = pack_padded_sequence(e, lengths, batch_first=True, enforce_sorted=False)
        out, h = self.rnn(packed)
        if self.kind == 'lstm':
            h = h[0]
        if CASE == 2:
            out, _ = pad_packed_sequence(out, batch_first=True)
            feat = out[:, -1]
        elif CASE == 3:
            feat = h.view(x.size(0), -1)
        elif self.bi:
            feat = torch.cat([h[-2], h[-1]], 1)
        else:
            feat = h[-1]
        if CASE == 9:
            feat = F.dropout(feat, p=0.5)
        z = torch.relu(self.fc1(feat))
        z = F.dropout(z, p=0.1, training=self.training)
        return self.fc2(z)


class Learner:
    def __init__(self, model, lr=3e-3, clip=1.0, batch=32, opt='adam', by_length=False):
        self.model, self.clip, self.batch, self.by_length = model, clip, batch, by_length
        if opt == 'adam':
            self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        elif opt == 'rmsprop':
            self.opt = torch.optim.RMSprop(model.parameters(), lr=lr)
        else:
            self.opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.5)
        self.loss_fn = nn.MSELoss() if REGRESSION else nn.CrossEntropyLoss()

    def batches(self, data, shuffle=True):
        xs, ys, ts = data
        n = len(xs)
        order = np.random.permutation(n) if shuffle else np.arange(n)
        if self.by_length and shuffle:
            lens = np.array([len(xs[i]) for i in order])
            order = order[np.argsort(lens, kind='stable')]
        chunks = [order[i:i + self.batch] for i in range(0, n - self.batch + 1, self.batch)]
        if self.by_length and shuffle:
            np.random.shuffle(chunks)
        for idx in chunks:
            seqs = [xs[i] for i in idx]
            lengths = torch.tensor([len(s) for s in seqs])
            x = pad_sequence(seqs, batch_first=True)
            y = (ts if REGRESSION else ys)[idx]
            if CASE in (4, 8):
                lengths, perm = lengths.sort(descending=True)
                x = x[perm]
                if CASE == 8:
                    y = y[perm]
            yield x, lengths, y

    def fit(self, train, val, epochs):
        step = 0
        for epoch in range(epochs):
            self.model.train()
            tot, n = 0.0, 0
            for x, lengths, y in self.batches(train):
                pred = self.model(x, lengths)
                loss = self.loss_fn(pred, y)
                if CASE != 7:
                    self.opt.zero_grad()
                loss.backward()
                if self.clip:
                    nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
                self.opt.step()
                tot += loss.item()
                n += 1
                step += 1
            print(f'epoch {epoch} train {tot / n:.4f} val {self.score(val):.4f}', flush=True)

    @torch.no_grad()
    def score(self, data):
        self.model.eval()
        good, n, err = 0, 0, 0.0
        for x, lengths, y in self.batches(data, shuffle=False):
            p = self.model(x, lengths)
            if REGRESSION:
                err += ((p.squeeze(1) - y) ** 2).sum().item()
            else:
                good += (p.argmax(1) == y).sum().item()
            n += len(y)
        return err / n if REGRESSION else good / n


rng = np.random.RandomState(100 + SEED)
first = CASE == 5
train, val = make(1088, rng, first), make(256, rng, first)
if CASE == 1:
    net = SeqNet(24, 2, True, rnn='lstm')
    fit = Learner(net, by_length=True)
    epochs = 6
elif CASE == 3:
    net = SeqNet(24, 1, True)
    fit = Learner(net)
    epochs = 8
elif CASE == 5:
    net = SeqNet(32, rnn='lstm')
    fit = Learner(net, lr=2e-3)
    epochs = 12
elif CASE == 6:
    net = SeqNet(32, n_out=1)
    fit = Learner(net)
    epochs = 10
elif CASE == 7:
    net = SeqNet(32)
    fit = Learner(net, lr=0.1, clip=None, opt='sgd')
    epochs = 9
elif CASE == 8:
    net = SeqNet(32)
    fit = Learner(net, lr=1.0, clip=0.1, opt='sgd')
    epochs = 12
else:
    net = SeqNet(32)
    fit = Learner(net, opt='rmsprop' if CASE == 2 else 'adam')
    epochs = 9
fit.fit(train, val, epochs)
print('final', 'mse' if REGRESSION else 'accuracy', round(fit.score(val), 4))
