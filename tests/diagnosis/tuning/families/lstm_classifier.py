import os
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)

T = {1: 60, 6: 60, 12: 36}.get(CASE, 20)


def make(n, balance=0.5):
    """label: the mark near the start is up or down; the rest are distractors"""
    x = torch.randn(n, T, 4) * 0.3
    y = (torch.rand(n) < balance).long()
    lengths = torch.randint(T // 2, T + 1, (n,))
    for i in range(n):
        p = int(torch.randint(0, 5, (1,)))
        x[i, p, 0] = 4.0 * y[i] - 2.0
        x[i, p, 1] = 2.0
        x[i, lengths[i]:] = 0
    return x, y, lengths


class Recurrent(nn.Module):
    """recurrence written by hand"""

    def __init__(self, d, h):
        super().__init__()
        self.w = nn.Parameter(torch.randn(d, h) / d ** 0.5)
        self.u = nn.Parameter(torch.randn(h, h) * ((0.3 if CASE == 1 else 2.2) / h ** 0.5))
        self.b = nn.Parameter(torch.zeros(h))

    def forward(self, x):
        h = x.new_zeros(x.shape[0], self.u.shape[0])
        for t in range(x.shape[1]):
            h = x[:, t] @ self.w + h @ self.u + self.b
            h = torch.tanh(h) if CASE == 1 else torch.relu(h)
        return h


class Model(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        if CASE in (1, 6):
            self.rnn = Recurrent(4, hidden)
        else:
            self.rnn = nn.LSTM(4, hidden, batch_first=CASE != 3)
            if CASE in (7, 12):
                with torch.no_grad():
                    for n, p in self.rnn.named_parameters():
                        if "bias_hh" in n:
                            p[hidden:2 * hidden] = 2.0
        self.fc = nn.Linear(hidden, 2)

    def forward(self, x, lengths):
        if CASE in (1, 6):
            return self.fc(self.rnn(x))
        if CASE == 3:
            out, (h, c) = self.rnn(x)
            return self.fc(out[:, -1])
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        _, (h, c) = self.rnn(packed)
        return self.fc(h[-1])


rare = 0.02 if CASE in (4, 9) else 0.5
x, y, n = make(1920, rare)
vx, vy, vn = make(500, 0.5)
model = Model()
if CASE == 2:
    for p in model.rnn.parameters():
        p.requires_grad = False
weight = None
if CASE == 9:
    weight = torch.tensor([0.02, 0.98]) * 2
loss_fn = nn.CrossEntropyLoss(weight=weight)
params = [p for p in model.parameters() if p.requires_grad]
opt = torch.optim.Adam(params, lr=1e-2 if CASE != 8 else 4e-3)
clip = {5: 1e-9, 6: float("inf")}.get(CASE, 1.0)
it, epoch = 0, 0
limit = {4: 100, 8: 450}.get(CASE, 300)
bs = 64
batches = iter(torch.randperm(len(x)).split(bs))
while it < limit:
    try:
        idx = next(batches)
    except StopIteration:
        epoch += 1
        if CASE == 10:
            opt = torch.optim.Adam(params, lr=1e-2)
        batches = iter(torch.randperm(len(x)).split(bs))
        continue
    model.train()
    opt.zero_grad()
    loss = loss_fn(model(x[idx], n[idx]), y[idx])
    loss.backward()
    norm = nn.utils.clip_grad_norm_(params, clip)
    opt.step()
    it += 1
    if it % 50 == 0:
        model.eval()
        with torch.no_grad():
            pred = model(vx, vn).argmax(1)
            recall = [(pred[vy == c] == c).float().mean().item() for c in (0, 1)]
        print(f"it {it} loss {loss.item():.4f} norm {norm:.3g} recall {recall[0]:.3f} {recall[1]:.3f}")
print("METRIC", sum(recall) / 2)
