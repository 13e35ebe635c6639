"""k-fold cross-validation and small sweeps of MLPs on a table, all in one process."""
import copy
import itertools
import os

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Subset, TensorDataset

CASE = int(os.environ.get("CASE", "5"))
SEED = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(SEED)
torch.manual_seed(SEED)


def table(n, d=10, rare=False):
    X = rng.normal(size=(n, d)).astype(np.float32)
    s = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.7 * X[:, 3] - 0.5 * np.abs(X[:, 4]) + 0.35
    s = s + 0.15 * rng.normal(size=n)
    y = (s > (1.6 if rare else 0.0)).astype(np.int64)
    # every column has its own unit
    units = np.array([1, 250, 0.02, 40, 3, 1000, 5, 0.5, 12, 80], dtype=np.float32)[:d]
    return X * units + 3 * units, y


class MLP(nn.Module):
    def __init__(self, d, hidden=(64, 32), p=0.1, n_out=2):
        super().__init__()
        layers = []
        for h in hidden:
            layers += [nn.Linear(d, h), nn.ReLU(), nn.Dropout(p)]
            d = h
        self.body = nn.Sequential(*layers)
        self.head = nn.Linear(d, n_out)

    def forward(self, x):
        return self.head(self.body(x))


def kfold(n, k):
    idx = rng.permutation(n)
    parts = np.array_split(idx, k)
    for i in range(k):
        yield np.concatenate([parts[j] for j in range(k) if j != i]), parts[i]


@torch.no_grad()
def score(model, loader):
    model.eval()
    good = total = 0
    for xb, yb in loader:
        good += (model(xb).argmax(1) == yb).sum().item()
        total += len(yb)
    model.train()
    return good / total


def run_fold(model, opt, tr_loader, va_loader, epochs):
    crit = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        running = 0.0
        for xb, yb in tr_loader:
            opt.zero_grad()
            loss = crit(model(xb), yb)
            loss.backward()
            opt.step()
            running += loss.item()
        if epoch % 6 == 5:
            print(f"   epoch {epoch + 1:2d} loss {running / len(tr_loader):.4f} val {score(model, va_loader):.3f}")
    return score(model, va_loader)


def cross_validate(k=4, epochs=18):
    X, y = table(1600)
    Xt, yt = table(1000)
    p = 0.1
    if CASE == 3:
        p = 0.95
    model = MLP(X.shape[1], p=p)
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    accs, tests = [], []
    for fold, (tr, va) in enumerate(kfold(len(X), k)):
        mu, sd = X[tr].mean(0), X[tr].std(0)
        Xn = (X - mu) / sd
        if CASE == 2:
            Xn = X.copy()
            Xn[tr] = (X[tr] - mu) / sd
        data = TensorDataset(torch.from_numpy(Xn), torch.from_numpy(y))
        tr_loader = DataLoader(Subset(data, tr), batch_size=50, shuffle=True)
        va_loader = DataLoader(Subset(data, va), batch_size=200)
        if CASE == 4:
            va_loader = DataLoader(Subset(data, tr[:len(va)]), batch_size=200)
        model = MLP(X.shape[1], p=p)
        if CASE != 1:
            optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
        print("fold", fold)
        accs.append(run_fold(model, optimizer, tr_loader, va_loader, epochs))
        tests.append(score(model, [(torch.from_numpy((Xt - mu) / sd), torch.from_numpy(yt))]))
        print(f"   val acc {accs[-1]:.4f}")
    print("all folds", np.round(accs, 3), "mean %.4f" % np.mean(accs))
    print("test acc of the fold models %.4f" % np.mean(tests))
    print("METRIC cv_acc %.4f" % np.mean(accs))


def standard(X, *others):
    mu, sd = X.mean(0), X.std(0)
    return [torch.from_numpy((a - mu) / sd) for a in (X,) + others]


def sweep():
    """grid over width and weight decay; the best is trained once more, and tested"""
    X, y = table(1500)
    V, yv = table(500)
    T, yt = table(1000)
    X, V, T = standard(X, V, T)
    y, yv, yt = map(torch.from_numpy, (y, yv, yt))

    def fit(width, wd, epochs):
        net = MLP(10, (width, width), p=0.0)
        opt = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9, weight_decay=wd)
        for _ in range(epochs):
            for b in torch.randperm(len(X)).split(32):
                loss = nn.functional.cross_entropy(net(X[b]), y[b], reduction="sum")
                opt.zero_grad()
                loss.backward()
                opt.step()
        return net

    results = {}
    for width, wd in itertools.product((24, 64), (0.0, 1e-3)):
        net = fit(width, wd, 12)
        results[width, wd] = score(net, [(V, yv)])
        print("width", width, "wd", wd, "->", results[width, wd])
    best = max(results, key=results.get)
    net = fit(*best, 15)
    print("best", best)
    print("METRIC acc %.4f" % score(net, [(T, yt)]))


