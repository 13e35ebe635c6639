import os
import random

import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

PAD, VOCAB = 0, 30


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


class Sentences(Dataset):
    """Token sequences of different length. Tokens 1..4 and 5..8 are two groups of
    key words, the rest is filler. The class says which key words come first and last."""

    def __init__(self, n, min_len, max_len, probs=None, ambiguous=0.0):
        self.items = []
        for _ in range(n):
            length = random.randint(min_len, max_len)
            seq = [random.randint(9, VOCAB - 1) for _ in range(length)]
            if probs is None:
                label = random.randint(0, 3)
            else:
                label = random.choices(range(4), weights=probs)[0]
            a, b = divmod(label, 2)
            i, j = sorted(random.sample(range(length), 2))
            seq[i] = random.randint(1, 4) + 4 * a
            seq[j] = random.randint(1, 4) + 4 * b
            if random.random() < ambiguous:
                label = random.randint(0, 3)
            self.items.append((torch.tensor(seq), label))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    seqs, labels = zip(*batch)
    lengths = torch.tensor([len(s) for s in seqs])
    return pad_sequence(seqs, batch_first=True, padding_value=PAD), lengths, torch.tensor(labels)


class LSTMClassifier(nn.Module):
    def __init__(self, dim=24, hidden=48, bidirectional=False, dropout=0.0):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.rnn = nn.LSTM(dim, hidden, batch_first=True, bidirectional=bidirectional)
        self.drop = nn.Dropout(dropout)
        self.out = nn.Linear(hidden * (2 if bidirectional else 1), 4)

    def forward(self, tokens, lengths):
        x = self.embed(tokens)
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        _, (h, _) = self.rnn(packed)
        h = h.transpose(0, 1).flatten(1)
        return self.out(self.drop(h))


class GRUPool(nn.Module):
    """GRU with max pooling over the valid positions."""

    def __init__(self, dim=24, hidden=40):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.rnn = nn.GRU(dim, hidden, batch_first=True, bidirectional=True)
        self.out = nn.Sequential(nn.LayerNorm(2 * hidden), nn.Linear(2 * hidden, 32), nn.GELU(), nn.Linear(32, 4))

    def forward(self, tokens, lengths):
        x = self.embed(tokens)
        h, _ = self.rnn(pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False))
        h, _ = pad_packed_sequence(h, batch_first=True)
        if CASE == 6:
            h = torch.from_numpy(h.detach().numpy())
        mask = torch.arange(h.shape[1])[None, :] < lengths[:, None]
        h = h.masked_fill(~mask[..., None], -1e4).max(dim=1)[0]
        return self.out(h)


class GRUView(nn.Module):
    def __init__(self, dim=24, hidden=48):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.rnn = nn.GRU(dim, hidden)
        self.out = nn.Linear(hidden, 4)

    def forward(self, tokens, lengths):
        b, t = tokens.shape
        x = self.embed(tokens)
        if CASE == 9:
            x = x.reshape(t, b, -1)
        else:
            x = x.transpose(0, 1)
        h, _ = self.rnn(x)
        return self.out(h[lengths - 1, torch.arange(b)])


class ManualRNN(nn.Module):
    """Elman network, written out step by step; pads are on the left."""

    def __init__(self, dim=24, hidden=48, act=torch.tanh):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.wx = nn.Linear(dim, hidden)
        self.wh = nn.Linear(hidden, hidden, bias=False)
        self.out = nn.Linear(hidden, 4)
        self.act = act
        if CASE == 7:
            nn.init.normal_(self.wh.weight, std=0.05)
        elif CASE == 8:
            nn.init.normal_(self.wh.weight, std=0.4)
        else:
            nn.init.orthogonal_(self.wh.weight)

    def forward(self, tokens, lengths):
        x = self.wx(self.embed(tokens))
        h = x.new_zeros(x.shape[0], x.shape[2])
        for t in range(x.shape[1]):
            new = self.act(x[:, t] + self.wh(h))
            h = torch.where((t < lengths)[:, None], new, h)
        return self.out(h)


def setup():
    """min length, max length, model, optimizer, epochs, clipping"""
    if CASE == 1:
        model = GRUPool()
        return 5, 16, model, torch.optim.AdamW(model.parameters(), lr=3e-3), 6, 0.25
    if CASE == 2:
        model = LSTMClassifier(bidirectional=True, dropout=0.5)
        return 5, 14, model, torch.optim.Adam(model.parameters(), lr=3e-3), 7, None
    if CASE == 3:
        model = ManualRNN()
        return 3, 8, model, torch.optim.RMSprop(model.parameters(), lr=1e-3), 10, 1.0
    if CASE == 4:
        model = GRUView()
        return 4, 12, model, torch.optim.Adam(model.parameters(), lr=4e-3), 9, None
    if CASE == 5:
        model = LSTMClassifier()
        return 4, 12, model, torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9), 9, 1e-4
    if CASE == 6:
        model = GRUPool()
        return 5, 16, model, torch.optim.AdamW(model.parameters(), lr=3e-3), 6, 1.0
    if CASE == 7:
        model = ManualRNN(act=torch.sigmoid)
        return 8, 12, model, torch.optim.RMSprop(model.parameters(), lr=1e-3), 10, 1.0
    if CASE == 8:
        model = ManualRNN(act=torch.relu)
        return 6, 10, model, torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9), 12, None
    if CASE == 9:
        model = GRUView()
        return 4, 12, model, torch.optim.Adam(model.parameters(), lr=4e-3), 9, None
    model = LSTMClassifier()
    return 4, 12, model, torch.optim.Adam(model.parameters(), lr=5e-3 if CASE == 0 else 2e-3), 9, None


def evaluate(model, loader, loss_fn):
    model.eval()
    hits, loss, n = torch.zeros(4), 0.0, torch.zeros(4)
    with torch.no_grad():
        for tokens, lengths, labels in loader:
            logits = model(tokens, lengths)
            loss += loss_fn(logits, labels).item() * len(labels)
            pred = logits.argmax(1)
            for c in range(4):
                hits[c] += ((pred == c) & (labels == c)).sum()
                n[c] += (labels == c).sum()
    return loss / n.sum().item(), (hits.sum() / n.sum()).item(), (hits / n).mean().item()


def main():
    seed_everything(SEED)
    lo, hi, model, optimizer, epochs, clip = setup()
    probs = [0.97, 0.01, 0.01, 0.01] if CASE == 10 else None
    n_train = 2500 if CASE == 2 else 1500
    ambiguous = 0.2 if CASE == 2 else 0.0
    train = Sentences(n_train, lo, hi, probs, ambiguous)
    test = Sentences(400, lo, hi, None, ambiguous)
    train_loader = DataLoader(train, batch_size=50, shuffle=True, collate_fn=collate)
    test_loader = DataLoader(test, batch_size=100, collate_fn=collate)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        model.train()
        total, norms = 0.0, []
        for tokens, lengths, labels in train_loader:
            optimizer.zero_grad()
            loss = loss_fn(model(tokens, lengths), labels)
            loss.backward()
            if clip is not None:
                norms.append(nn.utils.clip_grad_norm_(model.parameters(), clip).item())
            optimizer.step()
            total += loss.item()
        test_loss, acc, balanced = evaluate(model, test_loader, loss_fn)
        print("epoch %d loss %.4f test loss %.4f acc %.3f balanced %.3f grad norm %.3f"
              % (epoch, total / len(train_loader), test_loss, acc, balanced, np.mean(norms) if norms else 0))


if __name__ == "__main__":
    main()
