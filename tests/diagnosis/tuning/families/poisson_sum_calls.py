"""Call-centre arrivals per quarter of an hour: Poisson likelihood, SUMMED over the batch, hence the small rate."""
import os
import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))


class Calls(Dataset):
    def __init__(self, n, seed):
        r = np.random.default_rng(seed)
        quarter = r.integers(0, 96, n); day = r.integers(0, 7, n); promo = r.random(n) < 0.15; temp = r.normal(0, 1, n)
        h = quarter / 4
        lam = 2 + 14 * np.exp(-((h - 10.5) / 2.2) ** 2) + 10 * np.exp(-((h - 16) / 2.5) ** 2)
        lam = lam * np.where(day >= 5, 0.45, 1.0) * np.where(promo, 1.6, 1.0) * np.exp(0.12 * temp)
        self.y = torch.from_numpy(r.poisson(lam).astype("f4"))
        ang = 2 * np.pi * quarter / 96
        cyc = np.stack([f(k * ang) for k in (1, 2, 3) for f in (np.sin, np.cos)], 1)
        self.x = torch.from_numpy(np.hstack([cyc, np.eye(7)[day], promo[:, None], temp[:, None]]).astype("f4"))

    def __len__(self): return len(self.y)
    def __getitem__(self, i): return self.x[i], self.y[i]


def deviance(log_mu, y):
    mu = log_mu.exp()
    return 2 * (torch.where(y > 0, y * (y.clamp(min=1) / mu).log(), torch.zeros_like(y)) - (y - mu)).sum().item()


def main():
    torch.manual_seed(SEED)
    tr, va = Calls(4000, SEED + 1), Calls(1500, SEED + 2)
    loader = DataLoader(tr, batch_size=128, shuffle=True)
    net = nn.Sequential(nn.Linear(15, 48), nn.Tanh(), nn.Linear(48, 1))
    nn.init.constant_(net[2].bias, float(tr.y.mean().log()))
    crit = nn.PoissonNLLLoss(log_input=True, full=False, reduction="sum")
    opt = torch.optim.SGD(net.parameters(), lr=2e-5, momentum=0.9)
    null = deviance(va.y.mean().log().expand(len(va)), va.y)
    for epoch in range(1, 25):
        total = 0.0
        for x, y in loader:
            loss = crit(net(x).squeeze(-1), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        if epoch % 3 == 0:
            with torch.no_grad():
                lm = net(va.x).squeeze(-1)
            print(f"epoch {epoch} summed loss {total:.1f} val summed loss {crit(lm, va.y).item():.1f} val D2 {1 - deviance(lm, va.y) / null:.4f}")


main()
