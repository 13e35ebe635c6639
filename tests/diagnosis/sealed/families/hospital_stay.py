"""Length of stay (days) from admission records. Residual MLP with embeddings."""
import copy
import os
import numpy as np
import torch
from torch import nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
np.random.seed(SEED)
torch.set_num_threads(1)

WARDS = ["cardio", "ortho", "neuro", "gastro", "uro", "pulmo", "trauma", "derma", "onco"]
ARRIVAL = ["referral", "ambulance", "walk-in", "transfer"]


def admissions(n, rng, elderly=False):
    age = rng.uniform(66, 96, n) if elderly else np.clip(rng.normal(55, 17, n), 18, 96)
    ward = rng.choice([0, 2, 5, 8] if elderly else len(WARDS), n)
    arr = rng.choice(len(ARRIVAL), n, p=[0.4, 0.25, 0.25, 0.1])
    crp = rng.gamma(1.4 + 0.02 * (age - 40).clip(0), 14, n)
    plate = rng.normal(250000, 60000, n).clip(20000)
    hb = rng.normal(13.5 - 0.02 * (age - 50), 1.6, n)
    prev = rng.poisson(0.6 + 0.015 * (age - 40).clip(0), n)
    bmi = rng.normal(26, 4.5, n)
    wbase = np.array([0.2, 0.5, 0.6, -0.1, -0.4, 0.1, 0.7, -0.9, 0.9])[ward]
    abase = np.array([-0.2, 0.25, -0.1, 0.4])[arr]
    z = (0.9 + wbase + abase + 0.022 * (age - 55) + 0.35 * np.tanh((crp - 30) / 25) + 0.1 * prev
         + 0.30 * np.sin((bmi - 26) / 3.0) * (ward % 2) - 0.12 * (hb - 13)
         + 0.25 * (plate < 180000) * (ward == 8) + rng.normal(0, 0.22, n))
    days = np.exp(z)
    num = np.stack([age, crp, plate, hb, prev, bmi], 1).astype(np.float32)
    return num, np.array(WARDS)[ward], np.array(ARRIVAL)[arr], days.astype(np.float32)


class Prep:
    def fit(self, num, ward, arr):
        self.mu, self.sd = np.nanmean(num, 0), np.nanstd(num, 0)
        self.wards = {w: i for i, w in enumerate(sorted(set(ward)))}
        self.arrs = {a: i for i, a in enumerate(sorted(set(arr)))}
        return self

    def transform(self, num, ward, arr):
        if CASE == 9:
            x = num
        else:
            x = (num - self.mu) / self.sd
        if CASE == 5:
            gap = np.isnan(x)
            x = np.concatenate([np.where(gap, 0.0, x), gap.astype(np.float32)], 1)
        c = np.stack([[self.wards[w] for w in ward], [self.arrs[a] for a in arr]], 1)
        return torch.tensor(x, dtype=torch.float32), torch.tensor(c, dtype=torch.long)


class Block(nn.Module):
    def __init__(self, d, p):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.a = nn.Linear(d, 2 * d)
        self.b = nn.Linear(2 * d, d)
        self.p = nn.Dropout(p)

    def forward(self, h):
        return h + self.b(self.p(torch.relu(self.a(self.norm(h)))))


class StayNet(nn.Module):
    def __init__(self, n_num, d=48, depth=3, p=0.1, outs=1):
        super().__init__()
        self.ward = nn.Embedding(len(WARDS), 6)
        self.arr = nn.Embedding(len(ARRIVAL), 3)
        self.inp = nn.Linear(n_num + 9, d)
        self.blocks = nn.Sequential(*[Block(d, p) for _ in range(depth)])
        self.out = nn.Linear(d, outs)

    def forward(self, x, c):
        h = torch.cat([x, self.ward(c[:, 0]), self.arr(c[:, 1])], 1)
        return self.out(self.blocks(self.inp(h)))


def pinball(pred, y, qs=(0.1, 0.5, 0.9)):
    d = y - pred
    return torch.mean(torch.stack([torch.maximum(q * d[:, i:i + 1], (q - 1) * d[:, i:i + 1]) for i, q in enumerate(qs)]))


