import os
import random
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence, pack_padded_sequence, pad_packed_sequence

torch.set_num_threads(1)
SEED = int(os.getenv("SEED", "0"))
CASE = int(os.getenv("CASE", "0"))
random.seed(SEED)
torch.manual_seed(SEED)
PAD, VOCAB, TAGS = 0, 30, 4


def tag_of(prev, cur, nxt):
    return (prev % 2) * 2 + (1 if nxt > cur else 0)


def sample():
    n = random.randint(3, 8) if random.random() < 0.94 else random.randint(30, 40)
    toks = [random.randint(1, VOCAB - 1) for _ in range(n)]
    tags = [tag_of(toks[i - 1] if i else 0, toks[i], toks[i + 1] if i + 1 < n else 0) for i in range(n)]
    return torch.tensor(toks), torch.tensor(tags)


train = [sample() for _ in range(900)]
dev = [sample() for _ in range(200)]


def batches(data, size, shuffle):
    order = list(range(len(data)))
    if shuffle:
        random.shuffle(order)
    for i in range(0, len(order), size):
        part = [data[j] for j in order[i:i + size]]
        lens = torch.tensor([len(t[0]) for t in part])
        x = pad_sequence([t[0] for t in part], batch_first=True, padding_value=PAD)
        fill = 0 if CASE == 1 and shuffle else -100
        y = pad_sequence([t[1] for t in part], batch_first=True, padding_value=fill)
        if CASE in (3, 5):
            lens, perm = lens.sort(descending=True)
            x = x[perm]
            if CASE == 5 or not shuffle:
                y = y[perm]
        yield x, y, lens


class Tagger(nn.Module):
    def __init__(self, dim=24, hid=32):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        if CASE == 8:
            self.rnn = nn.RNN(dim, hid, nonlinearity="relu", batch_first=True, bidirectional=True)
            for n, p in self.rnn.named_parameters():
                if n.startswith("weight_hh"):
                    p.data.copy_(torch.eye(hid) * 2.0)
        else:
            self.rnn = nn.GRU(dim, hid, batch_first=CASE != 2, bidirectional=True)
        self.out = nn.Linear(2 * hid, TAGS)

    def forward(self, x, lens):
        e = self.emb(x)
        if CASE in (3, 5):
            h, _ = self.rnn(pack_padded_sequence(e, lens, batch_first=True))
            h, _ = pad_packed_sequence(h, batch_first=True)
        else:
            h, _ = self.rnn(e)
        return self.out(h)


def loss_fn(logits, y):
    if CASE == 6:
        mask = (y != -100).float()
        ce = F.cross_entropy(logits.transpose(1, 2), y.clamp(min=0), reduction="none")
        return (ce * mask).sum() / mask.sum()
    return F.cross_entropy(logits.reshape(-1, TAGS), y.reshape(-1))


def evaluate(model):
    model.eval()
    ok = n = 0
    with torch.no_grad():
        for x, y, lens in batches(dev, 50, False):
            m = y != -100
            ok += (model(x, lens).argmax(-1)[m] == y[m]).sum().item()
            n += m.sum().item()
    return ok / n


def run():
    model = Tagger()
    if CASE == 7:
        model.emb.weight.requires_grad_(False)
    params = [p for p in model.parameters() if p.requires_grad]
    opt = torch.optim.SGD(params, lr=0.2 if CASE != 5 else 1.0, momentum=0.9) if CASE in (0, 1, 5) else torch.optim.Adam(params, lr=8e-3)
    if CASE == 8:
        opt = torch.optim.SGD(params, lr=0.1)
    acc = 0.0
    for epoch in range(6):
        model.train()
        for k, (x, y, lens) in enumerate(batches(train, 40, True)):
            loss = loss_fn(model(x, lens), y)
            opt.zero_grad()
            loss.backward()
            if CASE == 4:
                opt.zero_grad()
            if CASE == 5:
                nn.utils.clip_grad_norm_(params, 0.05)
            opt.step()
            if k % 15 == 0:
                print(epoch, k, round(loss.item(), 4))
        acc = evaluate(model)
        print("dev", epoch, acc)
    return acc


print("METRIC", run())
