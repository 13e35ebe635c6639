"""Behaviour cloning: learn to hold a drone at a wanted height from recorded flights of a controller.

usage: CASE=0 SEED=0 python bc_hover.py [--epochs N] [--demos N] [--batch-size N]
"""
import argparse
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

CHUNK = 10         # actions predicted at once (chunk policies)
HISTORY = 4        # length of the past that the "history" policies see
RECURRENT = CASE in (4, 5)
CHUNKED = CASE in (2, 3)
HISTORIC = CASE in (6, 7)


class Drone:
    """height (m), climb rate (m/s), battery voltage (V), wanted height (m); action: thrust in N, 0 to 4"""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.h = self.rng.uniform(10, 40)
        self.want = self.rng.uniform(10, 40)
        self.v = 0.0
        self.bat = self.rng.uniform(10.5, 12.6)
        return self.obs()

    def obs(self):
        return np.array([self.h, self.v, self.bat, self.want], dtype=np.float32)

    def step(self, thrust):
        thrust = float(np.clip(thrust, 0.0, 4.0))
        acc = 3.0 * thrust * (self.bat / 12.0) - 6.0 - 0.3 * self.v
        self.v += 0.2 * acc + 0.05 * self.rng.randn()
        self.h += 0.2 * self.v
        return self.obs()


def expert(o):
    h, v, bat, want = o
    a = (6.0 + 0.9 * np.clip(want - h, -8, 8) - 1.6 * v) / (3.0 * bat / 12.0)
    return float(np.clip(a, 0.0, 4.0))


def record(n, rng, jitter=0.2 if CHUNKED else 0.5):
    flights = []
    env = Drone(rng)
    for _ in range(n):
        o = env.reset()
        obs, act = [o], []
        for _ in range(rng.randint(8, 24) if CHUNKED else rng.randint(12, 45)):
            a = expert(o)
            act.append(a)
            o = env.step(a + jitter * rng.randn())
            obs.append(o)
        flights.append((np.stack(obs), np.array(act, dtype=np.float32)))
    return flights


class StepData(Dataset):
    """single (observation, action) pairs"""

    def __init__(self, flights):
        obs, act = [], []
        for o, a in flights:
            if CASE == 9:
                obs.append(o)
            else:
                obs.append(o[:-1])
            act.append(a)
        self.act = torch.from_numpy(np.concatenate(act)).unsqueeze(1)
        self.obs = torch.from_numpy(np.concatenate(obs))[:len(self.act)]
        self.mean, self.std = self.obs.mean(0), self.obs.std(0)

    def __len__(self):
        return len(self.act)

    def __getitem__(self, i):
        return (self.obs[i] - self.mean) / self.std, self.act[i]


class ChunkData(Dataset):
    """observation and the next CHUNK actions; past the end of a flight the chunk is filled up"""

    def __init__(self, flights):
        self.flights = flights
        self.index = [(f, t) for f, (o, a) in enumerate(flights) for t in range(0, len(a), 2)]
        allobs = torch.from_numpy(np.concatenate([o for o, _ in flights]))
        self.mean, self.std = allobs.mean(0), allobs.std(0)

    def __len__(self):
        return len(self.index)

    def __getitem__(self, i):
        f, t = self.index[i]
        o, a = self.flights[f]
        part = a[t:t + CHUNK]
        chunk = np.zeros(CHUNK, dtype=np.float32)
        chunk[:len(part)] = part
        is_pad = np.arange(CHUNK) >= len(part)
        return (torch.from_numpy(o[t]) - self.mean) / self.std, torch.from_numpy(chunk), torch.from_numpy(is_pad)


class HistoryData(Dataset):
    """observation, plus the thrusts of the recent past"""

    def __init__(self, flights):
        xs, ys = [], []
        for o, a in flights:
            padded = np.concatenate([np.zeros(HISTORY, dtype=np.float32), a])
            for t in range(len(a)):
                first = t + 1 if CASE == 7 else t
                xs.append(np.concatenate([o[t], padded[first:first + HISTORY]]))
                ys.append(a[t])
        self.obs, self.act = torch.from_numpy(np.stack(xs)), torch.tensor(ys).unsqueeze(1)
        self.mean, self.std = self.obs.mean(0), self.obs.std(0)

    def __len__(self):
        return len(self.act)

    def __getitem__(self, i):
        return (self.obs[i] - self.mean) / self.std, self.act[i]


class FlightData(Dataset):
    """whole flights for the recurrent policy"""

    def __init__(self, flights):
        self.flights = flights
        allobs = torch.from_numpy(np.concatenate([o for o, _ in flights]))
        self.mean, self.std = allobs.mean(0), allobs.std(0)

    def __len__(self):
        return len(self.flights)

    def __getitem__(self, i):
        o, a = self.flights[i]
        return (torch.from_numpy(o[:-1]) - self.mean) / self.std, torch.from_numpy(a)


def collate(batch):
    x = nn.utils.rnn.pad_sequence([b[0] for b in batch], batch_first=True)
    y = nn.utils.rnn.pad_sequence([b[1] for b in batch], batch_first=True)
    mask = nn.utils.rnn.pad_sequence([torch.ones(len(b[1])) for b in batch], batch_first=True)
    return x, y, mask


