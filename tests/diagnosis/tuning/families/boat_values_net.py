"""Predict the asking price of used boats from the listing."""
import copy
import os

import numpy as np
import torch
from torch import nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
COLUMNS = ["length_m", "beam_m", "year", "engine_hp", "engine_hours", "berths", "sail_area", "dist_coast_km", "owners"]


def load_listings(n, seed):
    r = np.random.default_rng(seed)
    kind = r.integers(0, 4, n)                                   # sail, motor, rib, trawler
    length = np.clip(r.gamma(9, 1.0, n) + np.array([2, 1, -2, 3])[kind], 3.5, 22)
    beam = 0.27 * length + 0.7 + r.normal(0, 0.2, n)
    year = 2024 - np.clip(r.gamma(2.2, 8, n), 0, 60)
    hp = np.exp(r.normal(0, 0.4, n)) * length * np.array([3, 22, 18, 12])[kind]
    hours = np.clip(r.gamma(2, 30, n) * (2025 - year), 0, 12000)
    berths = np.clip(np.round(length / 2.2 - 1 + r.normal(0, 0.7, n)), 0, 10)
    sail = np.where(kind == 0, 0.75 * length ** 1.9 * r.uniform(0.8, 1.2, n) / 2, 0)
    dist = r.exponential(60, n)
    owners = 1 + r.poisson(np.clip((2024 - year) / 9, 0, 6))
    logp = (2.4 * np.log(length) + np.array([5.6, 5.9, 5.7, 5.5])[kind] - 0.045 * (2024 - year) * (1 + 0.3 * (kind == 1))
            + 0.0004 * hp - 0.00008 * hours + 0.18 * np.sin(dist / 30) - 0.03 * owners
            + 0.25 * (year > 2015) * (kind == 2) + r.normal(0, 0.2, n))
    price = np.exp(logp)
    table = np.stack([length, beam, year, hp, hours, berths, sail, dist, owners], 1)
    return table, kind, price


def features(table, kind, price):
    cols = [table, np.eye(4)[kind]]
    if CASE == 2:
        typical = np.array([np.median(price[kind == k]) for k in range(4)])
        cols.append((price / typical[kind])[:, None])
        cols.append((price / table[:, 0])[:, None])
    return np.concatenate(cols, 1)


class BoatRegressor:
    """fit / predict like the estimators we had before"""

    def __init__(self, hidden=(64, 64), lr=2e-3, epochs=20, batch_size=40, standardize=True, weight_decay=1e-4,
                 patience=None, loss=None, outputs=1):
        self.hidden, self.lr, self.epochs, self.batch_size = hidden, lr, epochs, batch_size
        self.standardize, self.weight_decay, self.patience = standardize, weight_decay, patience
        self.loss, self.outputs = loss or nn.MSELoss(), outputs

    def _prep(self, x):
        if self.standardize:
            x = (x - self.mx) / self.sx
        return torch.tensor(x, dtype=torch.float32)

    def fit(self, x, price, x_val, price_val, verbose=True):
        y = np.log(price)
        self.mx, self.sx, self.my, self.sy = x.mean(0), x.std(0) + 1e-9, y.mean(), y.std()
        xt, xv = self._prep(x), self._prep(x_val)
        yt = torch.tensor((y - self.my) / self.sy, dtype=torch.float32)
        yv = torch.tensor((np.log(price_val) - self.my) / self.sy, dtype=torch.float32)
        if CASE != 3:
            yt, yv = yt[:, None], yv[:, None]
        sizes = [x.shape[1], *self.hidden]
        layers = []
        for a, b in zip(sizes[:-1], sizes[1:]):
            layers += [nn.Linear(a, b), nn.ReLU()]
        self.net = nn.Sequential(*layers, nn.Linear(sizes[-1], self.outputs))
        opt = torch.optim.Adam(self.net.parameters(), lr=self.lr, weight_decay=self.weight_decay)
        best, kept, bad = float("inf"), None, 0
        for epoch in range(self.epochs):
            self.net.train()
            order, run = torch.randperm(len(xt)), []
            for i in range(0, len(xt), self.batch_size):
                j = order[i:i + self.batch_size]
                loss = self.loss(self.net(xt[j]), yt[j])
                opt.zero_grad()
                loss.backward()
                opt.step()
                run.append(loss.item())
            self.net.eval()
            with torch.no_grad():
                val = self.loss(self.net(xv), yv).item()
            if verbose and (epoch + 1) % max(1, self.epochs // 10) == 0:
                print(f"epoch {epoch + 1:3d} train {np.mean(run):.4f} val {val:.4f}")
            if self.patience is not None:
                if val < best - 1e-4:
                    best, kept, bad = val, copy.deepcopy(self.net.state_dict()), 0
                else:
                    bad += 1
                    if bad >= self.patience:
                        print(f"stopped after {epoch + 1} epochs, best val {best:.4f}")
                        break
        if kept is not None:
            self.net.load_state_dict(kept)
        return self

    def predict(self, x):
        self.net.eval()
        with torch.no_grad():
            out = self.net(self._prep(x)).numpy()
        return np.exp(out * self.sy + self.my)


def pinball(qs):
    q = torch.tensor(qs)

    def loss(pred, target):
        d = target - pred
        return torch.maximum(q * d, (q - 1) * d).mean()

    return loss


def report(price, pred):
    e = np.log(price) - np.log(pred)
    r2 = 1 - (e ** 2).sum() / ((np.log(price) - np.log(price).mean()) ** 2).sum()
    print(f"R2 (log price) {r2:.4f}   median abs error {100 * np.median(np.abs(np.exp(-e) - 1)):.1f} %")


def main():
    torch.manual_seed(SEED)
    table, kind, price = load_listings(4000, SEED + 31)
    x = features(table, kind, price)
    n_train = 160 if CASE == 4 else 3000
    xt, pt, xv, pv = x[:n_train], price[:n_train], x[3200:], price[3200:]

    if CASE == 1:
        qs = [0.1, 0.5, 0.9]
        reg = BoatRegressor(hidden=(80, 40), lr=1e-3, epochs=60, patience=6, loss=pinball(qs), outputs=3)
        reg.fit(xt, pt, x[2800:3200], price[2800:3200])
        p = reg.predict(xv)
        print("coverage of the 80 %% band: %.3f" % ((pv > p[:, 0]) & (pv < p[:, 2])).mean())
        report(pv, p[:, 1])
        return
    if CASE == 4:
        reg = BoatRegressor(hidden=(256, 256, 128), lr=1e-3, epochs=150, batch_size=16, weight_decay=0.0)
    else:
        reg = BoatRegressor(standardize=CASE != 5)
    reg.fit(xt, pt, xv, pv)
    report(pv, reg.predict(xv)[:, 0])


if __name__ == "__main__":
    main()
