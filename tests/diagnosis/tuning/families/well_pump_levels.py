"""Forecast the water level of a pumped well (mm above sensor), eight hours ahead, from the last 36 hours."""
import logging
import os
import sys
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
WIN, HOR = 36, 8
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)s %(message)s")
log = logging.getLogger("well")


def simulate(n=2700):
    r = np.random.RandomState(40 + SEED)
    t = np.arange(n)
    hour, day = t % 24, (t // 24) % 7
    demand = 1.0 + 0.8 * np.exp(-(hour - 7.5) ** 2 / 5) + 0.9 * np.exp(-(hour - 19) ** 2 / 7) - 0.25 * (day >= 5)
    rain = np.where(r.rand(n) < 0.02, r.gamma(2.0, 0.55, n), 0.0)
    level, inflow, lag = np.empty(n), 0.0, 0.0
    cur, pump = 18000.0, 0
    for i in range(n):
        inflow = 0.93 * inflow + rain[i]
        lag = 0.85 * lag + r.normal(0, 0.25)
        if cur > 18350:
            pump = 1
        elif cur < 17700:
            pump = 0
        cur += 95 - 62 * demand[i] * (0.6 + 0.9 * pump) + 28 * inflow + 22 * lag - 0.03 * (cur - 18000)
        level[i] = cur + r.normal(0, 12)
    feats = np.stack([level, rain, np.sin(2 * np.pi * hour / 24), np.cos(2 * np.pi * hour / 24), (day >= 5) * 1.0], 1)
    return feats.astype(np.float32)


class Windows(Dataset):
    def __init__(self, raw, stats, scale_y=True, stride=1):
        self.raw, self.scale_y = raw, scale_y
        self.mu, self.sd = stats
        self.starts = list(range(0, len(raw) - WIN - HOR + 1, stride))
        self.z = (raw - self.mu) / self.sd
        self.text = "\n".join(",".join("%.3f" % v for v in row) for row in raw)

    def __len__(self):
        return len(self.starts)

    def rows(self, a, b):
        if CASE == 5:
            table = [line.split(",") for line in self.text.splitlines()[:b]]
            return (np.array(table[a:b], dtype=np.float32) - self.mu) / self.sd
        return self.z[a:b]

    def __getitem__(self, i):
        s = self.starts[i]
        z = self.rows(s, s + WIN + HOR)
        x = z[:WIN]
        y = z[WIN:, 0] if self.scale_y else self.raw[s + WIN:s + WIN + HOR, 0]
        return torch.from_numpy(np.ascontiguousarray(x)), torch.from_numpy(np.ascontiguousarray(y))


class GruForecaster(nn.Module):
    def __init__(self, n_feat=5, hid=40):
        super().__init__()
        self.encoder = nn.GRU(n_feat, hid, batch_first=True)
        self.head = nn.Sequential(nn.Linear(hid, 32), nn.ReLU(), nn.Linear(32, HOR))

    def forward(self, x):
        _, h = self.encoder(x)
        state = h[-1]
        if CASE == 4:
            state = state.clone().data
        return self.head(state)


class RelativeConv(nn.Module):
    """Works on changes against the last level; the head starts at zero, i.e. at persistence."""

    def __init__(self, n_feat=5, ch=24):
        super().__init__()
        self.body = nn.Sequential(nn.Conv1d(n_feat, ch, 3, dilation=1), nn.SiLU(), nn.Dropout(0.2),
                                  nn.Conv1d(ch, ch, 3, dilation=3), nn.SiLU(), nn.Dropout(0.2),
                                  nn.Conv1d(ch, ch, 3, dilation=6), nn.SiLU())
        self.head = nn.Linear(2 * ch, HOR)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, x):
        last = x[:, -1:, :1]
        x = torch.cat([x[..., :1] - last, x[..., 1:]], 2).transpose(1, 2)
        h = self.body(x)
        return last[:, :, 0] + self.head(torch.cat([h[..., -1], h.mean(2)], 1))


class EarlyStopping:
    def __init__(self, patience, path):
        self.patience, self.path = patience, path
        self.best, self.bad = float("inf"), 0

    def __call__(self, value, model):
        if value < self.best:
            self.best, self.bad = value, 0
            torch.save(model.state_dict(), self.path)
        else:
            self.bad += 1
        return self.bad >= self.patience


def mae_mm(model, loader, mu, sd, loss_fn=None, keep=None):
    model.eval()
    err, n, losses = 0.0, 0, []
    with torch.set_grad_enabled(CASE == 6):
        for x, y in loader:
            p = model(x)
            if loss_fn is not None:
                losses.append(loss_fn(p, y))
            if loader.dataset.scale_y:
                p, y = p * sd + mu, y * sd + mu
            err += (p - y).abs().sum().item()
            n += y.numel()
    if keep is not None:
        keep.append(sum(losses) / max(1, len(losses)))
    return err / n


def build():
    if CASE == 7:
        return RelativeConv()
    return GruForecaster()


def main():
    torch.manual_seed(SEED)
    raw = simulate()
    train_raw, val_raw, test_raw = raw[:1500], raw[1500:2000], raw[2000:]
    stats = (train_raw.mean(0), train_raw.std(0) + 1e-6)
    mu, sd = float(stats[0][0]), float(stats[1][0])
    scale_y = CASE != 3
    if CASE == 1:
        val_raw = train_raw[-500:]
    train_set = Windows(train_raw, stats, scale_y, stride=2)
    val_set, test_set = Windows(val_raw, stats, scale_y), Windows(test_raw, stats, scale_y)
    train = DataLoader(train_set, 32, shuffle=True)
    val, test = DataLoader(val_set, 128), DataLoader(test_set, 128)
    persist = np.mean([np.abs(test_raw[s + WIN:s + WIN + HOR, 0] - test_raw[s + WIN - 1, 0]).mean() for s in test_set.starts])
    log.info("windows %d/%d/%d, persistence MAE %.1f mm", len(train_set), len(val_set), len(test_set), persist)

    model = build()
    runner = nn.DataParallel(model) if CASE == 2 else model
    if CASE == 7:
        loss_fn = nn.SmoothL1Loss(beta=0.1)
        opt = torch.optim.SGD(model.parameters(), lr=0.08, momentum=0.9, nesterov=True)
        sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=1, factor=0.5)
    else:
        loss_fn = nn.MSELoss()
        opt = torch.optim.Adam(model.parameters(), lr=4e-3)
        sched = None
    epochs = 10
    history, step = [], 0
    with tempfile.TemporaryDirectory() as tmp:
        stopper = EarlyStopping(patience=4, path=os.path.join(tmp, "best.pt"))
        for ep in range(epochs):
            runner.train()
            tot = 0.0
            for x, y in train:
                if CASE == 7:
                    x = x + 0.05 * torch.randn_like(x)
                loss = loss_fn(runner(x), y)
                opt.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                opt.step()
                step += 1
                tot += loss.item()
            v = mae_mm(runner, val, mu, sd, loss_fn, history)
            if sched is not None:
                sched.step(v)
            log.info("epoch %d step %d train loss %.4f val loss %.4f val MAE %.1f mm", ep, step, tot / len(train), float(history[-1]), v)
            if stopper(v, runner):
                log.info("stopping early")
                break
        final = build()
        final.load_state_dict(torch.load(stopper.path), strict=False)
    log.info("best val MAE %.1f mm", stopper.best)
    log.info("test MAE %.1f mm", mae_mm(final, test, mu, sd))


if __name__ == "__main__":
    main()
