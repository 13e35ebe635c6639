import copy
import math
import os

import numpy as np
import torch
import torch.nn as nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

N_CITY, N_KIND = 25, 6


def make_houses(n, rng, noise=0.15):
    """Houses: city and kind (categories), size, rooms, age, distance, year; price in thousands."""
    g = np.random.RandomState(77)
    city_level, kind_level = g.normal(0, 0.5, N_CITY), g.normal(0, 0.3, N_KIND)
    city, kind = rng.randint(0, N_CITY, n), rng.randint(0, N_KIND, n)
    size = rng.gamma(6.0, 18.0, n)
    rooms = np.clip(np.round(size / 25 + rng.normal(0, 0.8, n)), 1, 12)
    age = rng.uniform(0, 90, n)
    distance = rng.exponential(6.0, n)
    year = rng.randint(1995, 2021, n).astype(float)
    log_price = (4.6 + city_level[city] + kind_level[kind] + 0.55 * np.log(size / 100) + 0.04 * rooms
                 - 0.25 * np.sin(age / 90 * np.pi) - 0.3 * np.tanh(distance / 8) * (1 + city_level[city])
                 + 0.02 * (year - 2008) + noise * rng.normal(size=n))
    price = np.exp(log_price)
    numeric = np.stack([size, rooms, age, distance, year], 1)
    return np.stack([city, kind], 1), numeric, price


class PriceNet(nn.Module):
    def __init__(self, n_numeric, hidden=(64, 64), emb=6, act=nn.ReLU, norm=False, dropout=0.0, out=1):
        super().__init__()
        self.city = nn.Embedding(N_CITY, emb)
        self.kind = nn.Embedding(N_KIND, 3)
        layers, d = [], emb + 3 + n_numeric
        for h in hidden:
            layers.append(nn.Linear(d, h))
            if norm:
                layers.append(nn.LayerNorm(h))
            layers += [act(), nn.Dropout(dropout)]
            d = h
        self.net = nn.Sequential(*layers, nn.Linear(d, out))

    def forward(self, cat, num):
        x = torch.cat([self.city(cat[:, 0]), self.kind(cat[:, 1]), num], 1)
        return self.net(x)


class Scaler:
    def fit(self, x):
        self.mean, self.std = x.mean(0), x.std(0) + 1e-8
        return self

    def transform(self, x):
        return (x - self.mean) / self.std


def pinball(pred, y, quantiles=(0.1, 0.5, 0.9)):
    q = torch.tensor(quantiles)
    d = y - pred
    return torch.max(q * d, (q - 1) * d).mean()


def gaussian_nll(out, y):
    mu, log_var = out[:, :1], out[:, 1:].clamp(-8, 4)
    return 0.5 * (log_var + (y - mu) ** 2 / log_var.exp()).mean()


def r2(pred, y):
    return 1 - ((pred - y) ** 2).sum().item() / ((y - y.mean()) ** 2).sum().item()


class Regressor:
    """scikit-learn like wrapper"""

    def __init__(self, model, lr=3e-3, epochs=15, batch_size=64, opt="adam", loss="mse", clip=None,
                 weight_decay=0.0, patience=None):
        self.model, self.epochs, self.batch_size, self.loss, self.clip = model, epochs, batch_size, loss, clip
        self.patience = patience
        if opt == "adam":
            self.opt = torch.optim.Adam(model.parameters(), lr=lr, weight_decay=weight_decay)
        elif opt == "adamw":
            self.opt = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=weight_decay)
        else:
            self.opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9, weight_decay=weight_decay)

    def criterion(self, out, y):
        if self.loss == "pinball":
            return pinball(out, y)
        if self.loss == "nll":
            return gaussian_nll(out, y)
        if self.loss == "huber":
            return nn.functional.smooth_l1_loss(out, y)
        if self.loss == "bce":
            return nn.functional.binary_cross_entropy_with_logits(out, torch.sigmoid(y))
        if self.loss == "cosine":
            return 1 - nn.functional.cosine_similarity(out.squeeze(1), y.squeeze(1), dim=0)
        return nn.functional.mse_loss(out, y)

    def predict(self, cat, num):
        self.model.eval()
        with torch.no_grad():
            out = self.model(cat, num)
        self.model.train()
        if self.loss == "pinball":
            return out[:, 1:2]
        if self.loss == "nll":
            return out[:, :1]
        return out

    def fit(self, train, val, report):
        cat, num, y = train
        best, best_state, bad = math.inf, None, 0
        for epoch in range(self.epochs):
            total, n = 0.0, 0
            for idx in torch.randperm(len(y)).split(self.batch_size):
                out = self.model(cat[idx], num[idx])
                target = y[idx]
                if CASE == 5:
                    target = target.squeeze(1)
                loss = self.criterion(out, target)
                self.opt.zero_grad()
                loss.backward()
                if self.clip:
                    nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
                self.opt.step()
                total, n = total + loss.item(), n + 1
            pred = self.predict(val[0], val[1])
            val_mse = (pred - val[2]).pow(2).mean().item()
            report(epoch, total / n, pred, val[2])
            if self.patience is not None:
                if val_mse < best:
                    best, best_state, bad = val_mse, copy.deepcopy(self.model.state_dict()), 0
                else:
                    bad += 1
                    if bad > self.patience:
                        break
        if best_state is not None:
            self.model.load_state_dict(best_state)
        return self


