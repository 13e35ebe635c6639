"""Bus delays along a line: LSTM with time first (T, B, F), predicts the delay at every next stop."""
import os
import numpy as np
import torch
from torch import nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.RandomState(SEED + 6)
T = 20
stop_effect = np.random.RandomState(1).randn(T) * 0.5


def trips(n):
    delay = np.zeros((T + 1, n)); traffic = np.zeros((T + 1, n))
    delay[0] = rng.exponential(1.0, n)
    crowd = rng.rand(T + 1, n)
    rush = (rng.rand(n) < 0.4).astype(float)
    traffic[0] = rng.randn(n)
    for t in range(T):
        traffic[t + 1] = 0.85 * traffic[t] + 0.5 * rng.randn(n)
        delay[t + 1] = np.maximum(delay[t] + 0.5 * traffic[t] + rush * 0.5 * crowd[t] + stop_effect[t] - 0.2 * np.maximum(delay[t] - 3, 0) + 0.3 * rng.randn(n), -1)
    stop = np.repeat(np.linspace(0, 1, T)[:, None], n, 1)
    x = np.stack([delay[:-1] / 3, crowd[:-1], np.repeat(rush[None], T, 0), np.r_[np.zeros((1, n)), np.diff(delay[:-1], axis=0)], stop], -1)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(delay[1:], dtype=torch.float32)


class DelayLSTM(nn.Module):
    def __init__(self, f=5, h=32):
        super().__init__()
        self.stop_emb = nn.Parameter(torch.zeros(T, 1, 8))
        self.lstm = nn.LSTM(f + 8, h)
        self.out = nn.Linear(h, 1)

    def forward(self, x):                         # T, B, F
        x = torch.cat([x, self.stop_emb.expand(-1, x.shape[1], -1)], -1)
        return 3 * (x[..., 0] + self.out(self.lstm(x)[0])[..., 0])


xa, ya = trips(1600)
xb, yb = trips(400)
net = DelayLSTM()
opt = torch.optim.Adam(net.parameters(), lr=6e-3)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.85)
persist = (xb[..., 0] * 3 - yb).abs().mean()
print(f"persistence MAE {persist:.3f} min")
for epoch in range(12):
    losses = []
    for cols in torch.randperm(xa.shape[1]).split(50):
        loss = nn.functional.huber_loss(net(xa[:, cols]), ya[:, cols])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        losses.append(loss.item())
    sched.step()
    with torch.no_grad():
        p = net(xb)
    print(f"epoch {epoch} train {np.mean(losses):.4f} val huber {nn.functional.huber_loss(p, yb):.4f} MAE {(p - yb).abs().mean():.3f} MAE last stop {(p[-1] - yb[-1]).abs().mean():.3f}")
