"""Cost and time-to-event models for the claims table (quantiles of cost, Cox / Weibull for time)."""
import copy
import os
import numpy as np
import torch
import torch.nn as nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))


def claims(n, rng, zero_days=0.0):
    age = rng.uniform(18, 85, n)
    bmi = rng.lognormal(3.25, 0.2, n)
    visits = rng.poisson(3, n)
    lab = rng.normal(0, 1, (n, 5))
    smoker = rng.integers(0, 2, n)
    X = np.column_stack([age, bmi, visits, smoker, lab])
    a = (age - 50) / 20
    eta = 0.8 * a + 0.7 * smoker * lab[:, 0] - 0.8 * np.abs(lab[:, 1]) + 0.5 * a * lab[:, 2] + 0.15 * (visits - 3)
    cost = np.exp(8.5 + 0.9 * eta + (0.3 + 0.15 * smoker) * rng.normal(size=n))
    t = rng.weibull(1.5, n) * np.exp(-eta / 1.0) * 400
    # leavers: those in good health move away sooner
    c = rng.exponential(1.0, n) * 300 * np.exp(1.2 * eta)
    days, event = np.minimum(t, c), (t <= c).astype(float)
    days = np.ceil(days)
    if zero_days:
        days[rng.random(n) < zero_days] = 0.0
    return [torch.tensor(v, dtype=torch.float32) for v in (X, cost, days, event)]


def standardise(Xtr, *others):
    m, s = Xtr.mean(0), Xtr.std(0)
    return [(x - m) / s for x in (Xtr,) + others]


def mlp(n_in, n_out, width=64, depth=2, act=nn.ReLU, drop=0.0, norm=None):
    mods, d = [], n_in
    for _ in range(depth):
        mods.append(nn.Linear(d, width))
        if norm is not None:
            mods.append(norm(width))
        mods.append(act())
        if drop:
            mods.append(nn.Dropout(drop))
        d = width
    return nn.Sequential(*mods, nn.Linear(d, n_out))


# ------------------------------------------------------------------ losses
def cox_loss(log_h, days, event):
    R = (days[None, :] >= days[:, None]).float()
    hazard = log_h.reshape(-1)
    if CASE == 0:
        event = event.unsqueeze(1)
    m = hazard.max().detach()
    log_risk = torch.log((torch.exp(hazard - m) * R).sum(1)) + m
    return -((hazard - log_risk) * event).mean()


def cox_sorted(log_h, days, event):
    order = torch.argsort(days, descending=True)
    h, e = log_h.squeeze(1)[order], event[order]
    return -((h - torch.logcumsumexp(h, 0)) * e).sum() / e.sum().clamp(min=1)


def weibull_nll(out, days, event):
    log_scale, log_k = out[:, 0] + 5.5, out[:, 1]
    k = log_k.exp()
    t = days if CASE == 1 else days.clamp(min=0.5)
    z = torch.log(t) - log_scale
    return (torch.exp(k * z) - event * (log_k + (k - 1) * z - log_scale)).mean()


class Pinball(nn.Module):
    def __init__(self, taus):
        super().__init__()
        self.register_buffer("taus", torch.tensor(taus))

    def forward(self, pred, y):
        err = pred - y.unsqueeze(1) if CASE == 3 else y.unsqueeze(1) - pred
        return torch.maximum(self.taus * err, (self.taus - 1) * err).mean()


# ------------------------------------------------------------------ scores
def concordance(h, days, event):
    earlier = (days[:, None] < days[None, :]) & (event[:, None] == 1)
    h = h.reshape(-1)
    good = (h[:, None] > h[None, :]).float() + 0.5 * (h[:, None] == h[None, :]).float()
    return (good * earlier).sum().item() / earlier.sum().item()


def coverage(pred, y):
    return ["%.2f" % v for v in (y.unsqueeze(1) <= pred).float().mean(0).tolist()]


def run_cox(n, batch, epochs, lr, loss_fn, make_opt, clip=None, **kw):
    rng = np.random.default_rng(SEED)
    X, _, days, event = claims(n + 1000, rng)
    Xtr, Xva = standardise(X[:n], X[n:])
    net = mlp(9, 1, **kw)
    opt = make_opt(net.parameters(), lr)
    for ep in range(epochs):
        net.train()
        tot, k = 0.0, 0
        for idx in torch.randperm(n).split(batch):
            if len(idx) < batch:
                continue
            loss = loss_fn(net(Xtr[idx]), days[idx], event[idx])
            opt.zero_grad()
            loss.backward()
            if clip:
                nn.utils.clip_grad_norm_(net.parameters(), clip)
            opt.step()
            tot, k = tot + loss.item(), k + 1
        net.eval()
        with torch.no_grad():
            ci = concordance(net(Xva), days[n:], event[n:])
        if ep % 4 == 0 or ep == epochs - 1:
            print(f"epoch {ep:3d}  loss {tot / k:.4f}  c-index {ci:.4f}")


