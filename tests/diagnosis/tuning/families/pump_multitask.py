"""
Pump monitoring: from 20 sensor readings predict wear (regression), operating state (4 classes) and
whether a leak is coming (binary).  Shared MLP, three heads, gradient accumulation, averaged weights for evaluation.
"""
import os

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
np.random.seed(SEED)
torch.manual_seed(SEED)


def readings(n, seed):
    w = np.random.default_rng(77)                  # the plant itself is always the same
    A, B, C = w.normal(0, 1, (20, 6)), w.normal(0, 1, (6, 4)), w.normal(0, 1, 6)
    rng = np.random.default_rng(seed)
    hidden = rng.normal(0, 1, (n, 6))
    x = hidden @ A.T * 0.5 + rng.normal(0, 0.3, (n, 20))
    wear = np.sin(1.5 * hidden[:, 0]) + hidden[:, 1] * hidden[:, 2] + 0.1 * rng.normal(0, 1, n)
    state = (np.tanh(hidden) @ B + 0.2 * rng.normal(0, 1, (n, 4))).argmax(1)
    score = hidden @ C + hidden[:, 3] ** 2
    leak = (score > (3.5 if CASE != 4 else 6.5)).astype(np.float32)
    if CASE == 12 and seed < 1000:
        x[rng.choice(n, 6, replace=False), 5] = np.nan
    f = lambda a: torch.tensor(a, dtype=torch.float32)
    return f(x), f(wear), torch.tensor(state), f(leak)


class PumpNet(nn.Module):
    def __init__(self, width=64, p=0.0):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(20, width), nn.ReLU(), nn.Dropout(p),
                                   nn.Linear(width, width), nn.ReLU(), nn.Dropout(p))
        self.wear = nn.Linear(width, 1)
        self.state = nn.Linear(width, 4)
        self.leak = nn.Linear(width, 1)
        self.log_vars = nn.Parameter(torch.zeros(3), requires_grad=CASE == 2)

    def forward(self, x):
        h = self.trunk(x)
        return self.wear(h).squeeze(-1), self.state(h), self.leak(h).squeeze(-1)


class Averaged:
    """exponential moving average of the weights"""

    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = {k: v.detach().clone() for k, v in model.state_dict().items()}
        self.backup = None

    @torch.no_grad()
    def update(self, model):
        for k, v in model.state_dict().items():
            self.shadow[k].mul_(self.decay).add_(v, alpha=1 - self.decay)

    def swap_in(self, model):
        self.backup = {k: v.detach().clone() for k, v in model.state_dict().items()}
        model.load_state_dict(self.shadow)

    def swap_out(self, model):
        model.load_state_dict(self.backup)


@torch.no_grad()
def report(model, data, tag):
    model.eval()
    x, wear, state, leak = data
    a, b, c = model(x)
    r2 = 1 - ((a - wear) ** 2).mean() / wear.var()
    acc = (b.argmax(1) == state).float().mean()
    pred = c > 0
    tpr = (pred & (leak > 0)).sum() / (leak > 0).sum()
    tnr = (~pred & (leak == 0)).sum() / (leak == 0).sum()
    model.train()
    print(f"{tag}: wear r2 {r2:.3f}  state acc {acc:.3f}  leak balanced acc {(tpr + tnr) / 2:.3f}")


def losses_of(model, batch, pos_weight):
    x, wear, state, leak = batch
    a, b, c = model(x)
    parts = {
        "wear": F.mse_loss(a, wear, reduction="sum" if CASE == 10 else "mean"),
        "state": F.cross_entropy(b, state, reduction="sum" if CASE == 10 else "mean"),
        "leak": F.binary_cross_entropy_with_logits(c, leak, pos_weight=pos_weight,
                                                   reduction="sum" if CASE == 10 else "mean"),
    }
    if CASE == 7:
        parts["wear"] = parts["wear"].item()
    if CASE == 2:
        s = model.log_vars
        total = sum(torch.exp(-s[i]) * v + 0.5 * s[i] for i, v in enumerate(parts.values()))
    else:
        total = sum(parts.values())
    return total, {k: float(v) for k, v in parts.items()}


def make_optimizer(model):
    if CASE in (1, 10):
        return torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9)
    if CASE == 8:
        groups = [*model.trunk.parameters(), *model.wear.parameters(), *model.state.parameters()]
        return torch.optim.Adam(groups, lr=3e-3)
    return torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=3e-3)


def main():
    train, test = readings(2400, SEED + 1), readings(800, SEED + 5000)
    model = PumpNet(p=0.9 if CASE == 11 else 0.05)
    accum, batch, epochs, decay, max_norm = 2, 32, 14, 0.98, None
    if CASE == 1:
        accum, batch = 8, 8
    if CASE == 3:
        decay, epochs = 0.996, 22
    if CASE == 4:
        max_norm = 0.3
    pos_weight = None
    if CASE == 4:
        share = train[3].mean()
        pos_weight = (1 - share) / share
        print(f"share of leaks {share:.4f}")
    opt = make_optimizer(model)
    ema = Averaged(model, decay)
    warmup = 60 if CASE == 3 else 1
    loader = DataLoader(TensorDataset(*train), batch_size=batch, shuffle=True, drop_last=True)
    updates = 0
    for epoch in range(epochs):
        seen = {"wear": [], "state": [], "leak": []}
        if CASE == 3 and epoch == epochs - 5:
            # last phase: only the heads
            model.trunk.requires_grad_(False)
        opt.zero_grad()
        for i, b in enumerate(loader):
            total, parts = losses_of(model, b, pos_weight)
            (total / accum).backward()
            for k, v in parts.items():
                seen[k].append(v)
            if (i + 1) % accum:
                continue
            if CASE == 5:
                opt.zero_grad()
            if max_norm:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            if CASE != 10 and CASE != 1:
                for g in opt.param_groups:
                    g["lr"] = 3e-3 * min(1.0, (updates + 1) / warmup)
            opt.step()
            opt.zero_grad()
            ema.update(model)
            updates += 1
            if CASE == 6:
                opt = make_optimizer(model)
            if updates % 30 == 0:
                ema.swap_in(model)
                if updates % 120 == 0:
                    report(model, test, f"  {updates} updates, averaged")
                if CASE != 9:
                    ema.swap_out(model)
        print(f"epoch {epoch:2d}", " ".join(f"{k} {np.mean(v):.4f}" for k, v in seen.items()))
    report(model, test, "raw weights")
    ema.swap_in(model)
    report(model, test, "averaged   ")


if __name__ == "__main__":
    main()
