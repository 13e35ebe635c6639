import os
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
torch.set_num_threads(1)
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)

WINDOW, HORIZON = 24, 6


def load_series(n=1100):
    r = np.random.RandomState(30 + SEED)
    t = np.arange(n)
    noise = np.zeros(n)
    heavy = CASE == 9
    for k in range(1, n):
        e = r.standard_t(2.2) * 0.6 if heavy else r.randn()
        noise[k] = 0.7 * noise[k - 1] + e
    season = 14 * np.sin(2 * np.pi * t / 12) + 8 * np.sin(2 * np.pi * t / 31.0 + 1)
    promo = (r.rand(n) < 0.06).astype(float)
    trend = 0.05 * t if CASE == 5 else 0.0 * t
    load = 420 + trend + season + 2.0 * noise + 12 * promo
    temp = 15 + 9 * np.sin(2 * np.pi * (t - 2) / 12) + 2 * r.randn(n)
    return np.stack([load, temp, promo], 1)


class StandardScaler:
    def fit(self, a):
        self.mean, self.std = a.mean(0), a.std(0)
        return self

    def transform(self, a):
        return (a - self.mean) / self.std

    def fit_transform(self, a):
        return self.fit(a).transform(a)

    def inverse_target(self, y):
        return y * float(self.std[0]) + float(self.mean[0])


def windows(a, target=None):
    target = a[:, 0] if target is None else target
    xs, ys = [], []
    for s in range(0, len(a) - WINDOW - HORIZON + 1):
        xs.append(a[s:s + WINDOW])
        lo = s + WINDOW
        if CASE == 3:
            lo = lo - HORIZON
        ys.append(target[lo:lo + HORIZON])
    return torch.tensor(np.array(xs), dtype=torch.float32), torch.tensor(np.array(ys), dtype=torch.float32)


class Seq2Seq(nn.Module):
    def __init__(self, n_in=3, hidden=24):
        super().__init__()
        self.encoder = nn.GRU(n_in, hidden, batch_first=True)
        self.cell = nn.GRUCell(1, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, y=None, teacher_forcing=0.5):
        _, h = self.encoder(x)
        h = h[-1]
        inp = x[:, -1, :1]
        preds = []
        for t in range(HORIZON):
            h = self.cell(inp, h)
            p = self.out(h) + inp if CASE != 6 else self.out(h)
            preds.append(p)
            if y is not None and random.random() < teacher_forcing:
                inp = y[:, t:t + 1]
            else:
                inp = p.detach() if CASE == 8 else p
        return torch.cat(preds, 1)


class Direct(nn.Module):
    """encoder and one linear map to all steps of the horizon"""

    def __init__(self, n_in=3, hidden=24, n_q=1):
        super().__init__()
        self.rnn = nn.LSTM(n_in, hidden)
        self.n_q = n_q
        self.head = nn.Linear(hidden, HORIZON * n_q)

    def forward(self, x, y=None, teacher_forcing=0.0):
        if CASE == 4:
            x = x.view(WINDOW, x.size(0), -1)
        else:
            x = x.transpose(0, 1)
        out, _ = self.rnn(x)
        p = self.head(out[-1])
        return p.view(-1, HORIZON, self.n_q) if self.n_q > 1 else p


def pinball(p, y, qs=(0.1, 0.5, 0.9)):
    loss = 0
    for k, q in enumerate(qs):
        e = y - p[..., k]
        loss = loss + torch.max(q * e, (q - 1) * e).mean()
    return loss


class Forecaster:
    def __init__(self):
        raw = load_series()
        cut = int(len(raw) * 0.8)
        train, test = raw[:cut], raw[cut - WINDOW:]
        self.scaler = StandardScaler()
        tr = self.scaler.fit_transform(train)
        if CASE == 5:
            te = StandardScaler().fit_transform(test)
        else:
            te = self.scaler.transform(test)
        if CASE == 6:
            self.train, self.test = windows(tr, train[:, 0]), windows(te, test[:, 0])
        else:
            self.train, self.test = windows(tr), windows(te)
        self.truth = windows(test, test[:, 0])[1]
        if CASE in (3, 4, 7, 1):
            self.model = Direct()
        elif CASE == 8:
            self.model = Direct(n_q=3)
        else:
            self.model = Seq2Seq()
        self.scheduler = None
        if CASE == 7:
            self.opt = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
        elif CASE == 1:
            self.opt = torch.optim.AdamW(self.model.parameters(), lr=5e-3, weight_decay=0.05)
            self.scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(self.opt, factor=0.3, patience=1)
        elif CASE == 6:
            self.opt = torch.optim.Adam(self.model.parameters(), lr=2e-3)
        else:
            self.opt = torch.optim.Adam(self.model.parameters(), lr=3e-3)
        self.clip = {7: 1e-3, 8: 0.05}.get(CASE, 1.0)

    def loss(self, p, y):
        if CASE == 8:
            return pinball(p, y)
        if CASE == 9:
            return F.smooth_l1_loss(p, y)
        return F.mse_loss(p, y)

    def fit(self, epochs=14, bs=32):
        x, y = self.train
        for ep in range(epochs):
            self.model.train()
            tf = max(0.0, 0.8 - ep * 0.08)
            if CASE == 2:
                tf = 0.8
            order = torch.randperm(len(x))
            tot, nb = 0.0, 0
            for i in range(0, len(x) - bs + 1, bs):
                j = order[i:i + bs]
                p = self.model(x[j], y[j], tf)
                loss = self.loss(p, y[j])
                self.opt.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
                self.opt.step()
                tot += loss.item()
                nb += 1
            v, mae = self.evaluate()
            if self.scheduler is not None:
                self.scheduler.step(v)
            if ep % 3 == 1:
                print("epoch %d train %.4f test %.4f mae %.3f" % (ep, tot / nb, v, mae))
        print("test loss %.4f mae %.3f" % self.evaluate())

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        x, y = self.test
        if CASE == 2:
            p = self.model(x, y, 1.0)
        else:
            p = self.model(x)
        loss = self.loss(p, y).item()
        if CASE == 8:
            p = p[..., 1]
        if CASE != 6:
            p = self.scaler.inverse_target(p)
        return loss, (p - self.truth).abs().mean().item()


if __name__ == "__main__":
    Forecaster().fit(epochs=22 if CASE in (1, 3, 4, 7) else 12)
