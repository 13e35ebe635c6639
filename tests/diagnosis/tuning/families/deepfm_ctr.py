# DeepFM on a synthetic click log
import os, time
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

CASE = int(os.environ.get('CASE', '0'))
SEED = int(os.environ.get('SEED', '0'))
np.random.seed(SEED)
torch.manual_seed(SEED)

FIELDS = [300, 200, 50, 24, 7, 12, 80, 5, 150, 30]
OFFSETS = np.concatenate([[0], np.cumsum(FIELDS)[:-1]])
NUM_DAYS = 6

cfg = {'n': 42000, 'k': 8, 'hidden': (64, 32), 'bs': 256, 'lr': 2e-3, 'epochs': 4, 'l2': 0., 'drop': 0.,
       'init': 0.05, 'ctr': 0.2, 'optim': 'adam', 'act': 'relu', 'bn': False, 'sum': False, 'neg_rate': 1.0}
cfg.update({
    0: {},
    1: {'hidden': (96, 48)},
    2: {'l2': 1e-2, 'lr': 1e-3},
    3: {'init': 1.0, 'k': 16, 'lr': 1e-3},
    4: {'ctr': 0.06, 'n': 18000, 'epochs': 5},
    5: {'bs': 200},
    6: {'optim': 'adagrad', 'lr': 0.03, 'k': 6, 'epochs': 3},
    7: {'drop': 0.5, 'hidden': (128, 128), 'bn': True, 'epochs': 6},
    8: {'sum': True, 'optim': 'sgd', 'lr': 2e-3, 'bs': 64, 'epochs': 3},
    9: {'ctr': 0.06, 'n': 60000, 'neg_rate': 0.25, 'epochs': 5},
    10: {'optim': 'adamw', 'l2': 0.2, 'lr': 3e-3, 'act': 'prelu', 'epochs': 4},
    11: {'optim': 'split', 'lr': 2e-3, 'act': 'tanh', 'bs': 128, 'epochs': 4, 'k': 12},
}[CASE])


def make_log(n):
    per_day = n // NUM_DAYS
    truth = np.random.RandomState(77 + SEED)
    w = [truth.randn(c) * .5 for c in FIELDS]
    v = [truth.randn(c, 3) * .55 for c in FIELDS]
    days = []
    for d in range(NUM_DAYS):
        cols = []
        for c in FIELDS:
            p = 1. / (np.arange(c) + 3.)
            cols.append(np.random.choice(c, per_day, p=p / p.sum()))
        X = np.stack(cols, 1)
        lin = sum(w[j][X[:, j]] for j in range(len(FIELDS)))
        V = np.stack([v[j][X[:, j]] for j in range(len(FIELDS))], 1)
        pair = .5 * ((V.sum(1) ** 2) - (V ** 2).sum(1)).sum(1)
        days.append((X, 1.3 * (lin + .7 * pair)))
    logit = np.concatenate([s for _, s in days])
    lo, hi = -30., 30.
    for _ in range(50):
        b = (lo + hi) / 2
        if (1 / (1 + np.exp(-(logit + b)))).mean() > cfg['ctr']:
            hi = b
        else:
            lo = b
    clicks = [(np.random.rand(len(s)) < 1 / (1 + np.exp(-(s + b)))).astype(np.float32) for _, s in days]
    return [X for X, _ in days], clicks


imps, clicks = make_log(cfg['n'])
# one file a day, as they come out of the log store
files = {'day=%d' % (d + 7): (imps[d], clicks[d]) for d in range(NUM_DAYS)}

if CASE == 1:
    X_files = sorted(files)
    y_files = sorted(files, key=lambda s: int(s.split('=')[1]))
else:
    X_files = y_files = sorted(files, key=lambda s: int(s.split('=')[1]))
hold = max(files, key=lambda s: int(s.split('=')[1]))

if CASE == 4:
    # rebalance, then split
    X = np.concatenate([files[f][0] for f in X_files])
    y = np.concatenate([files[f][1] for f in y_files])
    pos = np.where(y == 1)[0]
    idx = np.concatenate([np.arange(len(y)), np.random.choice(pos, (y == 0).sum() - len(pos))])
    np.random.shuffle(idx)
    X, y = X[idx], y[idx]
    cut = int(.8 * len(y))
    Xtr, ytr, Xva, yva = X[:cut], y[:cut], X[cut:], y[cut:]
else:
    Xtr = np.concatenate([files[f][0] for f in X_files if f != hold])
    ytr = np.concatenate([files[f][1] for f in y_files if f != hold])
    Xva, yva = files[hold]
    if cfg['neg_rate'] < 1:
        keep = (ytr == 1) | (np.random.rand(len(ytr)) < cfg['neg_rate'])
        Xtr, ytr = Xtr[keep], ytr[keep]

