"""
Listings of used tractors: asking price (regression), quick sale (binary), number of inquiries (counts).
Preprocessing by hand in numpy, small MLPs.
"""
import copy
import logging
import os
import sys
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname).1s %(message)s")
log = logging.getLogger("tractors")

BRANDS = ["Deutz", "Fendt", "Claas", "JohnDeere", "Kubota", "NewHolland", "Valtra", "Zetor"]
BRAND_F = np.array([0.95, 1.35, 1.1, 1.2, 0.85, 1.0, 1.05, 0.65])


@dataclass
class Config:
    hidden: int = 64
    depth: int = 2
    lr: float = 2e-3
    batch: int = 64
    epochs: int = 25
    weight_decay: float = 1e-4
    dropout: float = 0.0
    patience: int = 8
    seed: int = SEED


def make_table(n, rng):
    t = {}
    t["brand"] = rng.integers(0, len(BRANDS), n)
    t["year"] = 2023 - np.minimum(rng.gamma(2.5, 4.0, n), 35).round()
    age = 2023 - t["year"]
    t["hp"] = np.clip(rng.normal(120, 45, n), 25, 320).round()
    t["hours"] = np.clip(age * rng.gamma(4, 110, n), 20, None).round()
    t["four_wd"] = (rng.random(n) < 0.3 + 0.5 * (t["hp"] > 90)).astype(float)
    t["front_loader"] = (rng.random(n) < 0.35).astype(float)
    t["cabin"] = (rng.random(n) < 0.8).astype(float)
    t["listing"] = np.array(["L%05d" % k for k in rng.permutation(n)])
    t["seller"] = rng.integers(0, n, n)
    hp, hrs = t["hp"], t["hours"]
    wear = 1 / (1 + np.exp((hrs - 6500) / 1400)) * 0.75 + 0.25
    classic = ((age > 22) & (hp < 90)) * 0.9
    logp = (np.log(420 * hp) + np.log(BRAND_F[t["brand"]]) - 0.045 * np.minimum(age, 20) + np.log(wear) + classic
            + 0.12 * t["four_wd"] + 0.08 * t["front_loader"] * (hp < 130) - 0.1 * (1 - t["cabin"]) + rng.normal(0, 0.16, n))
    t["price"] = np.exp(logp).round(-1)
    fair = logp - rng.normal(0, 0.1, n)
    quick = -2.5 + 1.7 * np.sin(hp / 22.0) + 1.8 * (t["brand"] % 3 == 1) * (hrs < 3000) + 1.0 * classic + 0.6 * rng.normal(size=n)
    t["quick"] = (quick + 0.3 * (fair < 10) > 0).astype(float)
    lam = np.exp(0.1 + 0.5 * (hrs < 2500) + 0.9 * (t["four_wd"] * t["front_loader"]) - 0.7 * ((hp - 110) / 60) ** 2 + 0.9 * (age < 5))
    t["inquiries"] = rng.poisson(np.clip(lam, 0.02, 30)).astype(float)
    for c, share in (("hours", 0.08), ("hp", 0.04)):
        miss = rng.random(n) < share
        t[c] = np.where(miss, np.nan, t[c])
    return t


class Preprocessor:
    """median imputation + missing flags, log hours, z-scores, one-hot brands"""
    num = ["year", "hp", "hours"]

    def fit(self, t, rows):
        self.med = {c: np.nanmedian(t[c][rows]) for c in self.num}
        X = self._numeric(t, rows)
        self.mu, self.sd = X.mean(0), X.std(0) + 1e-8
        return self

    def _numeric(self, t, rows):
        cols = []
        for c in self.num:
            v = np.where(np.isnan(t[c][rows]), self.med[c], t[c][rows])
            cols.append(np.log1p(v) if c == "hours" else v)
        return np.stack(cols, 1)

    def transform(self, t, rows):
        X = (self._numeric(t, rows) - self.mu) / self.sd
        flags = np.stack([np.isnan(t[c][rows]) for c in ("hp", "hours")], 1)
        binary = np.stack([t[c][rows] for c in ("four_wd", "front_loader", "cabin")], 1)
        onehot = np.eye(len(BRANDS))[t["brand"][rows]]
        return np.concatenate([X, flags, binary, onehot], 1).astype(np.float32)


