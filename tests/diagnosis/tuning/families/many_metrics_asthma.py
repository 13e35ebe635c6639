import os
import numpy as np
import torch
from torch import nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))


def confusion(y, p):
    return [int(((y == a) & (p == b)).sum()) for a, b in ((1, 1), (0, 1), (0, 0), (1, 0))]


def metrics(y, prob, thr=0.5):
    tp, fp, tn, fn = confusion(y, (prob >= thr).astype(int))
    prec, rec = tp / max(tp + fp, 1), tp / max(tp + fn, 1)
    f1 = 2 * prec * rec / max(prec + rec, 1e-9)
    mcc = (tp * tn - fp * fn) / max(np.sqrt(float(tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)), 1e-9)
    brier = np.mean((prob - y) ** 2)
    order = np.argsort(-prob)
    hits = np.cumsum(y[order])
    ap = (hits / np.arange(1, len(y) + 1))[y[order] == 1].mean()
    bins = np.clip((prob * 10).astype(int), 0, 9)
    ece = sum(abs(prob[bins == b].mean() - y[bins == b].mean()) * (bins == b).mean() for b in range(10) if (bins == b).any())
    return dict(acc=(tp + tn) / len(y), precision=prec, recall=rec, f1=f1, mcc=mcc, brier=brier, ap=ap, ece=ece)


def cohort(n, rng):
    age = rng.uniform(5, 80, n); smoke = rng.binomial(1, .25, n); bmi = rng.normal(26, 4, n)
    fev = rng.normal(3.2, .7, n) - .01 * (age - 40) - .3 * smoke
    eos = rng.gamma(2, 120, n); pollen = rng.exponential(30, n); prev = rng.poisson(.7, n)
    z = -1.9 + .9 * prev + .008 * pollen * (eos > 250) + 1.1 * (fev < 2.4) + .7 * smoke + .04 * np.abs(bmi - 25) + .6 * (age < 14)
    y = rng.binomial(1, 1 / (1 + np.exp(-1.5 * z)))
    return np.stack([age, smoke, bmi, fev, np.log1p(eos), np.log1p(pollen), prev], 1).astype("float32"), y


rng = np.random.default_rng(SEED + 11)
torch.manual_seed(SEED)
Xtr, ytr = cohort(5000, rng)
Xva, yva = cohort(2000, rng)
m, s = Xtr.mean(0), Xtr.std(0)
Xtr, Xva = torch.from_numpy((Xtr - m) / s), torch.from_numpy((Xva - m) / s)
t = torch.from_numpy(ytr).float()
print("prevalence %.3f / %.3f" % (ytr.mean(), yva.mean()))
net = nn.Sequential(nn.Linear(7, 32), nn.ELU(), nn.Dropout(.1), nn.Linear(32, 16), nn.ELU(), nn.Linear(16, 1))
opt = torch.optim.RMSprop(net.parameters(), lr=1e-3)
lossf = nn.BCEWithLogitsLoss()
for epoch in range(1, 11):
    net.train()
    perm = np.random.RandomState(SEED * 100 + epoch).permutation(len(t))
    acc_loss = 0
    for b in range(0, len(perm), 64):
        j = torch.from_numpy(perm[b:b + 64])
        opt.zero_grad()
        l = lossf(net(Xtr[j]).flatten(), t[j])
        l.backward()
        opt.step()
        acc_loss += l.item() * len(j)
    net.eval()
    with torch.no_grad():
        prob = torch.sigmoid(net(Xva).flatten()).numpy()
    print(f"== epoch {epoch}  bce {acc_loss / len(perm):.4f}")
    print("   " + "  ".join(f"{k} {v:.3f}" for k, v in metrics(yva, prob).items()))
