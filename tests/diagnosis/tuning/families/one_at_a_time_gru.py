import os
import random
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence, pack_padded_sequence

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
random.seed(SEED)
torch.manual_seed(SEED)

# Dosing logs: a patient's sequence of events; label = was the last "high" reading answered by a dose within three events?
EVENTS = ["low", "ok", "high", "dose", "meal", "rest", "walk", "call"]


def log():
    n = random.randint(6, 22)
    ev = random.choices(range(8), weights=[2, 4, 2, 2, 3, 3, 2, 1], k=n)
    last = max((i for i, e in enumerate(ev) if e == 2), default=None)
    lab = int(last is not None and 3 in ev[last + 1:last + 4])
    if random.random() < 0.04:
        lab = 1 - lab
    return torch.tensor(ev), lab


def batches(data, size):
    random.shuffle(data)
    data = sorted(data, key=lambda d: len(d[0]) + random.random() * 4)
    chunks = [data[i:i + size] for i in range(0, len(data), size)]
    random.shuffle(chunks)
    for c in chunks:
        lens = torch.tensor([len(s) for s, _ in c])
        yield pad_sequence([s for s, _ in c], batch_first=True), lens, torch.tensor([float(l) for _, l in c])


class Gru(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(8, 12)
        self.rnn = nn.GRU(12, 24, batch_first=True)
        self.fc = nn.Linear(24, 1)

    def forward(self, x, lens):
        h = self.rnn(pack_padded_sequence(self.emb(x), lens, batch_first=True, enforce_sorted=False))[1]
        return self.fc(h[-1])[:, 0]


train, test = [log() for _ in range(1500)], [log() for _ in range(250)]
net = Gru()
opt = torch.optim.Adam(net.parameters(), 8e-3)
crit = nn.BCEWithLogitsLoss()
print("positive share", sum(l for _, l in train) / len(train))
for epoch in range(9):
    if epoch == 6:
        for g in opt.param_groups:
            g["lr"] = 2e-3
    net.train()
    seen, total = 0, 0.0
    for x, lens, y in batches(train, 50):
        opt.zero_grad()
        loss = crit(net(x, lens), y)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        total += loss.item() * len(y); seen += len(y)
    # as in production: one patient at a time, no padding
    net.eval()
    good = 0; ll = 0.0
    with torch.no_grad():
        for seq, lab in test:
            z = net(seq[None], torch.tensor([len(seq)]))
            ll += crit(z, torch.tensor([float(lab)])).item()
            good += int((z.item() > 0) == bool(lab))
    print(f"epoch {epoch}: train {total / seen:.4f}  test {ll / len(test):.4f}  acc {good}/{len(test)}")
