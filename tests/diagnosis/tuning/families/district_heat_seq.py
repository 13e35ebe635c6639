# Forecast of the heat demand of substations, next 6 hours from the last 30.
import os, math
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
PAST, AHEAD = 30, 6


def simulate(rng, n_hours=1400, n_stations=8):
    """(stations, hours) demand in MW and the outdoor temperature."""
    t = np.arange(n_hours)
    temp = 4 + 6 * np.sin(2 * np.pi * t / (24 * 40)) + 3.5 * np.sin(2 * np.pi * (t - 9) / 24)
    ar = np.zeros(n_hours)
    for i in range(1, n_hours):
        ar[i] = 0.97 * ar[i - 1] + 0.55 * rng.standard_normal()
    temp = temp + ar
    out = []
    for s in range(n_stations):
        base, gain = rng.uniform(2, 14), rng.uniform(0.12, 0.5)
        peak1, peak2 = rng.uniform(5, 9), rng.uniform(16, 22)
        hour = t % 24
        day = (t // 24) % 7
        prof = 1.6 * np.exp(-((hour - peak1) / 1.8) ** 2) + 1.1 * np.exp(-((hour - peak2) / 2.2) ** 2)
        prof = prof * np.where(day >= 5, rng.uniform(0.3, 0.9), 1.0)
        inertia = np.convolve(np.maximum(17 - temp, 0), np.ones(8) / 8)[:n_hours]
        # a valve that opens for 10 to 20 hours, now and then
        boost = np.zeros(n_hours)
        i = 0
        while i < n_hours:
            i += int(rng.integers(25, 60))
            k = 14
            boost[i:i + k] = 1.5
            i += k
        noise = np.zeros(n_hours)
        for j in range(1, n_hours):
            noise[j] = 0.55 * noise[j - 1] + 0.28 * rng.standard_normal()
        out.append(base + gain * inertia + gain * 3.0 * prof + boost + noise)
    return np.array(out), temp


def windows(y, temp, lo, hi, mean, std):
    """x: past demand, past temperature, hour of the day; target: the next hours, relative to the last value."""
    hist = (y - mean[:, None]) / std[:, None]
    seen = hist
    if CASE == 3:
        k = np.ones(5) / 5
        seen = np.stack([np.convolve(row, k, mode="same") for row in hist])
    elif CASE == 7:
        k = np.ones(5) / 5
        seen = np.stack([np.convolve(row, k)[: len(row)] for row in hist])
    xs, ys, who = [], [], []
    tz = (temp - 5) / 6
    h = 2 * np.pi * (np.arange(len(temp)) % 24) / 24
    for s in range(len(y)):
        for t in range(lo + PAST, hi - AHEAD, 2):
            sl = slice(t - PAST, t)
            xs.append(np.stack([seen[s, sl], tz[sl], np.sin(h[sl]), np.cos(h[sl])], 1))
            ys.append(hist[s, t:t + AHEAD])
            who.append(s)
    f = lambda a: torch.tensor(np.array(a), dtype=torch.float32)
    return f(xs), f(ys), torch.tensor(who)


class HeatCell(nn.Module):
    def __init__(self, hidden=32, n_out=AHEAD, dropout=0.1):
        super().__init__()
        self.inp = nn.Linear(4, hidden)
        self.cell = nn.GRUCell(hidden, hidden)
        self.drop = nn.Dropout(dropout)
        self.out = nn.Linear(hidden, n_out)
        self.hidden = hidden

    def forward(self, x):
        u = torch.tanh(self.inp(x))
        h = x.new_zeros(len(x), self.hidden)
        for t in range(x.shape[1]):
            h = self.cell(u[:, t], h)
            if CASE == 1:
                h = h.detach() if t < x.shape[1] - 1 else h
        return self.out(self.drop(h))


def mae(model, x, y, scale, who):
    model.eval()
    with torch.no_grad():
        p = model(x)
    model.train()
    err = (p - y).abs().mean(1) * scale[who]
    return err.mean().item(), [round(err[who == s].mean().item(), 3) for s in range(len(scale))]


def run():
    rng = np.random.default_rng(SEED + 11)
    torch.manual_seed(SEED)
    y, temp = simulate(rng)
    cut1, cut2 = 1000, 1200
    mean, std = y[:, :cut1].mean(1), y[:, :cut1].std(1)
    xt, yt, wt = windows(y, temp, 0, cut1, mean, std)
    xv, yv, wv = windows(y, temp, cut1, cut2, mean, std)
    scale = torch.tensor(std, dtype=torch.float32)
    naive = ((yv - xv[:, -1:, 0]).abs().mean(1) * scale[wv]).mean().item()
    print(f"train windows {len(xt)}, persistence val MAE {naive:.3f} MW")

    model = HeatCell()
    if CASE in (4, 6):
        opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    else:
        opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    limit = 1e-2 if CASE == 4 else 1.0
    bs, step = 64, 0
    for epoch in range(5):
        if CASE == 2:
            order = torch.arange(len(xt))
        else:
            order = torch.randperm(len(xt))
        losses = []
        for i in range(0, len(order), bs):
            idx = order[i:i + bs]
            loss = F.mse_loss(model(xt[idx]), yt[idx])
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), limit)
            opt.step()
            losses.append(loss.item())
            step += 1
            if step % 50 == 0:
                print(f"step {step:4d} mse {loss.item():.4f}")
        m, per = mae(model, xv, yv, scale, wv)
        print(f"epoch {epoch} train mse {np.mean(losses):.4f} val MAE {m:.3f} MW")
    print("per station", per)