class Trainer:
    def __init__(self, model, train, valid, cfg):
        self.model, self.train_data, self.valid_data, self.cfg = model, train, valid, cfg
        if cfg["opt"] == "sgd":
            self.opt = torch.optim.SGD(model.parameters(), lr=cfg["lr"], momentum=0.9)
        else:
            self.opt = torch.optim.AdamW(model.parameters(), lr=cfg["lr"], weight_decay=1e-3)
        self.plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(self.opt, factor=0.3, patience=4) if cfg["plateau"] else None
        self.ema = copy.deepcopy(model) if cfg["ema"] else None
        self.best, self.best_state, self.step = float("inf"), None, 0

    def loss(self, out, y):
        if self.cfg["loss"] == "pinball":
            return pinball(out, y)
        if self.cfg["loss"] == "huber":
            return nn.functional.huber_loss(out, y, delta=self.cfg["delta"])
        return nn.functional.mse_loss(out, y)

    def batches(self):
        x, c, y = self.train_data
        order = torch.randperm(len(y))
        for i in range(0, len(y) - self.cfg["bs"] + 1, self.cfg["bs"]):
            j = order[i:i + self.cfg["bs"]]
            yield x[j], c[j], y[j]

    def fit(self):
        for epoch in range(self.cfg["epochs"]):
            self.model.train()
            seen = []
            for x, c, y in self.batches():
                if CASE != 4:
                    self.opt.zero_grad()
                loss = self.loss(self.model(x, c), y)
                loss.backward()
                if self.cfg["clip"]:
                    nn.utils.clip_grad_norm_(self.model.parameters(), self.cfg["clip"])
                self.opt.step()
                self.step += 1
                seen.append(loss.item())
                if self.ema is not None:
                    with torch.no_grad():
                        for a, b in zip(self.ema.parameters(), self.model.parameters()):
                            a.mul_(0.98).add_(b, alpha=0.02)
            v = self.validate()
            if self.plateau is not None:
                self.plateau.step(v)
            if v < self.best or self.best_state is None:
                self.best = v
                if CASE == 2:
                    self.best_state = self.model.state_dict()
                else:
                    self.best_state = copy.deepcopy(self.model.state_dict())
            if epoch % 4 == 0:
                print(f"epoch {epoch:3d} train {np.mean(seen):.4f} valid {v:.4f} best {self.best:.4f}", flush=True)
        self.model.load_state_dict(self.best_state)

    @torch.no_grad()
    def validate(self):
        m = self.ema if self.ema is not None else self.model
        m.eval()
        x, c, y = self.valid_data
        return self.loss(m(x, c), y).item()


def r2(pred, y):
    return 1 - ((pred - y) ** 2).mean().item() / y.var().item()


def main():
    rng = np.random.RandomState(SEED + 11)
    n = 2000
    num, ward, arr, days = admissions(n, rng)
    vnum, vward, varr, vdays = admissions(600, rng)
    tnum, tward, tarr, tdays = admissions(600, rng, elderly=CASE in (1, 6))
    if CASE == 3:
        num[rng.choice(n, 9, replace=False), 1] = np.nan
    if CASE == 5:
        for a in (num, vnum, tnum):
            a[rng.rand(*a.shape) < 0.08] = np.nan
    if CASE == 11:
        days[rng.rand(n) < 0.02] *= 40
    if CASE == 8:
        def bill(d):
            return (310.0 * d * rng.uniform(0.98, 1.02, len(d)) + 150).astype(np.float32)
        num, vnum, tnum = [np.concatenate([a, np.log(bill(d))[:, None]], 1) for a, d in ((num, days), (vnum, vdays), (tnum, tdays))]
    prep = Prep().fit(num, ward, arr)
    train = prep.transform(num, ward, arr)
    valid = prep.transform(vnum, vward, varr)
    if CASE == 1:
        test = Prep().fit(tnum, tward, tarr).transform(tnum, tward, tarr)
    else:
        test = prep.transform(tnum, tward, tarr)
    shape = (-1,) if CASE == 10 else (-1, 1)
    ytr, yva, yte = [torch.tensor(np.log(d)).float().reshape(shape) for d in (days, vdays, tdays)]

    cfg = dict(opt="adamw", lr=2e-3, bs=64, epochs=16, loss="mse", delta=1.0, clip=None, plateau=False, ema=False)
    outs, p, d = 1, 0.1, 48
    if CASE == 7:
        cfg.update(opt="sgd", lr=0.004, bs=8, epochs=5)
    if CASE == 12:
        cfg.update(opt="sgd", lr=0.05, clip=0.5)
    if CASE == 6:
        cfg.update(loss="pinball", plateau=True, lr=1e-3)
        outs = 3
    if CASE == 11:
        cfg.update(loss="huber", delta=0.3, ema=True)
    if CASE == 2:
        cfg.update(lr=8e-3, bs=32, epochs=14)
    model = StayNet(train[0].shape[1], d=d, p=p, outs=outs)
    t = Trainer(model, (*train, ytr), (*valid, yva), cfg)
    t.fit()
    final = t.validate()
    m = t.ema if t.ema is not None else model
    m.eval()
    with torch.no_grad():
        out = m(*test)
    out = out[:, outs // 2]
    print(f"restored valid {final:.4f} (best seen {t.best:.4f}) test R2 {r2(out, yte.reshape(-1)):.3f} "
          f"spread of predictions {out.std():.3f} of targets {yte.std():.3f}")


if __name__ == "__main__":
    main()
