"""Support tickets -> queue. Words are made up; a GRU / text-CNN reads them."""
import os
import torch
import random
import numpy as np
from torch import nn, optim
from torch.nn.utils.rnn import pad_sequence, pack_padded_sequence, pad_packed_sequence

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED); np.random.seed(SEED); random.seed(SEED)
torch.set_num_threads(1)

QUEUES = ["billing", "network", "account", "hardware", "other"]
COMMON = ["w%d" % i for i in range(200)]
SPECIAL = {q: ["%s_%d" % (q, i) for i in range(40)] for q in QUEUES}
PAD, UNK = 0, 1
vocab = {"<pad>": PAD, "<unk>": UNK}
for w in COMMON + sum(SPECIAL.values(), []):
    vocab[w] = len(vocab)
for q in QUEUES:
    vocab["[" + q + "]"] = len(vocab)


def ticket(q):
    n = random.randint(6, 20)
    words = []
    for _ in range(n):
        r = random.random()
        if r < 0.26:
            words.append(random.choice(SPECIAL[q]))
        elif r < 0.32:
            words.append(random.choice(SPECIAL[random.choice(QUEUES)]))
        else:
            words.append(random.choice(COMMON))
    if CASE == 9:
        words.insert(random.randint(0, n), "[" + q + "]")
    return words


def corpus(n, probs=None):
    ys = np.random.choice(len(QUEUES), n, p=probs)
    return [([vocab[w] for w in ticket(QUEUES[y])], int(y)) for y in ys]


def collate(batch):
    xs = [torch.tensor(b[0]) for b in batch]
    lens = torch.tensor([len(x) for x in xs])
    return pad_sequence(xs, batch_first=True, padding_value=PAD), lens, torch.tensor([b[1] for b in batch])


class GRUClassifier(nn.Module):
    def __init__(self, n_vocab, emb=48, hid=48, pool="attn", p=0.2, axis=1):
        super().__init__()
        self.embed = nn.Embedding(n_vocab, emb, padding_idx=PAD)
        self.dropout = nn.Dropout(p)
        self.gru = nn.GRU(emb, hid, batch_first=True, bidirectional=True)
        self.score = nn.Linear(2 * hid, 1)
        self.head = nn.Linear(2 * hid, len(QUEUES))
        self.pool, self.axis = pool, axis

    def forward(self, x, lens):
        e = self.dropout(self.embed(x))
        packed = pack_padded_sequence(e, lens, batch_first=True, enforce_sorted=False)
        out, h = self.gru(packed)
        out, _ = pad_packed_sequence(out, batch_first=True)
        mask = (x != PAD)
        if self.pool == "last":
            z = torch.cat([h[0], h[1]], 1)
        elif self.pool == "mean":
            z = (out * mask.unsqueeze(-1)).sum(1) / lens.unsqueeze(1)
        else:
            s = self.score(torch.tanh(out)).squeeze(-1).masked_fill(~mask, float("-inf") if self.axis == 1 else -1e4)
            a = torch.softmax(s, dim=self.axis)
            z = (a.unsqueeze(-1) * out).sum(1)
        return self.head(self.dropout(z))