def mlp(d_in, cfg, d_out=1, last=None):
    layers, d = [], d_in
    for _ in range(cfg.depth):
        layers.append(nn.Linear(d, cfg.hidden))
        if CASE != 8:
            layers.append(nn.ReLU())
        if cfg.dropout:
            layers.append(nn.Dropout(cfg.dropout))
        d = cfg.hidden
    layers.append(nn.Linear(d, d_out))
    if last is not None:
        layers.append(last)
    return nn.Sequential(*layers)


def minibatches(n, size, gen):
    perm = torch.randperm(n, generator=gen)
    for k in range(0, n, size):
        yield perm[k:k + size]


def r2(pred, y):
    return float(1 - ((pred - y) ** 2).sum() / ((y - y.mean()) ** 2).sum())


def split(n, rng, frac=(0.6, 0.2)):
    p = rng.permutation(n)
    a, b = int(frac[0] * n), int((frac[0] + frac[1]) * n)
    return p[:a], p[a:b], p[b:]


def train_price(t, cfg, rng, loss_fn=None, n_rows=None):
    n = len(t["price"]) if n_rows is None else n_rows
    tr, va, te = split(n, rng)
    pre = Preprocessor().fit(t, tr)
    X = {k: pre.transform(t, r) for k, r in (("tr", tr), ("va", va), ("te", te))}
    if CASE == 3:
        hp = np.where(np.isnan(t["hp"]), pre.med["hp"], t["hp"])
        ratio = np.log(t["price"] / hp)
        ratio = (ratio - ratio[tr].mean()) / ratio[tr].std()
        X = {k: np.concatenate([X[k], ratio[r][:, None]], 1).astype(np.float32)
             for k, r in (("tr", tr), ("va", va), ("te", te))}
    y = np.log(t["price"])
    mu, sd = y[tr].mean(), y[tr].std()
    T = lambda a: torch.tensor(a, dtype=torch.float32)
    Y = {k: T((y[r] - mu) / sd) for k, r in (("tr", tr), ("va", va), ("te", te))}
    X = {k: T(v) for k, v in X.items()}
    model = mlp(X["tr"].shape[1], cfg, last=nn.ReLU() if CASE == 2 else None)
    if CASE == 9:
        model = model.bfloat16()
        X = {k: v.bfloat16() for k, v in X.items()}
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)
    loss_fn = loss_fn or (lambda p, q: ((p - q) ** 2).mean())
    gen = torch.Generator().manual_seed(cfg.seed)
    best, best_state, wait, step = float("inf"), None, 0, 0
    for ep in range(cfg.epochs):
        model.train()
        run = 0.0
        for idx in minibatches(len(X["tr"]), cfg.batch, gen):
            p = model(X["tr"][idx])
            if CASE != 1:
                p = p.squeeze(1)
            loss = loss_fn(p.float(), Y["tr"][idx])
            opt.zero_grad(); loss.backward(); opt.step()
            run += loss.item() * len(idx)
            step += 1
        model.eval()
        with torch.no_grad():
            vp = model(X["va"]).squeeze(1).float()
            v = ((vp - Y["va"]) ** 2).mean().item()
        if ep % 5 == 0 or ep == cfg.epochs - 1:
            log.info("epoch %3d step %5d train %.4f val mse %.4f r2 %.3f", ep, step, run / len(X["tr"]), v, r2(vp, Y["va"]))
        if v < best:
            best, wait = v, 0
            best_state = model.state_dict() if CASE == 6 else copy.deepcopy(model.state_dict())
        else:
            wait += 1
            if wait >= cfg.patience:
                log.info("stopping after epoch %d", ep)
                break
    model.load_state_dict(best_state)
    with torch.no_grad():
        p = model(X["te"]).squeeze(1).float()
    mape = (torch.exp((p - Y["te"]) * sd) - 1).abs().mean().item()
    log.info("best val mse %.4f", best)
    log.info("TEST r2 %.4f  mape %.3f", r2(p, Y["te"]), mape)
    return r2(p, Y["te"])


def auc(score, y):
    order = np.argsort(score)
    rank = np.empty(len(score)); rank[order] = np.arange(1, len(score) + 1)
    pos = y > 0.5
    return (rank[pos].sum() - pos.sum() * (pos.sum() + 1) / 2) / (pos.sum() * (~pos).sum())