def run_weibull(n, batch, epochs, lr, zero_days=0.0, **kw):
    rng = np.random.default_rng(SEED)
    X, _, days, event = claims(n + 1000, rng, zero_days)
    Xtr, Xva = standardise(X[:n], X[n:])
    net = mlp(9, 2, **kw)
    nn.init.zeros_(net[-1].weight)
    opt = torch.optim.Adam(net.parameters(), lr=lr)
    for ep in range(epochs):
        tot, k = 0.0, 0
        for idx in torch.randperm(n).split(batch):
            loss = weibull_nll(net(Xtr[idx]), days[idx], event[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot, k = tot + loss.item(), k + 1
        with torch.no_grad():
            ci = concordance(-net(Xva)[:, 0], days[n:], event[n:])
        if ep % 4 == 0 or ep == epochs - 1:
            print(f"epoch {ep:3d}  nll {tot / k:.4f}  c-index {ci:.4f}")


def run_quantiles(n, batch, epochs, lr, taus, target="log", clip=None, opt="adam", sched=False, patience=None, **kw):
    rng = np.random.default_rng(SEED)
    X, cost, _, _ = claims(n + 1000, rng)
    Xtr, Xva = standardise(X[:n], X[n:])
    if target == "log":
        fwd, back = torch.log, torch.exp
    elif target == "scaled":
        s = cost[:n].median()
        fwd, back = (lambda v: v / s), (lambda v: v * s)
    else:
        fwd = back = lambda v: v
    y, yva = fwd(cost[:n]), fwd(cost[n:])
    if target == "log":
        mu, sd = y.mean(), y.std()
        y, yva = (y - mu) / sd, (yva - mu) / sd
        to_money = lambda q: back(q * sd + mu)
    else:
        to_money = back
    net = mlp(9, len(taus), **kw)
    crit = Pinball(taus)
    o = torch.optim.Adam(net.parameters(), lr=lr) if opt == "adam" else torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)
    sc = torch.optim.lr_scheduler.CosineAnnealingLR(o, epochs) if sched else None
    best, stale, keep = float("inf"), 0, None
    for ep in range(epochs):
        net.train()
        tot = 0.0
        for idx in torch.randperm(n).split(batch):
            loss = crit(net(Xtr[idx]), y[idx])
            o.zero_grad()
            loss.backward()
            if clip:
                nn.utils.clip_grad_norm_(net.parameters(), clip)
            o.step()
            tot += loss.item() * len(idx)
        if sc:
            sc.step()
        net.eval()
        with torch.no_grad():
            q = net(Xva)
            vl = crit(q, yva).item()
        if ep % 4 == 0 or ep == epochs - 1:
            mae = (to_money(q[:, len(taus) // 2]) - cost[n:]).abs().median().item()
            print(f"epoch {ep:3d}  train {tot / n:.4f}  valid {vl:.4f}  below {coverage(q, yva)}  median abs error {mae:.0f}")
        if patience:
            if vl < best - 1e-4:
                best, stale, keep = vl, 0, copy.deepcopy(net.state_dict())
            else:
                stale += 1
            if stale >= patience:
                net.load_state_dict(keep)
                print(f"stopped after epoch {ep}, best valid {best:.4f}")
                break


def run_folds(n, epochs, lr, folds=4, batch=64, **kw):
    """Cross-validated Cox model."""
    rng = np.random.default_rng(SEED)
    X, _, days, event = claims(n, rng)
    part = torch.arange(n) % folds
    net = mlp(9, 1, **kw)
    opt = torch.optim.Adam(net.parameters(), lr=lr)
    scores = []
    for f in range(folds):
        if f > 0:
            net = mlp(9, 1, **kw)
            if CASE != 5:
                opt = torch.optim.Adam(net.parameters(), lr=lr)
        tr, va = torch.where(part != f)[0], torch.where(part == f)[0]
        A, B = standardise(X[tr], X[va])
        for ep in range(epochs):
            tot, k = 0.0, 0
            for idx in torch.randperm(len(tr)).split(batch):
                loss = cox_sorted(net(A[idx]), days[tr][idx], event[tr][idx])
                net.zero_grad()
                loss.backward()
                opt.step()
                tot, k = tot + loss.item(), k + 1
            if ep % 3 == 0:
                print(f"fold {f} epoch {ep} loss {tot / k:.4f}")
        with torch.no_grad():
            scores.append(concordance(net(B), days[va], event[va]))
        print(f"fold {f} c-index {scores[-1]:.4f}")
    print(f"mean c-index {np.mean(scores):.4f}")


def adam(p, lr):
    return torch.optim.Adam(p, lr=lr)


def adamw(p, lr):
    return torch.optim.AdamW(p, lr=lr, weight_decay=0.05)


if __name__ == "__main__":
    torch.manual_seed(SEED)
    if CASE == 0:
        run_cox(9000, 128, 24, 1e-3, cox_loss, adam)
    elif CASE == 1:
        run_weibull(12000, 64, 10, 1e-3, zero_days=0.0006)
    elif CASE == 2:
        run_quantiles(4000, 128, 30, 5e-4, [0.1, 0.5, 0.9], target="money", width=128)
    elif CASE == 3:
        run_quantiles(10000, 128, 24, 2e-3, [0.25, 0.5, 0.95])
    elif CASE == 4:
        run_quantiles(10000, 100, 20, 0.02, [0.1, 0.5, 0.9], clip=1e-3, opt="sgd")
    elif CASE == 5:
        run_folds(4000, 8, 2e-3)
    elif CASE == 6:
        run_cox(8000, 32, 10, 1e-3, cox_loss, adamw, clip=1.0, act=nn.SiLU)
    elif CASE == 7:
        run_weibull(12000, 128, 20, 1e-3, zero_days=0.002, width=48)
    elif CASE == 8:
        run_quantiles(10000, 128, 30, 2e-3, [0.1, 0.5, 0.9], target="scaled", sched=True, act=nn.ELU)
    elif CASE == 9:
        run_quantiles(5000, 50, 30, 0.05, [0.05, 0.5, 0.95], opt="sgd", clip=1.0, sched=True, act=nn.Tanh)
    elif CASE == 10:
        run_folds(5000, 9, 2e-3, folds=3, drop=0.2, act=nn.GELU)
    elif CASE == 11:
        run_quantiles(6000, 64, 60, 2e-3, [0.5], drop=0.1, norm=nn.LayerNorm, patience=6)