class TextCNN(nn.Module):
    def __init__(self, n_vocab, emb=48, maps=24, sizes=(2, 3, 4), as_list=False):
        super().__init__()
        self.embed = nn.Embedding(n_vocab, emb, padding_idx=PAD)
        convs = [nn.Conv1d(emb, maps, k, padding=k // 2) for k in sizes]
        self.convs = convs if as_list else nn.ModuleList(convs)
        self.head = nn.Linear(maps * len(sizes), len(QUEUES))

    def forward(self, x, lens):
        e = self.embed(x).transpose(1, 2)
        return self.head(torch.cat([torch.relu(c(e)).amax(2) for c in self.convs], 1))


class Trainer:
    def __init__(self, model, train, dev, optimizer, loss_fn, scheduler=None, batch_size=32, clip=None):
        self.model, self.train_data, self.dev = model, train, dev
        self.opt, self.loss_fn, self.sched = optimizer, loss_fn, scheduler
        self.bs, self.clip, self.steps = batch_size, clip, 0

    def batches(self, data, shuffle):
        idx = list(range(len(data)))
        if shuffle:
            random.shuffle(idx)
        for i in range(0, len(idx), self.bs):
            yield collate([data[j] for j in idx[i:i + self.bs]])

    def fit(self, epochs):
        for ep in range(1, epochs + 1):
            self.model.train()
            losses = []
            for x, lens, y in self.batches(self.train_data, True):
                self.opt.zero_grad()
                loss = self.loss_fn(self.model(x, lens), y)
                loss.backward()
                if self.clip:
                    nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
                self.opt.step()
                if self.sched:
                    self.sched.step()
                self.steps += 1
                losses.append(loss.item())
            acc, per = self.score()
            print("ep %d  steps %d  train loss %.4f  dev acc %.3f  recall %s" % (
                ep, self.steps, np.mean(losses), acc, " ".join("%.2f" % r for r in per)))

    @torch.no_grad()
    def score(self):
        self.model.eval()
        conf = np.zeros((len(QUEUES), len(QUEUES)))
        for x, lens, y in self.batches(self.dev, False):
            for t, p in zip(y.tolist(), self.model(x, lens).argmax(1).tolist()):
                conf[t, p] += 1
        return np.trace(conf) / conf.sum(), np.diag(conf) / np.maximum(conf.sum(1), 1)


def main():
    n_train, epochs, clip, sched = 1500, 4, None, None
    probs = [0.93, 0.02, 0.02, 0.02, 0.01] if CASE == 10 else None
    if CASE == 12:
        probs = [0.6, 0.1, 0.1, 0.1, 0.1]
    if CASE == 11:
        n_train, epochs = 60, 40
    train, dev = corpus(n_train, probs), corpus(300, None if CASE != 10 else probs)
    V = len(vocab)
    loss_fn = nn.CrossEntropyLoss()
    if CASE == 12:
        counts = np.bincount([y for _, y in train], minlength=len(QUEUES))
        loss_fn = nn.CrossEntropyLoss(weight=torch.tensor(counts.sum() / (len(QUEUES) * counts), dtype=torch.float32))
    if CASE == 2:
        model = TextCNN(V)
    elif CASE == 7:
        model = TextCNN(V, as_list=True)
    elif CASE == 0 or CASE == 10:
        model = GRUClassifier(V, pool="mean")
    elif CASE == 4:
        model = GRUClassifier(V, axis=0)
    elif CASE == 8:
        model = GRUClassifier(V, pool="last", p=0.95)
    else:
        model = GRUClassifier(V)
    opt = optim.Adam(model.parameters(), lr=4e-3)
    if CASE == 1:
        loss_fn = nn.CrossEntropyLoss(label_smoothing=0.2)
        opt = optim.AdamW(model.parameters(), lr=6e-3, weight_decay=0.01)
        total = epochs * 47
        sched = optim.lr_scheduler.LambdaLR(opt, lambda s: min((s + 1) / 30, max(0.0, (total - s) / (total - 30))))
        clip = 1.0
    if CASE == 2:
        for w, i in vocab.items():  # vectors from the old system, kept as they are
            k = next((j for j, q in enumerate(QUEUES) if w.startswith(q)), None)
            if k is not None:
                with torch.no_grad():
                    model.embed.weight[i] = 0.6 * torch.randn(48) + 1.5 * torch.eye(48)[k] * 2
        model.embed.weight.requires_grad_(False)
        opt = optim.Adam([p for p in model.parameters() if p.requires_grad], lr=3e-3)
    if CASE == 5:
        opt = optim.Adam([
            {"params": model.embed.parameters(), "lr": 4e-3},
            {"params": model.score.parameters(), "lr": 4e-3},
            {"params": model.head.parameters(), "lr": 4e-3}])
    if CASE == 6:
        opt = optim.AdamW(model.parameters(), lr=2e-5)
    Trainer(model, train, dev, opt, loss_fn, sched, clip=clip).fit(epochs)


main()