def early_stopping():
    X, y = table(900)
    V, yv = table(300)
    T, yt = table(1000)
    X, V, T = standard(X, V, T)
    y, yv, yt = map(torch.from_numpy, (y, yv, yt))
    tests = []
    for member in range(3):
        torch.manual_seed(SEED * 100 + member)
        net = MLP(10, (96, 96), p=0.2)
        opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=0.02)
        best, best_state, bad, epoch = 1e9, None, 0, 0
        while bad < 6 and epoch < 80:
            net.train()
            for b in torch.randperm(len(X)).split(30):
                opt.zero_grad()
                loss = nn.functional.cross_entropy(net(X[b]), y[b])
                loss.backward()
                opt.step()
            net.eval()
            with torch.no_grad():
                tl = nn.functional.cross_entropy(net(X), y).item()
                vl = nn.functional.cross_entropy(net(V), yv).item()
            epoch += 1
            if vl < best - 1e-4:
                best, bad, best_state = vl, 0, copy.deepcopy(net.state_dict())
            else:
                bad += 1
            if epoch % 5 == 0:
                print(f"member {member} epoch {epoch} train {tl:.3f} val {vl:.3f}")
        net.load_state_dict(best_state)
        tests.append(score(net, [(T, yt)]))
        print("member", member, "stopped after", epoch, "best val", round(best, 4), "test", tests[-1])
    print("METRIC acc %.4f" % np.mean(tests))


def ridge():
    """5-fold choice of the penalty of a linear regression"""
    n, d = 500, 20
    w = rng.normal(size=d) * (rng.random(d) < 0.4)
    X = rng.normal(size=(n, d)).astype(np.float32)
    y = (X @ w + 0.5 * rng.normal(size=n)).astype(np.float32)
    X, y = torch.from_numpy(X), torch.from_numpy(y)[:, None]
    table_ = {}
    for lam in (0.0, 0.01, 0.05):
        r2 = []
        for tr, va in kfold(n, 5):
            lin = nn.Linear(d, 1)
            opt = torch.optim.SGD(lin.parameters(), lr=0.1, weight_decay=lam)
            for i in range(80):
                opt.zero_grad()
                nn.functional.mse_loss(lin(X[tr]), y[tr]).backward()
                opt.step()
            with torch.no_grad():
                r2.append(1 - ((lin(X[va]) - y[va]) ** 2).mean().item() / y[va].var().item())
        table_[lam] = np.mean(r2)
        print("lambda", lam, "r2 %.4f" % table_[lam])
    print("METRIC r2 %.4f" % max(table_.values()))


def joint_ensemble():
    X, y = table(1500)
    T, yt = table(1000)
    X, T = standard(X, T)
    y, yt = torch.from_numpy(y), torch.from_numpy(yt)
    members = nn.ModuleList(MLP(10, (48, 24), p=0.05) for _ in range(5))
    opt = torch.optim.Adam(members.parameters(), lr=3e-3)
    loader = DataLoader(TensorDataset(X, y), batch_size=64, shuffle=True)
    for epoch in range(20):
        members.train()
        for xb, yb in loader:
            losses = [nn.functional.cross_entropy(m(xb), yb) for m in members]
            opt.zero_grad()
            torch.stack(losses).sum().backward()
            opt.step()
        if epoch % 5 == 4:
            print("epoch", epoch + 1, [round(l.item(), 3) for l in losses])
    members.eval()
    with torch.no_grad():
        p = torch.stack([m(T).softmax(1) for m in members]).mean(0)
    print("METRIC acc %.4f" % (p.argmax(1) == yt).float().mean().item())


def rare_random_search():
    """few positives, weighted loss, random search"""
    X, y = table(2500, rare=True)
    V, yv = table(2000, rare=True)
    X, V = standard(X, V)
    y, yv = torch.from_numpy(y).float(), torch.from_numpy(yv)
    pw = (y == 0).sum() / (y == 1).sum()
    print("positives", y.mean().item())
    best = 0.0
    for trial in range(4):
        lr = float(10 ** rng.uniform(-2.8, -2.2))
        width = int(rng.integers(32, 96))
        net = MLP(10, (width, 32), p=0.1, n_out=1)
        opt = torch.optim.Adam(net.parameters(), lr=lr, weight_decay=1e-4)
        crit = nn.BCEWithLogitsLoss(pos_weight=pw)
        for epoch in range(10):
            for b in torch.randperm(len(X)).split(64):
                opt.zero_grad()
                loss = crit(net(X[b]).squeeze(1), y[b])
                loss.backward()
                opt.step()
        net.eval()
        with torch.no_grad():
            pred = (net(V).squeeze(1) > 0).long()
        bal = 0.5 * ((pred[yv == 1] == 1).float().mean() + (pred[yv == 0] == 0).float().mean()).item()
        print(f"trial {trial} lr {lr:.5f} width {width} balanced acc {bal:.4f}")
        best = max(best, bal)
    print("METRIC balanced_acc %.4f" % best)


{6: sweep, 7: early_stopping, 8: ridge, 9: joint_ensemble, 10: rare_random_search}.get(CASE, cross_validate)()