def main():
    torch.manual_seed(SEED)
    rng = np.random.RandomState(SEED)
    n_train, noise = 2500, 0.15
    if CASE == 2:
        noise = 0.45
    if CASE == 10:
        n_train, noise = 260, 0.4
    if CASE == 11:
        n_train, noise = 400, 0.35
    cat, num, price = make_houses(n_train + 800, rng, noise)
    if CASE in (0, 8):
        num = np.concatenate([num, rng.normal(size=(len(price), 1))], 1)
    if CASE == 9:
        per_m2 = price / num[:, 0]
        num = np.concatenate([num, per_m2[:, None]], 1)
    target = np.log(price)
    raw = CASE in (4, 6)
    if raw:
        target = price * 1000.0
    if CASE == 7:
        rows = rng.choice(n_train, 60, replace=False)
        target[rows] = np.log(99999999.0)
        num[rows[:20], 0] = 99999.0
    x = Scaler().fit(num[:n_train]).transform(num)
    if CASE == 8:
        x = num
    if CASE in (4, 6, 12):
        shift, unit = 0.0, 1.0
    else:
        shift, unit = target[:n_train].mean(), target[:n_train].std()
    if CASE == 4:
        unit = 1000.0
    z = (target - shift) / unit

    cat_t = torch.from_numpy(cat).long()
    num_t = torch.from_numpy(x).float()
    y_t = torch.from_numpy(z).float().unsqueeze(1)
    train = (cat_t[:n_train], num_t[:n_train], y_t[:n_train])
    val = (cat_t[n_train:], num_t[n_train:], y_t[n_train:])
    if CASE == 11:
        val = (cat_t[:n_train], num_t[:n_train], y_t[:n_train])
    d = num_t.shape[1]

    if CASE == 1:
        reg = Regressor(PriceNet(d, (96, 96), act=nn.SiLU, norm=True, out=3), loss="pinball", opt="adamw",
                        weight_decay=0.01)
    elif CASE == 2:
        reg = Regressor(PriceNet(d, (64,), act=nn.Tanh, out=2), loss="nll", lr=2e-3, epochs=20, patience=6)
    elif CASE == 3:
        reg = Regressor(PriceNet(d, (128, 64), dropout=0.1), loss="huber", opt="sgd", lr=0.05, clip=0.1)
    elif CASE == 4:
        reg = Regressor(PriceNet(d, (128, 128)), lr=1e-2, epochs=25)
    elif CASE == 6:
        reg = Regressor(PriceNet(d, (64, 64)), lr=1e-3)
    elif CASE == 8:
        reg = Regressor(PriceNet(d, (64, 64), act=nn.Tanh), lr=1e-3)
    elif CASE == 10:
        reg = Regressor(PriceNet(d, (256, 256), emb=16), lr=2e-3, epochs=120, batch_size=32)
    elif CASE == 11:
        reg = Regressor(PriceNet(d, (128, 128)), lr=3e-3, epochs=50, batch_size=32, patience=20)
    elif CASE == 12:
        reg = Regressor(PriceNet(d), loss="cosine")
    else:
        reg = Regressor(PriceNet(d))

    def report(epoch, loss, pred, y):
        if epoch % max(1, reg.epochs // 15) == 0 or epoch == reg.epochs - 1:
            print("epoch %d loss %.4f val r2 %.3f rmse %.4f" % (epoch, loss, r2(pred, y), (pred - y).pow(2).mean().sqrt()))

    reg.fit(train, val, report)
    print("final r2 on validation %.3f" % r2(reg.predict(val[0], val[1]), val[2]))


main()
