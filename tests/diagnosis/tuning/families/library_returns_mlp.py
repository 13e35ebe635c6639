# Will this loan come back late?  Categorical embeddings + a few numeric columns, plain MLP.
import os
import copy
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED + 40)

N_BORROWERS, N_SHELVES = 350, 60
CATS = ["borrower", "shelf", "branch", "format", "weekday"]
borrower_effect = rng.normal(0, 1.3, N_BORROWERS)
shelf_effect = rng.normal(0, 0.8, N_SHELVES)
branch_effect = rng.normal(0, 0.3, 9)
format_effect = np.array([0.0, 0.5, -0.7, 0.9])


def loans(n, shift):
    t = {
        "borrower": rng.choice(N_BORROWERS, n), "shelf": rng.choice(N_SHELVES, n),
        "branch": rng.choice(9, n), "format": rng.choice(4, n, p=[.55, .2, .15, .1]), "weekday": rng.choice(7, n),
    }
    pages = rng.lognormal(5.6, 0.5, n)
    age = rng.integers(8, 85, n).astype(float)
    queue = rng.poisson(1.2, n).astype(float)
    z = (borrower_effect[t["borrower"]] + shelf_effect[t["shelf"]] + branch_effect[t["branch"]]
         + format_effect[t["format"]] + 0.5 * (np.log(pages) - 5.6) * (1 + (t["format"] == 0))
         - 0.35 * queue - 0.8 * ((age - 40) / 25) ** 2 + 0.5 + shift)
    t["late"] = (rng.random(n) < 1 / (1 + np.exp(-z))).astype(np.float32)
    t["num"] = np.stack([np.log(pages), age, queue], 1)
    t["branch"] = np.array(["B%02d" % b for b in t["branch"]])
    t["borrower"] = np.array(["P%04d" % b for b in t["borrower"]])
    return t


def take(t, idx):
    return {k: v[idx] for k, v in t.items()}


def fit_codes(t):
    """value -> code, in the order of appearance; 0 is kept for unseen values"""
    maps = {}
    for c in CATS:
        m = {}
        for v in t[c].tolist():
            m.setdefault(v, len(m) + 1)
        maps[c] = m
    return maps


def encode(t, maps, scaler, rates):
    cat = np.stack([[maps[c].get(v, 0) for v in t[c].tolist()] for c in CATS], 1)
    num = (t["num"] - scaler[0]) / scaler[1]
    rate = np.array([rates.get(k, rates["all"]) for k in zip(t["borrower"].tolist(), t["shelf"].tolist())])
    num = np.c_[num, (rate - rates["all"]) * 3]
    return torch.tensor(cat), torch.tensor(num, dtype=torch.float32), torch.tensor(t["late"])


def late_rates(t, prior=0.5):
    """smoothed share of late loans for each borrower on each shelf"""
    mean = float(t["late"].mean())
    s, n = {}, {}
    for k, y in zip(zip(t["borrower"].tolist(), t["shelf"].tolist()), t["late"].tolist()):
        s[k] = s.get(k, 0) + y
        n[k] = n.get(k, 0) + 1
    out = {k: (s[k] + prior * mean) / (n[k] + prior) for k in s}
    out["all"] = mean
    return out


