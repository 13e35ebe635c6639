"""Flower measurements. The test file is sorted by class, and is evaluated in that order in batches of 25 (model in eval mode)."""
import os
import numpy as np
import torch
import torch.nn as nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

g = np.random.default_rng(SEED + 3)
K, D = 6, 9
centers = g.normal(0, 1.1, (K, D))
mix = g.normal(0, 0.5, (K, D, D)) + np.eye(D)


def sample(n_per):
    xs, ys = [], []
    for k in range(K):
        z = g.normal(0, 1, (n_per, D))
        xs.append(centers[k] + z @ mix[k] * 0.8 + 0.2 * z ** 2)
        ys.append(np.full(n_per, k))
    return np.concatenate(xs).astype(np.float32) * 4 + 12, np.concatenate(ys)


class Classifier(nn.Module):
    def __init__(self, d, k, h=64):
        super().__init__()
        self.inp = nn.BatchNorm1d(d)
        self.l1, self.n1 = nn.Linear(d, h), nn.BatchNorm1d(h)
        self.l2, self.n2 = nn.Linear(h, h), nn.BatchNorm1d(h)
        self.out = nn.Linear(h, k)

    def forward(self, x):
        x = self.inp(x)
        x = torch.relu(self.n1(self.l1(x)))
        x = torch.relu(self.n2(self.l2(x)))
        return self.out(x)


class Runner:
    def __init__(self, model, lr=2e-3):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.sched = torch.optim.lr_scheduler.StepLR(self.opt, 8, 0.4)

    def fit_epoch(self, x, y, bs):
        self.model.train()
        order = torch.randperm(len(x))
        total = 0.0
        for i in range(0, len(order) - bs + 1, bs):
            idx = order[i:i + bs]
            loss = nn.functional.cross_entropy(self.model(x[idx]), y[idx])
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            total += loss.item()
        self.sched.step()
        return total / (len(order) // bs)

    @torch.no_grad()
    def test(self, x, y, bs=25):
        self.model.eval()
        conf = np.zeros((K, K), int)
        nll = 0.0
        for i in range(0, len(x), bs):
            lp = self.model(x[i:i + bs]).log_softmax(-1)
            nll -= lp.gather(1, y[i:i + bs, None]).sum().item()
            for a, b in zip(y[i:i + bs].tolist(), lp.argmax(1).tolist()):
                conf[a, b] += 1
        return nll / len(x), conf


torch.manual_seed(SEED)
xtr, ytr = map(torch.from_numpy, sample(350))
xte, yte = map(torch.from_numpy, sample(100))
r = Runner(Classifier(D, K))
for ep in range(20):
    tl = r.fit_epoch(xtr, ytr, 60)
    if ep % 2 == 1:
        nll, conf = r.test(xte, yte)
        print(f"epoch {ep + 1} train {tl:.4f} test nll {nll:.4f} acc {np.trace(conf) / conf.sum():.4f}")
print("per class:", (np.diag(conf) / conf.sum(1)).round(2))
