"""A designed experiment: 3 x 3 x 4 settings, each measured many times. Only 36 distinct inputs, so rows repeat by nature."""
import os
import itertools
import torch
from torch.utils.data import TensorDataset, DataLoader

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)

temps, phs, doses = [20., 30., 40.], [5.5, 6.5, 7.5], [0., 1., 2., 4.]
grid = torch.tensor(list(itertools.product(temps, phs, doses)))


def outcome(s):
    t, p, d = s.unbind(-1)
    rate = torch.exp(-((t - 31) / 9) ** 2 - ((p - 6.7) / 1.0) ** 2)
    return 40 * rate * d / (d + 0.8) + 5 + 0.05 * t


truth = outcome(grid)
rows = grid.repeat(70, 1)
y = outcome(rows) + 2.5 * torch.randn(len(rows))
perm = torch.randperm(len(rows))
rows, y = rows[perm], y[perm]
tr, te = slice(0, 2000), slice(2000, None)
mx, sx, my, sy = rows[tr].mean(0), rows[tr].std(0), y[tr].mean(), y[tr].std()
loader = DataLoader(TensorDataset((rows[tr] - mx) / sx, (y[tr] - my) / sy), batch_size=32, shuffle=True)
model = torch.nn.Sequential(torch.nn.Linear(3, 32), torch.nn.Tanh(), torch.nn.Linear(32, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
sched = torch.optim.lr_scheduler.MultiStepLR(opt, [10, 14], gamma=0.2)
print("distinct settings:", len(torch.unique(rows, dim=0)), "rows:", len(rows), "noise sd 2.5")
for epoch in range(16):
    total = 0.
    for xb, yb in loader:
        loss = torch.nn.functional.mse_loss(model(xb).squeeze(-1), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(xb)
    sched.step()
    with torch.no_grad():
        pt = model((rows[te] - mx) / sx).squeeze(-1) * sy + my
        pg = model((grid - mx) / sx).squeeze(-1) * sy + my
    print(f"epoch {epoch:2d} train mse {total / 2000:.4f} | new replicates RMSE {(pt - y[te]).pow(2).mean().sqrt():.3f} | against the true surface RMSE {(pg - truth).pow(2).mean().sqrt():.3f}")