class LoanNet(nn.Module):
    def __init__(self, sizes, dims, hidden, p):
        super().__init__()
        start = [torch.randn(n + 1, d) * 0.3 for n, d in zip(sizes, dims)]
        self.emb = nn.ModuleList(
            [nn.Embedding.from_pretrained(w) if CASE == 1 else nn.Embedding.from_pretrained(w, freeze=False)
             for w in start])
        self.mlp = nn.Sequential(
            nn.Linear(sum(dims) + 4, hidden), nn.ReLU(), nn.Dropout(p),
            nn.Linear(hidden, hidden // 2), nn.ReLU(), nn.Dropout(p), nn.Linear(hidden // 2, 1))

    def forward(self, cat, num):
        e = [emb(cat[:, i]) for i, emb in enumerate(self.emb)]
        return self.mlp(torch.cat(e + [num], 1)).squeeze(1)


def auc(score, y):
    order = np.argsort(score, kind="stable")
    rank = np.empty(len(order))
    rank[order] = np.arange(1, len(order) + 1)
    pos = y > 0.5
    return (rank[pos].sum() - pos.sum() * (pos.sum() + 1) / 2) / (pos.sum() * (~pos).sum())


def score(model, data):
    model.eval()
    with torch.no_grad():
        out = model(data[0], data[1])
        loss = F.binary_cross_entropy_with_logits(out, data[2]).item()
    model.train()
    return loss, auc(out.numpy(), data[2].numpy()), out


def train(model, tr, va, epochs, lr, wd, patience=None, pos_weight=None, verbose=True):
    opt = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=wd)
    best, best_state, bad = 0, None, 0
    for ep in range(epochs):
        perm, running = torch.randperm(len(tr[2])), []
        for idx in perm.split(128):
            logit = model(tr[0][idx], tr[1][idx])
            loss = F.binary_cross_entropy_with_logits(logit, tr[2][idx], pos_weight=pos_weight)
            opt.zero_grad()
            loss.backward()
            opt.step()
            running.append(loss.item())
        vl, va_auc, _ = score(model, va)
        if verbose:
            print(f"epoch {ep + 1:3d} train loss {np.mean(running):.4f} val loss {vl:.4f} val AUC {va_auc:.4f}")
        if patience is not None:
            if va_auc > best:
                best, best_state, bad = va_auc, copy.deepcopy(model.state_dict()), 0
            else:
                bad += 1
                if bad >= patience:
                    print("stopping early")
                    break
    if best_state is not None:
        model.load_state_dict(best_state)
    return model


def run_once():
    last_year, this_year, november = loans(8000, 0), loans(8000, 0), loans(3000, 0)
    cut = rng.permutation(8000)
    train_t, val_t = take(this_year, cut[:6000]), take(this_year, cut[6000:])
    maps = fit_codes(train_t)
    scaler = train_t["num"].mean(0), train_t["num"].std(0)
    rates = late_rates(this_year if CASE == 2 else last_year)
    tr = encode(train_t, maps, scaler, rates)
    va = encode(val_t, fit_codes(val_t) if CASE == 3 else maps, scaler, rates)
    sizes = [len(maps[c]) for c in CATS]
    if CASE == 4:
        model = LoanNet(sizes, [32, 16, 8, 4, 4], 256, 0.0)
        train(model, tr, va, 35, 2e-3, 0.0)
    else:
        model = LoanNet(sizes, [8, 6, 3, 2, 2], 64, 0.25)
        train(model, tr, va, 30, 3e-3, 0.05, patience=6)
    print("validation: loss %.4f AUC %.4f" % score(model, va)[:2])
    if CASE == 2 or CASE == 0:
        print("november:   loss %.4f AUC %.4f" % score(model, encode(november, maps, scaler, rates))[:2])


def run_folds(k=4):
    """lost books are rare, so the positives get more weight; one model for each fold"""
    last_year, table = loans(8000, -3.2), loans(8000, -3.2)
    print("positives: %.3f" % table["late"].mean())
    fold = rng.integers(0, k, 8000)
    rates = late_rates(last_year)
    oof = np.zeros(8000)
    for f in range(k):
        train_t, val_t = take(table, fold != f), take(table, fold == f)
        maps = fit_codes(train_t)
        scaler = train_t["num"].mean(0), train_t["num"].std(0)
        tr, va = encode(train_t, maps, scaler, rates), encode(val_t, maps, scaler, rates)
        w = (1 - tr[2].mean()) / tr[2].mean()
        model = LoanNet([len(maps[c]) for c in CATS], [6, 4, 3, 2, 2], 48, 0.3)
        train(model, tr, va, 9, 3e-3, 0.05, pos_weight=w, verbose=False)
        vl, a, out = score(model, va)
        oof[fold == f] = out.numpy()
        hit = (out > 0).numpy()
        y = va[2].numpy() > 0.5
        print(f"fold {f}: AUC {a:.3f}  recall {hit[y].mean():.2f}  precision {y[hit].mean():.2f}")
    print("out-of-fold AUC %.4f" % auc(oof, table["late"]))


if CASE == 5:
    run_folds()
else:
    run_once()
