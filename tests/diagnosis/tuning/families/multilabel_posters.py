"""Movie posters with several genres each: 1 to 3 marks in a picture, multi-label BCE, thresholds chosen on a validation set and scored on a test set."""
import os
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
GENRES = ["action", "romance", "horror", "comedy", "western"]


def glyphs():
    a = np.zeros((5, 6, 6), np.float32)
    a[0, range(6), range(6)] = 1; a[0, range(6), range(5, -1, -1)] = 1
    a[1, 1:5, 1:5] = 1
    a[2, :, ::2] = 1
    a[3, 0] = a[3, 5] = 1; a[3, :, 0] = a[3, :, 5] = 1
    a[4, ::2] = 1
    return a


def posters(n, rng):
    g = glyphs()
    x = 0.4 * rng.standard_normal((n, 1, 20, 20)).astype(np.float32)
    y = np.zeros((n, 5), np.float32)
    for i in range(n):
        for k in rng.choice(5, rng.integers(1, 4), replace=False, p=[.3, .25, .15, .2, .1]):
            r, c = rng.integers(0, 15, 2)
            x[i, 0, r:r + 6, c:c + 6] += g[k] * rng.uniform(.7, 1.1)
            y[i, k] = 1
    return torch.from_numpy(x), torch.from_numpy(y)


class Trainer:
    def __init__(self, model, lr, epochs, steps):
        self.model, self.epochs = model, epochs
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.sched = torch.optim.lr_scheduler.OneCycleLR(self.opt, lr, total_steps=epochs * steps)
        self.crit = nn.BCEWithLogitsLoss()

    def logits(self, x):
        self.model.eval()
        with torch.no_grad():
            return self.model(x)

    def fit(self, loader, xv, yv):
        for ep in range(self.epochs):
            self.model.train()
            hist = []
            for x, y in loader:
                loss = self.crit(self.model(x), y)
                self.opt.zero_grad(); loss.backward(); self.opt.step(); self.sched.step()
                hist.append(loss.item())
            z = self.logits(xv)
            p, t = (z > 0).numpy(), yv.numpy() > 0
            f1 = [2 * (p[:, k] & t[:, k]).sum() / max(p[:, k].sum() + t[:, k].sum(), 1) for k in range(5)]
            print(f"epoch {ep} train {np.mean(hist):.4f} val {self.crit(z, yv).item():.4f} macro F1 {np.mean(f1):.4f} exact match {(p == t).all(1).mean():.4f}")


def main():
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED + 4)
    tr, va, te = posters(1600, rng), posters(400, rng), posters(400, rng)
    loader = DataLoader(TensorDataset(*tr), batch_size=40, shuffle=True)
    net = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 24, 3, stride=2, padding=1), nn.BatchNorm2d(24), nn.ReLU(),
                        nn.Conv2d(24, 40, 3, padding=1), nn.BatchNorm2d(40), nn.ReLU(), nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(40, 5))
    t = Trainer(net, 5e-3, 6, len(loader))
    t.fit(loader, va[0], va[1])
    pv, pt = t.logits(va[0]).sigmoid().numpy(), t.logits(te[0]).sigmoid().numpy()
    yv, yt = va[1].numpy() > 0, te[1].numpy() > 0
    for k, name in enumerate(GENRES):
        grid = np.linspace(.1, .9, 17)
        f = [2 * ((pv[:, k] > g) & yv[:, k]).sum() / max(((pv[:, k] > g).sum() + yv[:, k].sum()), 1) for g in grid]
        thr = grid[int(np.argmax(f))]
        q = pt[:, k] > thr
        print(f"{name:8s} threshold {thr:.2f} val F1 {max(f):.3f} test F1 {2 * (q & yt[:, k]).sum() / (q.sum() + yt[:, k].sum()):.3f}")


if __name__ == "__main__":
    main()