def train_quick(t, cfg, rng):
    n = len(t["quick"])
    rows = rng.permutation(n)
    if CASE == 5:  # balance the two classes
        pos = rows[t["quick"][rows] > 0.5]
        extra = rng.choice(pos, size=n - 2 * len(pos))
        rows = rng.permutation(np.concatenate([rows, extra]))
    cut = int(0.75 * len(rows))
    tr, te = rows[:cut], rows[cut:]
    pre = Preprocessor().fit(t, tr)
    Xtr, Xte = torch.from_numpy(pre.transform(t, tr)), torch.from_numpy(pre.transform(t, te))
    ytr, yte = torch.tensor(t["quick"][tr], dtype=torch.float32), t["quick"][te]
    log.info("quick sales: %.3f of train, %.3f of test", ytr.mean(), yte.mean())
    model = mlp(Xtr.shape[1], cfg)
    w = (1 - ytr.mean()) / ytr.mean()
    crit = nn.BCEWithLogitsLoss(pos_weight=w if CASE == 10 else None)
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)
    gen = torch.Generator().manual_seed(cfg.seed)
    for ep in range(cfg.epochs):
        model.train()
        tot = 0.0
        for idx in minibatches(len(Xtr), cfg.batch, gen):
            loss = crit(model(Xtr[idx]).view(-1), ytr[idx])
            opt.zero_grad(); loss.backward(); opt.step()
            tot += loss.item() * len(idx)
        model.eval()
        with torch.no_grad():
            s = model(Xte).view(-1).numpy()
        hit = (s > 0) & (yte > 0.5)
        prec, rec = hit.sum() / max((s > 0).sum(), 1), hit.sum() / (yte > 0.5).sum()
        if ep % 5 == 0 or ep == cfg.epochs - 1:
            log.info("epoch %3d loss %.4f | test auc %.3f precision %.3f recall %.3f", ep, tot / len(Xtr), auc(s, yte), prec, rec)
    log.info("TEST auc %.4f f1 %.4f", auc(s, yte), 2 * prec * rec / max(prec + rec, 1e-9))


def train_inquiries(t, cfg, rng):
    tr, va, te = split(len(t["price"]), rng)
    pre = Preprocessor().fit(t, tr)
    X = {k: torch.from_numpy(pre.transform(t, r)) for k, r in (("tr", tr), ("te", te))}
    Y = {k: torch.tensor(t["inquiries"][r], dtype=torch.float32) for k, r in (("tr", tr), ("te", te))}
    model = mlp(X["tr"].shape[1], cfg, last=nn.Softplus())
    crit = nn.PoissonNLLLoss() if CASE == 7 else nn.PoissonNLLLoss(log_input=False)
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    gen = torch.Generator().manual_seed(cfg.seed)
    for ep in range(cfg.epochs):
        tot = 0.0
        for idx in minibatches(len(X["tr"]), cfg.batch, gen):
            loss = crit(model(X["tr"][idx]).squeeze(1), Y["tr"][idx])
            opt.zero_grad(); loss.backward(); opt.step()
            tot += loss.item() * len(idx)
        if ep % 5 == 0 or ep == cfg.epochs - 1:
            with torch.no_grad():
                p = model(X["te"]).squeeze(1)
            log.info("epoch %3d nll %.4f | mean predicted %.2f actual %.2f  mae %.3f  r2 %.3f", ep, tot / len(X["tr"]),
                     p.mean(), Y["te"].mean(), (p - Y["te"]).abs().mean(), r2(p, Y["te"]))
    log.info("TEST mae %.4f (always mean: %.4f)", (p - Y["te"]).abs().mean(), (Y["te"] - Y["tr"].mean()).abs().mean())


def crossval_huber(t, cfg, rng, k=4):
    y = np.log(t["price"])
    folds, scores = np.array_split(rng.permutation(len(y)), k), []
    for f in range(k):
        te = folds[f]
        tr = np.concatenate([folds[j] for j in range(k) if j != f])
        pre = Preprocessor().fit(t, tr)
        X, Z = torch.from_numpy(pre.transform(t, tr)), torch.from_numpy(pre.transform(t, te))
        mu, sd = y[tr].mean(), y[tr].std()
        Y = torch.tensor((y[tr] - mu) / sd, dtype=torch.float32)
        net = mlp(X.shape[1], cfg)
        opt = torch.optim.RMSprop(net.parameters(), lr=1e-3)
        gen = torch.Generator().manual_seed(f)
        for ep in range(12):
            for idx in minibatches(len(X), cfg.batch, gen):
                loss = F.smooth_l1_loss(net(X[idx])[:, 0], Y[idx])
                net.zero_grad(set_to_none=True); loss.backward(); opt.step()
        with torch.no_grad():
            p = net(Z)[:, 0].double().numpy() * sd + mu
        scores.append(r2(p, y[te]))
        log.info("fold %d last loss %.4f r2 %.4f", f, loss.item(), scores[-1])
    log.info("TEST r2 %.4f +- %.4f", np.mean(scores), np.std(scores))


