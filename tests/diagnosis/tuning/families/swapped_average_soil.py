"""Soil moisture regression; evaluated with exponentially averaged weights that are swapped in and put back."""
import os
import contextlib
import torch
import torch.nn as nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))


class Averager:
    def __init__(self, params, decay):
        self.params = list(params)
        self.decay = decay
        self.n = 0
        self.shadow = [p.detach().clone() for p in self.params]

    @torch.no_grad()
    def update(self):
        self.n += 1
        d = min(self.decay, (1 + self.n) / (10 + self.n))
        for s, p in zip(self.shadow, self.params):
            s.mul_(d).add_(p, alpha=1 - d)

    @contextlib.contextmanager
    def applied(self):
        keep = [p.detach().clone() for p in self.params]
        with torch.no_grad():
            for p, s in zip(self.params, self.shadow):
                p.copy_(s)
        try:
            yield
        finally:
            with torch.no_grad():
                for p, k in zip(self.params, keep):
                    p.copy_(k)


def data(n, g):
    x = torch.randn(n, 12, generator=g)
    rain = torch.relu(x[:, 0] + 0.6 * x[:, 1])
    clay = torch.sigmoid(2 * x[:, 2])
    y = rain * clay - 0.6 * torch.relu(x[:, 3]) * (1 - clay) + 0.4 * torch.sin(2 * x[:, 4]) + 0.3 * x[:, 5]
    return x, y + 0.35 * torch.randn(n, generator=g)


def mse(net, x, y):
    with torch.no_grad():
        return nn.functional.mse_loss(net(x).squeeze(-1), y).item()


def main():
    torch.manual_seed(SEED)
    g = torch.Generator().manual_seed(SEED + 77)
    xtr, ytr = data(5000, g)
    xva, yva = data(1500, g)
    net = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
    opt = torch.optim.SGD(net.parameters(), lr=0.08, momentum=0.9)
    ema = Averager(net.parameters(), 0.99)
    print(f"variance of the target {yva.var():.4f}, noise floor {0.35 ** 2:.4f}")
    for step in range(1, 1201):
        idx = torch.randint(0, len(xtr), (32,))
        loss = nn.functional.mse_loss(net(xtr[idx]).squeeze(-1), ytr[idx])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 2.0)
        opt.step()
        ema.update()
        if step == 900:
            opt.param_groups[0]["lr"] = 0.02
        if step % 100 == 0:
            raw = mse(net, xva, yva)
            with ema.applied():
                avg = mse(net, xva, yva)
            print(f"step {step} batch {loss.item():.4f} val raw {raw:.4f} val averaged {avg:.4f}")


main()
