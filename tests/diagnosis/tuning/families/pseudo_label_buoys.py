import os
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
np.random.seed(SEED)


CENTRES = np.random.randn(3, 2, 10) * 1.15


def spectra(n):
    k = np.random.randint(0, 3, n)
    which = np.random.randint(0, 2, n)
    x = CENTRES[k, which] + np.random.randn(n, 10)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(k)


class SelfTrainer:
    def __init__(self, labelled, unlabelled, test):
        self.xl, self.yl = labelled
        self.xu = unlabelled
        self.xt, self.yt = test
        self.round = 0

    def fresh(self):
        return nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))

    def fit(self, x, y, w, steps=220):
        # a new model each round; the old one only supplied labels
        model = self.fresh()
        opt = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=1e-3)
        for s in range(steps):
            i = torch.randint(len(x), (64,))
            xb = x[i] + 0.3 * torch.randn(64, 10)
            loss = (F.cross_entropy(model(xb), y[i], reduction="none") * w[i]).sum() / w[i].sum()
            opt.zero_grad()
            loss.backward()
            opt.step()
            if s % 55 == 54:
                print(f"  round {self.round} step {s+1} loss {loss.item():.4f}")
        return model

    @torch.no_grad()
    def score(self, m):
        return (m(self.xt).argmax(1) == self.yt).float().mean().item()

    def run(self, rounds=6, conf=0.93):
        x, y, w = self.xl, self.yl, torch.ones(len(self.xl))
        for self.round in range(rounds):
            model = self.fit(x, y, w)
            with torch.no_grad():
                p, lab = F.softmax(model(self.xu), 1).max(1)
            keep = p > conf
            print(f"round {self.round}: trained on {len(x)}, test acc {self.score(model):.3f}, confident {int(keep.sum())}/{len(keep)}")
            x = torch.cat([self.xl, self.xu[keep]])
            y = torch.cat([self.yl, lab[keep]])
            w = torch.cat([torch.full((len(self.xl),), 3.0), torch.ones(int(keep.sum()))])
        return model


xl, yl = spectra(60)
xu, _ = spectra(2000)
test = spectra(1000)
final = SelfTrainer((xl, yl), xu, test).run()