def fit_lbfgs(t, cfg, rng):
    tr, va, te = split(len(t["price"]), rng)
    pre = Preprocessor().fit(t, tr)
    y = np.log(t["price"])
    mu, sd = y[tr].mean(), y[tr].std()
    X, Y = torch.from_numpy(pre.transform(t, tr)), torch.tensor((y[tr] - mu) / sd, dtype=torch.float32)
    Z, V = torch.from_numpy(pre.transform(t, te)), torch.tensor((y[te] - mu) / sd, dtype=torch.float32)
    net = nn.Sequential(nn.Linear(X.shape[1], 20), nn.Tanh(), nn.Linear(20, 20), nn.Tanh(), nn.Linear(20, 1))
    opt = torch.optim.LBFGS(net.parameters(), lr=0.8, max_iter=4, history_size=20, line_search_fn="strong_wolfe")

    def closure():
        opt.zero_grad()
        reg = sum((p ** 2).sum() for p in net.parameters())
        loss = ((net(X)[:, 0] - Y) ** 2).mean() + 1e-4 * reg
        loss.backward()
        return loss

    for it in range(70):
        loss = opt.step(closure)
        if it % 10 == 0:
            with torch.no_grad():
                log.info("iter %3d objective %.4f test r2 %.4f", it, loss.item(), r2(net(Z)[:, 0], V))
    with torch.no_grad():
        log.info("TEST r2 %.4f", r2(net(Z)[:, 0], V))


def fit_quantiles(t, cfg, rng, qs=(0.1, 0.5, 0.9)):
    tr, va, te = split(len(t["price"]), rng)
    pre = Preprocessor().fit(t, tr)
    y = np.log(t["price"])
    mu, sd = y[tr].mean(), y[tr].std()
    X, Y = torch.from_numpy(pre.transform(t, tr)), torch.tensor((y[tr] - mu) / sd, dtype=torch.float32)
    Z, V = torch.from_numpy(pre.transform(t, te)), torch.tensor((y[te] - mu) / sd, dtype=torch.float32)
    net = mlp(X.shape[1], cfg, d_out=len(qs))
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=8, T_mult=2)
    q = torch.tensor(qs)
    gen = torch.Generator().manual_seed(cfg.seed)
    for ep in range(24):
        tot = 0.0
        for idx in minibatches(len(X), cfg.batch, gen):
            d = Y[idx, None] - net(X[idx])
            loss = torch.maximum(q * d, (q - 1) * d).sum(1).mean()
            opt.zero_grad(); loss.backward(); opt.step()
            tot += loss.item() * len(idx)
        sched.step()
        if ep % 4 == 3:
            with torch.no_grad():
                o = net(Z)
            log.info("epoch %2d pinball %.4f lr %.4f below %s", ep, tot / len(X), sched.get_last_lr()[0],
                     [round((V[:, None] < o)[:, j].float().mean().item(), 3) for j in range(3)])
    log.info("TEST r2 of the median %.4f, share inside the 80%% band %.3f", r2(o[:, 1], V),
             ((V > o[:, 0]) & (V < o[:, 2])).float().mean())


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed + 17)
    t = make_table(3200, rng)
    if CASE == 4:
        crossval_huber(t, cfg, rng)
    elif CASE in (5, 10):
        cfg.epochs = 40
        if CASE == 10:
            cfg.epochs, cfg.dropout, cfg.weight_decay = 25, 0.2, 1e-3
        train_quick(t, cfg, rng)
    elif CASE == 6:
        cfg.epochs, cfg.patience, cfg.hidden, cfg.lr, cfg.weight_decay = 260, 60, 128, 4e-3, 0.0
        cfg.batch = 32
        train_price(t, cfg, rng, n_rows=260)
    elif CASE in (7,):
        train_inquiries(t, cfg, rng)
    elif CASE == 9:
        cfg.lr, cfg.epochs = 1e-4, 40
        train_price(t, cfg, rng)
    elif CASE == 11:
        fit_lbfgs(t, cfg, rng)
    elif CASE == 12:
        fit_quantiles(t, cfg, rng)
    else:
        train_price(t, cfg, rng)


if __name__ == "__main__":
    main()