class StepPolicy(nn.Module):
    def __init__(self, n_in=4, n_out=1, hidden=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_in, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        if CASE == 8:
            self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(hidden, n_out)

    def forward(self, x):
        h = self.body(x)
        if CASE == 8:
            h = self.drop(h)
        y = self.out(h)
        if CASE == 11:
            return torch.tanh(y)
        if CASE == 10:
            return 2.0 + 2.0 * torch.tanh(y)
        return y


class LSTMPolicy(nn.Module):
    def __init__(self, hidden=32, layers=2):
        super().__init__()
        self.inp = nn.Linear(4, hidden)
        self.cells = [nn.LSTMCell(hidden, hidden) for _ in range(layers)]
        if CASE == 4:
            self.cells = nn.ModuleList(self.cells)
        self.out = nn.Linear(hidden, 1)

    def start(self, n):
        return [(torch.zeros(n, c.hidden_size), torch.zeros(n, c.hidden_size)) for c in self.cells]

    def step(self, x, state):
        h = torch.tanh(self.inp(x))
        new = []
        for cell, s in zip(self.cells, state):
            h, c = cell(h, s)
            new.append((h, c))
        return self.out(h).squeeze(-1), new

    def forward(self, x):
        state, ys = self.start(len(x)), []
        for t in range(x.shape[1]):
            y, state = self.step(x[:, t], state)
            ys.append(y)
        return torch.stack(ys, 1)


def loss_of(model, batch):
    if RECURRENT:
        x, y, mask = batch
        err = (model(x) - y).pow(2)
        return (err * mask).sum() / mask.sum()
    if CHUNKED:
        x, y, is_pad = batch
        err = F.mse_loss(model(x), y, reduction="none")
        if CASE == 3:
            return err.mean()
        return (err * ~is_pad).sum() / (~is_pad).sum()
    x, y = batch
    if CASE == 10:
        return F.smooth_l1_loss(model(x), y)
    return F.mse_loss(model(x), y)


@torch.no_grad()
def fly(model, data, n=20, steps=40):
    """closed loop; mean distance from the wanted height in the last ten steps"""
    model.eval()
    env = Drone(np.random.RandomState(555))
    dist = []
    for _ in range(n):
        o = env.reset()
        past = [0.0] * HISTORY
        queue = []
        state = model.start(1) if RECURRENT else None
        d = []
        for t in range(steps):
            x = torch.from_numpy(o)
            if HISTORIC:
                x = torch.cat([x, torch.tensor(past[-HISTORY:])])
            if CASE != 1:
                x = (x - data.mean) / data.std
            x = x.unsqueeze(0)
            if RECURRENT:
                y, state = model.step(x, state)
                a = y.item()
            elif CHUNKED:
                if not queue:
                    queue = model(x)[0].tolist()
                a = queue.pop(0)
            else:
                a = model(x).item()
            past.append(a)
            o = env.step(a)
            if t >= steps - 10:
                d.append(abs(o[0] - o[3]))
        dist.append(np.mean(d))
    model.train()
    return float(np.mean(dist))


@torch.no_grad()
def validate(model, loader):
    model.eval()
    v = float(np.mean([loss_of(model, b).item() for b in loader]))
    model.train()
    return v


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default={2: 40, 3: 40, 4: 30, 5: 30}.get(CASE, 25))
    p.add_argument("--demos", type=int, default={2: 240, 3: 240}.get(CASE, 120))
    p.add_argument("--batch-size", type=int, default={4: 16, 5: 16, 8: 128, 10: 32}.get(CASE, 64))
    p.add_argument("--lr", type=float, default={0: 2e-3, 4: 6e-3, 5: 6e-3, 10: 0.05}.get(CASE, 3e-3))
    args = p.parse_args()
    torch.manual_seed(SEED)

    flights = record(args.demos, np.random.RandomState(SEED + 1))
    cls = FlightData if RECURRENT else ChunkData if CHUNKED else HistoryData if HISTORIC else StepData
    n_val = args.demos // 8
    data, val = cls(flights[n_val:]), cls(flights[:n_val])
    val.mean, val.std = data.mean, data.std
    kw = {"collate_fn": collate} if RECURRENT else {}
    train_loader = DataLoader(data, args.batch_size, shuffle=True, drop_last=True, **kw)
    val_loader = DataLoader(val, 256, **kw)

    if RECURRENT:
        model = LSTMPolicy()
    else:
        model = StepPolicy(4 + HISTORY if HISTORIC else 4, CHUNK if CHUNKED else 1, 128 if CASE == 8 else 64)
    if CASE == 10:
        opt = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, nesterov=True)
    elif CASE in (2, 6):
        opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.01)
    else:
        opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    sched = None
    if CASE in (2, 8):
        sched = torch.optim.lr_scheduler.OneCycleLR(opt, args.lr, epochs=args.epochs, steps_per_epoch=len(train_loader))

    for epoch in range(1, args.epochs + 1):
        total = 0.0
        for batch in train_loader:
            loss = loss_of(model, batch)
            opt.zero_grad()
            loss.backward()
            if RECURRENT:
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            if sched is not None:
                sched.step()
            total += loss.item()
        if epoch % 5 == 0 or epoch == 1:
            print(f"epoch {epoch:3d}  train {total / len(train_loader):.4f}  val {validate(model, val_loader):.4f}  "
                  f"flight {fly(model, data, 6):.2f} m")
    print(f"flown: {fly(model, data):.2f} m from the wanted height")


if __name__ == "__main__":
    main()
