"""Next-day returns: a few per cent of the variance can be explained at best. Walk forward through time, refit each year, small net, strong decay."""
import os, numpy as np, torch, torch.nn as nn
CASE = int(os.environ.get("CASE", "0")); SEED = int(os.environ.get("SEED", "0"))
r = np.random.default_rng(SEED); torch.manual_seed(SEED)
DAYS, NAMES = 250 * 6, 20
f = r.standard_normal((DAYS, NAMES, 6)).astype("f4")
for d in range(1, DAYS): f[d] = .9 * f[d - 1] + .436 * f[d]                       # slow signals
signal = .12 * f[..., 0] - .09 * f[..., 1] + .09 * np.tanh(2 * f[..., 2]) * (f[..., 3] > 0)
ret = (signal + r.standard_t(5, (DAYS, NAMES)) * .77).astype("f4")
X, Y = torch.from_numpy(f), torch.from_numpy(ret)
def fit(hi):
    x, y = X[:hi].flatten(0, 1), Y[:hi].flatten()
    net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1)); nn.init.zeros_(net[2].weight); nn.init.zeros_(net[2].bias)
    opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=.1); crit = nn.HuberLoss(delta=1.5)
    for ep in range(3):
        tot = n = 0
        for i in torch.randperm(len(x)).split(250):
            l = crit(net(x[i])[:, 0], y[i]); opt.zero_grad(); l.backward(); opt.step(); tot += l.item(); n += 1
        print(f"  data up to day {hi} epoch {ep} huber {tot/n:.4f} (predicting nought {crit(torch.zeros_like(y), y).item():.4f})")
    return net
preds, best = [], []
for year in range(2, 6):
    lo, hi = year * 250, (year + 1) * 250
    net = fit(lo)
    with torch.no_grad(): p = net(X[lo:hi])[..., 0]
    y = Y[lo:hi]; ic = np.mean([np.corrcoef(p[d], y[d])[0, 1] for d in range(250)])
    preds.append(p); s = torch.from_numpy(signal[lo:hi].astype("f4"))
    print(f"year {year}: out-of-sample R2 {1-((p-y)**2).sum()/(y**2).sum():.4f} (perfect knowledge {1-((s-y)**2).sum()/(y**2).sum():.4f}) daily IC {ic:.3f} share of signs right {((p>0)==(y>0)).float().mean():.3f}")
