import os, math
import torch
from torch import nn
from torch.utils.data import TensorDataset, DataLoader

CASE = int(os.environ.get("CASE", "0")); SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)


class McRegressor(nn.Module):
    """Dropout stays on when predicting: every forward pass is a draw from the approximate posterior."""

    def __init__(self, d, width=128, p=0.15):
        super().__init__()
        self.p = p
        self.l1, self.l2, self.l3 = nn.Linear(d, width), nn.Linear(width, width), nn.Linear(width, 2)

    def forward(self, x):
        drop = lambda h: nn.functional.dropout(h, self.p, training=True)
        h = drop(torch.relu(self.l1(x)))
        h = drop(torch.relu(self.l2(h)))
        mean, logvar = self.l3(h).unbind(1)
        return mean, logvar.clamp(-6, 4)


def make(n):
    x = torch.randn(n, 11)
    score = 0.8 * x[:, 0] - 0.6 * x[:, 1] * x[:, 2] + 0.5 * torch.sin(2 * x[:, 3]) + 0.3 * x[:, 4].clamp(min=0)
    noise = 0.25 + 0.45 * torch.sigmoid(2 * x[:, 5])
    return x, score + noise * torch.randn(n)


def gaussian_nll(mean, logvar, y):
    return 0.5 * (logvar + (y - mean) ** 2 * torch.exp(-logvar)).mean()


@torch.no_grad()
def posterior(model, x, draws=30):
    ms, vs = zip(*[model(x) for _ in range(draws)])
    ms, vs = torch.stack(ms), torch.stack(vs).exp()
    return ms.mean(0), ms.var(0), vs.mean(0)


x, y = make(3600)
train = DataLoader(TensorDataset(x[:2600], y[:2600]), batch_size=50, shuffle=True)
xv, yv = x[2600:], y[2600:]
model = McRegressor(11)
opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-3)
for epoch in range(1, 15):
    running = 0.
    for xb, yb in train:
        opt.zero_grad()
        loss = gaussian_nll(*model(xb), yb)
        loss.backward()
        opt.step()
        running += loss.item() * len(xb)
    m, epi, ale = posterior(model, xv, 10)
    var = epi + ale
    nll = 0.5 * (var.log() + (yv - m) ** 2 / var).mean().item()
    rmse = (m - yv).pow(2).mean().sqrt().item()
    print(f"[{epoch:02d}] train nll {running/2600:.4f} | val nll (10 draws) {nll:.4f} rmse {rmse:.4f} epistemic {epi.mean():.4f}")
m, epi, ale = posterior(model, xv, 50)
z = (yv - m).abs() / (epi + ale).sqrt()
print(f"final rmse {(m-yv).pow(2).mean().sqrt():.4f} vs std of target {yv.std():.4f}; 90% interval covers {(z < 1.645).float().mean():.3f}")