def run_quantiles():
    """One long pass along all stations at once, state carried over the chunks, three quantiles an hour ahead."""
    rng = np.random.default_rng(SEED + 11)
    torch.manual_seed(SEED)
    y, temp = simulate(rng, n_hours=2200, n_stations=16)
    cut = 1800
    z = (y - y[:, :cut].mean(1, keepdims=True)) / y[:, :cut].std(1, keepdims=True)
    T = z.shape[1]
    h = 2 * np.pi * (np.arange(T) % 24) / 24
    ex = np.stack([(temp - 5) / 6, np.sin(h), np.cos(h)], 1)
    x = torch.tensor(np.concatenate([z[:, :, None], np.repeat(ex[None], len(z), 0)], 2), dtype=torch.float32)
    qs = torch.tensor([0.1, 0.5, 0.9])
    rnn = nn.GRU(4, 40, batch_first=True)
    head = nn.Linear(40, 3)
    params = list(rnn.parameters()) + list(head.parameters())
    opt = torch.optim.Adam(params, lr=6e-3)
    chunk = 60
    per_epoch = (cut - 1) // chunk
    sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=per_epoch * 3)
    step = 0
    for epoch in range(10):
        state, tot = None, 0.0
        for c in range(per_epoch):
            a = c * chunk
            out, state = rnn(x[:, a:a + chunk], state)
            q = head(out)
            e = x[:, a + 1:a + chunk + 1, :1] - q
            loss = torch.maximum(qs * e, (qs - 1) * e).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            state = state.detach()
            tot += loss.item()
            step += 1
            if step % 60 == 0:
                print(f"step {step} pinball {loss.item():.4f} lr {sched.get_last_lr()[0]:.5f}")
        with torch.no_grad():
            q = head(rnn(x[:, cut - 100:-1])[0])[:, 100:]
            e = x[:, cut + 1:, :1] - q
            pin = torch.maximum(qs * e, (qs - 1) * e).mean().item()
            cover = ((e[..., 0] >= 0) & (e[..., 2] <= 0)).float().mean().item()
        print(f"epoch {epoch} train {tot / per_epoch:.4f} test pinball {pin:.4f} between q10 and q90: {cover:.3f}")


if __name__ == "__main__":
    run_quantiles() if CASE == 5 else run()
