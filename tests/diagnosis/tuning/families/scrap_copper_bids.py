# price per lot of scrap copper, from the yard's bidding sheet
import os
import numpy as np
import torch
import torch.nn as nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
N_ROWS = 5200
BATCH = 64
EPOCHS = 22


def make_sheet(seed):
    r = np.random.RandomState(seed + 11)
    n = N_ROWS
    t = {}
    t["listed_at"] = 1.60e9 + np.sort(r.uniform(0, 3.1e7, n)) // 60 * 60
    r.shuffle(t["listed_at"])
    t["weight_g"] = np.exp(r.normal(12.2, 0.6, n)).round(-1)
    t["purity"] = r.beta(9, 2, n)
    t["moisture"] = np.abs(r.normal(0.03, 0.02, n))
    t["distance_km"] = r.gamma(2.0, 60.0, n)
    t["n_bidders"] = r.poisson(4, n).astype(float)
    t["yard"] = r.choice(14, n, p=r.dirichlet(np.ones(14) * 3))
    t["grade"] = r.choice(7, n, p=[.25, .2, .18, .13, .11, .08, .05])
    t["buyer"] = r.randint(0, 4, n)
    yard_eff = r.normal(0, 0.28, 14)
    grade_eff = np.array([0.0, 0.35, -0.3, 0.5, -0.55, 0.15, -0.15])
    inter = r.normal(0, 0.22, (7, 4))
    season = 0.2 * np.sin((t["listed_at"] - 1.6e9) / 3.1e7 * 2 * np.pi)
    logp = (5.0 + 0.55 * (np.log(t["weight_g"]) - 12.2) + 1.6 * (t["purity"] - .8)
            - 3.0 * t["moisture"] * (t["grade"] > 2) - 0.0011 * t["distance_km"]
            + 0.07 * np.minimum(t["n_bidders"], 6) + yard_eff[t["yard"]] + grade_eff[t["grade"]]
            + inter[t["grade"], t["buyer"]] + season + r.normal(0, 0.24, n))
    t["price"] = np.exp(logp)
    t["broker_fee"] = 0.035 * t["price"] * np.exp(r.normal(0, 0.04, n))
    return t


NUMERIC = ["listed_at", "weight_g", "purity", "moisture", "distance_km", "n_bidders"]
if CASE == 5:
    NUMERIC = NUMERIC + ["broker_fee"]
CATEG = [("yard", 14), ("grade", 7), ("buyer", 4)]
TO_SCALE = [c for c in NUMERIC if not (CASE == 3 and c in ("listed_at", "weight_g"))]


def arrays(t):
    y = np.log(t["price"])
    order = np.argsort(t["listed_at"], kind="stable")
    num = np.stack([t[c] for c in NUMERIC], 1)[order]
    cat = np.stack([t[c] for c, _ in CATEG], 1)[order]
    if CASE != 2:
        y = y[order]
    return num.astype(np.float64), cat.astype(np.int64), y


class BidNet(nn.Module):
    def __init__(self, n_num, hidden=64, dim=2):
        super().__init__()
        tables = [nn.Embedding(k, dim) for _, k in CATEG]
        stack = []
        width = n_num + dim * len(tables)
        for _ in range(2):
            stack += [nn.Linear(width, hidden), nn.ReLU()]
            width = hidden
        if CASE == 4:
            self.tables, self.stack = tables, stack
        else:
            self.tables, self.stack = nn.ModuleList(tables), nn.ModuleList(stack)
        self.head = nn.Linear(width, 1)

    def forward(self, num, cat):
        parts = [num] + [e(cat[:, j]) for j, e in enumerate(self.tables)]
        h = torch.cat(parts, 1)
        for layer in self.stack:
            h = layer(h)
        return self.head(h)


def scale_fit(num):
    mu, sd = np.zeros(num.shape[1]), np.ones(num.shape[1])
    for j, c in enumerate(NUMERIC):
        if c in TO_SCALE:
            mu[j], sd[j] = num[:, j].mean(), num[:, j].std() + 1e-9
    return mu, sd


def tens(num, cat, y, mu, sd, ym, ys):
    return (torch.tensor((num - mu) / sd, dtype=torch.float32), torch.tensor(cat),
            torch.tensor((y - ym) / ys, dtype=torch.float32))


