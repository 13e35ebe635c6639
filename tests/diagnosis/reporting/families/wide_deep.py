import os
import copy
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(SEED)
torch.manual_seed(SEED)

CITIES = ["c%02d" % i for i in range(24)]
city_effect = np.random.default_rng(1).normal(0, 1.3, len(CITIES))


def table(n):
    d = {}
    d["age"] = rng.uniform(18, 80, n)
    d["income"] = np.exp(rng.normal(10, 0.6, n))
    d["visits"] = rng.poisson(0.8, n).astype(float)
    d["city"] = rng.choice(CITIES, n)
    ce = np.array([city_effect[int(c[1:])] for c in d["city"]])
    z = 1.5 * np.sin(d["age"] / 9) + 1.2 * (np.log(d["income"]) - 10) + 0.9 * (d["visits"] > 1) + ce
    shift = -3.6 if CASE in (1, 6) else 0.0
    p = 1 / (1 + np.exp(-2.5 * (z + shift)))
    if CASE == 10:
        p = 0.5 + (p - 0.5) * 0.8
    d["y"] = (rng.uniform(size=n) < p).astype(np.float32)
    d["payout"] = d["y"] * rng.uniform(80, 120, n)
    return d


n_train = 300 if CASE == 10 else 4000
train, test = table(n_train), table(1500)
if CASE == 2:
    m = rng.uniform(size=n_train) < 0.03
    train["income"][m] = 1e12
if CASE == 4:
    codes_train = {c: i for i, c in enumerate(dict.fromkeys(train["city"]))}
    codes_test = {c: i for i, c in enumerate(dict.fromkeys(test["city"]))}
else:
    codes_train = codes_test = {c: i for i, c in enumerate(CITIES)}
num_cols = ["age", "income", "visits"]
if CASE == 3:
    num_cols = num_cols + ["payout"]
    test["payout"] = np.zeros(len(test["y"]))
stats = {c: (train[c].mean(), train[c].std() + 1e-9) for c in num_cols}


def tensors(d, codes):
    num = np.stack([(d[c] - stats[c][0]) / stats[c][1] for c in num_cols], 1)
    if CASE == 2:
        num = np.stack([d["age"] / 50, d["income"] / 3e4, d["visits"]], 1)
    if CASE == 7:
        num = np.concatenate([num, np.zeros((len(num), 30)), np.ones((len(num), 2))], 1)
    cat = np.array([codes[c] for c in d["city"]])
    return torch.tensor(num, dtype=torch.float32), torch.tensor(cat), torch.tensor(d["y"])


xtr, ctr, ytr = tensors(train, codes_train)
xte, cte, yte = tensors(test, codes_test)
N = xtr.shape[1]


class WideDeep(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.wide = nn.Embedding(len(CITIES), 1)
        self.emb = nn.Embedding(len(CITIES), 6)
        self.deep = nn.Sequential(nn.Linear(N + 6, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))
        nn.init.zeros_(self.wide.weight)

    def forward(self, x, c):
        z = self.deep(torch.cat([x, self.emb(c)], 1)).squeeze(1) + self.wide(c).squeeze(1)
        if CASE == 5:
            z = torch.sigmoid(z)
        return z


model = WideDeep(256 if CASE == 10 else 64)
pos_weight = torch.tensor((1 - ytr.mean()) / ytr.mean()) if CASE == 6 else None
crit = nn.BCEWithLogitsLoss(pos_weight=pos_weight)
if CASE == 8:
    opts = [torch.optim.SGD(model.wide.parameters(), lr=0.5),
            torch.optim.AdamW(list(model.emb.parameters()) + list(model.deep.parameters()), lr=3e-3)]
elif CASE in (1, 2):
    opts = [torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9 if CASE == 2 else 0.0)]
else:
    opts = [torch.optim.Adam(model.parameters(), lr=1e-3 if CASE == 6 else 3e-3)]


def score():
    with torch.no_grad():
        z = model(xte, cte)
        loss = F.binary_cross_entropy_with_logits(z, yte).item()
        pred = (z > 0).float()
        tpr = pred[yte == 1].mean().item()
        tnr = 1 - pred[yte == 0].mean().item()
    return loss, 0.5 * (tpr + tnr)


def main():
    best, best_state, bad = 9e9, None, 0
    epochs = {10: 120, 9: 40, 1: 8, 6: 8, 11: 5}.get(CASE, 15)
    for epoch in range(epochs):
        perm = torch.randperm(n_train)
        for idx in perm.split(64):
            if CASE == 11:
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    z = model(xtr[idx], ctr[idx])
                loss = crit(z.float(), ytr[idx])
            else:
                loss = crit(model(xtr[idx], ctr[idx]), ytr[idx])
            for o in opts:
                o.zero_grad()
            loss.backward()
            for o in opts:
                o.step()
        l, ba = score()
        if epoch % (10 if epochs > 50 else 3) == 0 or epoch == epochs - 1:
            print("epoch %d train %.4f test %.4f balanced acc %.3f" % (epoch, loss.item(), l, ba))
        if CASE == 9:
            if l < best:
                best, best_state, bad = l, copy.deepcopy(model.state_dict()), 0
            else:
                bad += 1
                if bad == 4:
                    print("stop at", epoch)
                    break
    if best_state is not None:
        model.load_state_dict(best_state)
    return score()


print("METRIC", main()[1])
