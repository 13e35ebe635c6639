"""Recognise which ingredient is ground in a mortar from the wrist sensor (6 channels, variable length)."""
import logging
import os
import sys

import numpy as np
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader

logging.basicConfig(stream=sys.stdout, format="%(asctime)s %(message)s", datefmt="%H:%M:%S", level=logging.INFO)
CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
CLASSES, CH = 5, 6


def recording(k, r, length):
    """k decides how the stroke rate drifts, and whether a pause comes before or after the pressing"""
    t = np.arange(length)
    drift = [0.0, 1.2, -1.2, 0.0, 0.0][k]
    rate = (0.55 + r.normal(0, 0.06)) * (1 + drift * (t / length - 0.5))
    ph = np.cumsum(rate) + r.uniform(0, 6)
    amp = np.ones(length)
    a, b = int(length * r.uniform(.15, .3)), int(length * r.uniform(.55, .75))
    w = length // 6
    if k == 3:
        amp[a:a + w] = 0.25; amp[b:b + w] = 1.9
    elif k == 4:
        amp[a:a + w] = 1.9; amp[b:b + w] = 0.25
    base = np.stack([np.sin(ph), np.cos(ph), 0.5 * np.sin(2 * ph + 1), amp * 0.8, np.cos(ph) * 0.3, t * 0 + 0.2])
    sig = (base * amp).T * r.uniform(0.6, 1.4, CH) + r.normal(0, 0.45, (length, CH))
    return sig.astype(np.float32)


def build(n, seed, fixed=None):
    r = np.random.default_rng(seed)
    data = []
    for _ in range(n):
        k = int(r.integers(CLASSES))
        data.append((torch.from_numpy(recording(k, r, fixed or int(r.integers(24, 43)))), k))
    return data


def collate(batch):
    xs, ys = zip(*batch)
    lengths = torch.tensor([len(x) for x in xs])
    return pad_sequence(xs, batch_first=True), lengths, torch.tensor(ys)


class StirNet(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.rnn = nn.GRU(CH, hidden, batch_first=(CASE != 1))
        self.norm = nn.LayerNorm(hidden)
        self.out = nn.Linear(hidden, CLASSES)
        if CASE == 2:
            for name, p in self.named_parameters():
                if "norm" not in name:
                    nn.init.normal_(p)

    def forward(self, x, lengths):
        if CASE == 1:
            b, t, c = x.shape
            _, h = self.rnn(x.reshape(t, b, c))
        else:
            packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
            _, h = self.rnn(packed)
        h = h[-1]
        if CASE == 3:
            h = torch.tensor(h.tolist())
        return self.out(self.norm(h))


def evaluate(net, loader):
    net.eval()
    conf = np.zeros((CLASSES, CLASSES), int)
    with torch.no_grad():
        for x, l, y in loader:
            p = net(x, l).argmax(1)
            for a, b in zip(y.tolist(), p.tolist()):
                conf[a, b] += 1
    recall = conf.diagonal() / conf.sum(1).clip(1)
    return conf.trace() / conf.sum(), recall


def classify():
    fixed = 34 if CASE == 1 else None
    train = DataLoader(build(1440, SEED + 5, fixed), batch_size=40, shuffle=True, collate_fn=collate)
    test = DataLoader(build(400, SEED + 6, fixed), batch_size=100, collate_fn=collate)
    net = StirNet()
    if CASE == 4:
        opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    else:
        opt = torch.optim.Adam(net.parameters(), lr=6e-3)
    max_norm = 0.001 if CASE == 4 else 1.0
    ce = nn.CrossEntropyLoss()
    for epoch in range(6):
        net.train()
        losses = []
        for x, l, y in train:
            opt.zero_grad(set_to_none=True)
            loss = ce(net(x, l), y)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), max_norm)
            opt.step()
            losses.append(loss.item())
        acc, recall = evaluate(net, test)
        logging.info("epoch %d loss %.4f acc %.3f recall %s", epoch, np.mean(losses), acc, np.round(recall, 2))


def tbptt():
    """one long recording, next-value prediction, state carried over windows"""
    r = np.random.default_rng(SEED)
    long = np.concatenate([recording(int(r.integers(CLASSES)), r, 60) for _ in range(320)])
    x = torch.from_numpy(long).view(16, -1, CH)
    cell, head = nn.LSTM(CH, 40, batch_first=True), nn.Linear(40, CH)
    params = list(cell.parameters()) + list(head.parameters())
    opt = torch.optim.RMSprop(params, lr=2e-3)
    split, win, naive = 960, 16, None
    for epoch in range(3):
        state, acc = None, 0.0
        for j, s in enumerate(range(0, split - win, win)):
            seg, nxt = x[:, s:s + win], x[:, s + 1:s + win + 1]
            if state is not None:
                state = tuple(v.detach() for v in state)
            out, state = cell(seg, state)
            loss = nn.functional.mse_loss(head(out), nxt)
            opt.zero_grad()
            loss.backward()
            norm = nn.utils.clip_grad_norm_(params, 5.0)
            opt.step()
            acc += loss.item()
            if j % 20 == 19:
                logging.info("epoch %d window %d loss %.4f grad norm %.3f", epoch, j + 1, acc / 20, norm)
                acc = 0.0
        with torch.no_grad():
            out, _ = cell(x[:, split:-1])
            val = nn.functional.mse_loss(head(out), x[:, split + 1:]).item()
            naive = ((x[:, split + 1:] - x[:, split:-1]) ** 2).mean().item()
        logging.info("epoch %d held-out mse %.4f (last value: %.4f, variance: %.4f)", epoch, val, naive, x.var().item())


if __name__ == "__main__":
    torch.manual_seed(SEED)
    tbptt() if CASE == 5 else classify()