def r2_mape(net, data, ym, ys):
    with torch.no_grad():
        p = net(data[0], data[1]).numpy().ravel() * ys + ym
    y = data[2].numpy() * ys + ym
    r2 = 1 - ((p - y) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    mape = np.mean(np.abs(np.exp(np.clip(p, -20, 20)) / np.exp(y) - 1))
    return r2, mape


def fit(train, valid, seed, epochs, ym, ys, name=""):
    torch.manual_seed(seed)
    rs = np.random.RandomState(seed)
    net = BidNet(train[0].shape[1])
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    n = len(train[2])
    step = 0
    for ep in range(epochs):
        perm = rs.permutation(n)
        tot = 0.0
        for i in range(0, n - BATCH + 1, BATCH):
            ix = torch.from_numpy(perm[i:i + BATCH])
            num, cat, y = train[0][ix], train[1][ix], train[2][ix]
            out = net(num, cat)
            if CASE != 1:
                out = out.squeeze(1)
            loss = ((out - y) ** 2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item()
            step += 1
        r2, mape = r2_mape(net, valid, ym, ys)
        if ep % 2 == 1 or ep == epochs - 1:
            print(f"{name}epoch {ep:2d} step {step:4d} train mse {tot / (n // BATCH):.4f}  valid R2 {r2:.3f}  MAPE {mape:.3f}")
    return net, r2


def single_split(num, cat, y):
    rs = np.random.RandomState(5)
    p = rs.permutation(len(y))
    a, b = p[:4200], p[4200:]
    mu, sd = scale_fit(num[a])
    ym, ys = y[a].mean(), y[a].std()
    tr = tens(num[a], cat[a], y[a], mu, sd, ym, ys)
    va = tens(num[b], cat[b], y[b], mu, sd, ym, ys)
    net, r2 = fit(tr, va, SEED, EPOCHS, ym, ys)
    print("final valid R2 %.3f" % r2)


def huber_folds(num, cat, y, k=3):
    # small-sample check: k folds, one fresh net each, embeddings on a rate of their own
    rs = np.random.RandomState(5)
    parts = np.array_split(rs.permutation(len(y))[:2400], k)
    scores = []
    for f in range(k):
        b = parts[f]
        a = np.concatenate([parts[g] for g in range(k) if g != f])
        mu, sd = scale_fit(num[a])
        ym, ys = y[a].mean(), y[a].std()
        tr = tens(num[a], cat[a], y[a], mu, sd, ym, ys)
        va = tens(num[b], cat[b], y[b], mu, sd, ym, ys)
        torch.manual_seed(SEED + f)
        net = BidNet(tr[0].shape[1], hidden=48, dim=4)
        emb = [q for e in net.tables for q in e.parameters()]
        rest = [q for q in net.parameters() if not any(q is w for w in emb)]
        opt_e = torch.optim.Adagrad(emb, lr=0.05)
        opt_n = torch.optim.AdamW(rest, lr=3e-3, weight_decay=1e-2)
        steps = 0
        for ep in range(16):
            perm = torch.from_numpy(rs.permutation(len(a)))
            for ix in perm.split(32):
                pred = net(tr[0][ix], tr[1][ix])[:, 0]
                loss = nn.functional.smooth_l1_loss(pred, tr[2][ix], beta=0.5)
                for o in (opt_e, opt_n):
                    o.zero_grad(set_to_none=True)
                loss.backward()
                nn.utils.clip_grad_norm_(net.parameters(), 1.0)
                opt_e.step()
                opt_n.step()
                steps += 1
                if steps % 200 == 0:
                    print(f"fold {f} step {steps} loss {loss.item():.4f}")
        r2, mape = r2_mape(net, va, ym, ys)
        scores.append(r2)
        print(f"fold {f}: R2 {r2:.3f} MAPE {mape:.3f}")
    print("mean R2 %.3f +- %.3f" % (np.mean(scores), np.std(scores)))


if __name__ == "__main__":
    num, cat, y = arrays(make_sheet(SEED))
    if CASE == 6:
        huber_folds(num, cat, y)
    else:
        single_split(num, cat, y)