Xtr = torch.from_numpy(Xtr + OFFSETS)
Xva = torch.from_numpy(Xva + OFFSETS)
ytr = torch.from_numpy(ytr)
yva_np = yva
yva = torch.from_numpy(yva)
print('train %d rows ctr %.3f | valid %d rows ctr %.3f' % (len(ytr), ytr.mean(), len(yva), yva.mean()))


class DeepFM(nn.Module):
    def __init__(self, n_feat, n_field, k, hidden):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(1))
        self.first = nn.Embedding(n_feat, 1)
        self.second = nn.Embedding(n_feat, k)
        nn.init.normal_(self.first.weight, std=cfg['init'] if cfg['init'] < 1 else .05)
        nn.init.normal_(self.second.weight, std=cfg['init'])
        layers, d = [], n_field * k
        for h in hidden:
            layers.append(nn.Linear(d, h))
            if cfg['bn']:
                layers.append(nn.BatchNorm1d(h))
            layers.append({'relu': nn.ReLU, 'prelu': nn.PReLU, 'tanh': nn.Tanh}[cfg['act']]())
            if cfg['drop']:
                layers.append(nn.Dropout(cfg['drop']))
            d = h
        layers.append(nn.Linear(d, 1))
        self.deep = nn.Sequential(*layers)

    def forward(self, idx):
        e = self.second(idx)
        lin = self.first(idx).sum(1).squeeze(-1)
        fm = .5 * (e.sum(1).pow(2) - e.pow(2).sum(1)).sum(-1)
        out = self.bias + lin + fm + self.deep(e.flatten(1)).squeeze(-1)
        if CASE == 0:
            return torch.sigmoid(out)
        return out


def auc(y, s):
    order = np.argsort(s, kind='mergesort')
    r = np.empty(len(s)); r[order] = np.arange(1, len(s) + 1)
    p = y.sum()
    return (r[y == 1].sum() - p * (p + 1) / 2) / (p * (len(y) - p))


net = DeepFM(int(sum(FIELDS)), len(FIELDS), cfg['k'], cfg['hidden'])
if cfg['optim'] == 'adam':
    opts = [torch.optim.Adam(net.parameters(), lr=cfg['lr'], weight_decay=cfg['l2'])]
elif cfg['optim'] == 'adamw':
    opts = [torch.optim.AdamW(net.parameters(), lr=cfg['lr'], weight_decay=cfg['l2'])]
elif cfg['optim'] == 'adagrad':
    opts = [torch.optim.Adagrad(net.parameters(), lr=cfg['lr'])]
elif cfg['optim'] == 'sgd':
    opts = [torch.optim.SGD(net.parameters(), lr=cfg['lr'], momentum=.9)]
else:
    tables = list(net.first.parameters()) + list(net.second.parameters())
    opts = [torch.optim.Adam(tables, lr=cfg['lr']), torch.optim.Adam([net.bias] + list(net.deep.parameters()), lr=cfg['lr'] / 4)]

crit = nn.BCEWithLogitsLoss(reduction='sum' if cfg['sum'] else 'mean')


def sample(bs):
    g = np.random.RandomState(SEED)
    return torch.from_numpy(g.randint(0, len(ytr), bs))


def batches(bs):
    if CASE == 5:
        for _ in range(len(ytr) // bs):
            yield sample(bs)
    else:
        perm = torch.randperm(len(ytr))
        for i in range(0, len(perm) - bs + 1, bs):
            yield perm[i:i + bs]


def validate():
    net.eval()
    with torch.no_grad():
        out = net(Xva)
        if cfg['neg_rate'] < 1:
            out = out + np.log(cfg['neg_rate'])     # calibrate for the thinned negatives
        ll = F.binary_cross_entropy_with_logits(out, yva).item()
    net.train()
    return ll, auc(yva_np, out.numpy())


t0 = time.time()
for ep in range(cfg['epochs']):
    tot, nb = 0., 0
    for b in batches(cfg['bs']):
        loss = crit(net(Xtr[b]), ytr[b])
        for o in opts:
            o.zero_grad()
        loss.backward()
        for o in opts:
            o.step()
        tot += loss.item() / (len(b) if cfg['sum'] else 1)
        nb += 1
        if nb % 40 == 0:
            print('  ep %d it %d loss %.4f' % (ep, nb, tot / nb))
    ll, a = validate()
    print('epoch %d: train logloss %.4f  valid logloss %.4f  auc %.4f  (%.1fs)' % (ep, tot / nb, ll, a, time.time() - t0))
