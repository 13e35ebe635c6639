import os
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(SEED)
torch.manual_seed(SEED)

CARDS = [200, 30, 7]
effects = [rng.normal(0, 1.5, c) for c in CARDS]


def table(n, shift=0.0):
    cat = np.stack([np.minimum(rng.geometric(6 / c, n) - 1, c - 1) for c in CARDS], 1)
    num = rng.normal(0, 1, (n, 4))
    score = sum(effects[j][cat[:, j]] for j in range(3)) + 1.2 * num[:, 0] - num[:, 1] * num[:, 2] + shift
    y = (score > 0).astype(np.float32)
    return cat, num, y


shift = -3.5 if CASE in (2, 8) else 0.0
cat, num, y = table(6000, shift)
vcat, vnum, vy = table(1500, shift)
if CASE == 1:
    num = np.concatenate([num, (y + rng.normal(0, 0.01, len(y)))[:, None]], 1)
    vnum = np.concatenate([vnum, rng.normal(0.5, 0.5, (len(vy), 1))], 1)
if CASE == 4:
    flip = rng.random(len(y)) < 0.47
    y = np.where(flip, 1 - y, y).astype(np.float32)


class Wide(nn.Module):
    def __init__(self, n_num, dim=8):
        super().__init__()
        self.embs = nn.ModuleList([nn.Embedding(c, dim, sparse=CASE == 7) for c in CARDS])
        if CASE == 5:
            self.embs = nn.ModuleList([nn.Embedding.from_pretrained(torch.randn(c, 1) * 1e-3) for c in CARDS])
            dim = 1
        self.body = nn.Sequential(nn.Linear(3 * dim + n_num, 48), nn.ReLU(), nn.Dropout(0.1), nn.Linear(48, 48),
                                  nn.ReLU(), nn.Linear(48, 1))

    def forward(self, cat, num):
        e = [m(cat[:, j]) for j, m in enumerate(self.embs)]
        z = self.body(torch.cat(e + [num], 1)).squeeze(1)
        return torch.sigmoid(z) if CASE in (3, 9) else z


def tensors(c, n, t):
    return torch.from_numpy(c), torch.from_numpy(n).float(), torch.from_numpy(t)


train = TensorDataset(*tensors(cat, num, y))
valid = tensors(vcat, vnum, vy)
sampler = None
if CASE == 8:
    w = np.where(y > 0, 0.5 / y.mean(), 0.5 / (1 - y.mean()))
    sampler = WeightedRandomSampler(torch.from_numpy(w), len(y))
loader = DataLoader(train, batch_size=100, shuffle=sampler is None, sampler=sampler)
model = Wide(num.shape[1])
half = CASE == 11
if half:
    model = model.to(torch.bfloat16)
loss_fn = nn.BCELoss() if CASE == 9 else nn.BCEWithLogitsLoss()
opts = [torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=4e-3 if CASE not in (11, 13) else 2e-4)]
if CASE == 3:
    opts = [torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)]
if CASE == 10:
    opts = [torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)]
if CASE == 7:
    opts = [torch.optim.SparseAdam(list(model.embs.parameters()), lr=1e-2),
            torch.optim.Adam(model.body.parameters(), lr=4e-3)]


print("positives", round(float(y.mean()), 4))


def evaluate():
    model.eval()
    with torch.no_grad():
        out = model(valid[0], valid[1].bfloat16() if half else valid[1])
        pred = out > (0.5 if CASE in (3, 9) else 0.0)
        t = valid[2] > 0.5
        tpr = (pred & t).sum().item() / max(1, t.sum().item())
        tnr = (~pred & ~t).sum().item() / max(1, (~t).sum().item())
    model.train()
    return (tpr + tnr) / 2, tpr


for epoch in range(14 if CASE in (11, 13) else 7):
    s = 0.0
    for c, n, t in loader:
        for o in opts:
            o.zero_grad()
        if half:
            loss = loss_fn(model(c, n.bfloat16()).float(), t)
        elif CASE == 12:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                out = model(c, n)
            loss = loss_fn(out.float(), t)
        else:
            loss = loss_fn(model(c, n), t)
        loss.backward()
        for o in opts:
            o.step()
        s += loss.detach() * len(t)
    b, tpr = evaluate()
    print("epoch %d  loss %.4f  balanced accuracy %.4f  recall %.4f" % (epoch, s / len(train), b, tpr))
print("METRIC", b)
