"""Lesion / no lesion in scans. Training at two hospitals, testing at both of them (held out patients) and at a third one whose scanner is brighter and noisier."""
import os
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))


def scans(n, site, g):
    gain, offset, noise = {"A": (1.0, 0.0, 0.45), "B": (1.2, 0.3, 0.5), "C": (0.9, 0.6, 0.6)}[site]
    yy, xx = np.mgrid[:24, :24]
    x = np.empty((n, 1, 24, 24), np.float32)
    y = g.integers(0, 2, n)
    for i in range(n):
        cy, cx = g.uniform(6, 18, 2)
        body = np.exp(-((yy - 12) ** 2 + (xx - 12) ** 2) / 120.0)
        im = body + 0.3 * np.sin(yy / g.uniform(2, 4) + g.uniform(0, 6))
        # a lesion is a small compact spot; the controls have a wider, diffuse one
        s = g.uniform(1.5, 2.4) if y[i] else g.uniform(3.0, 5.0)
        im = im + g.uniform(0.9, 1.5) * np.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / (2 * s * s))
        x[i, 0] = gain * im + offset + noise * g.standard_normal((24, 24))
    return torch.from_numpy(x), torch.from_numpy(y)


class ScanNet(nn.Module):
    def __init__(self, c=10):
        super().__init__()
        self.b1 = self.block(1, c)
        self.b2 = self.block(c, 2 * c)
        self.b3 = self.block(2 * c, 2 * c)
        self.head = nn.Linear(2 * c, 2)

    @staticmethod
    def block(i, o):
        return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(), nn.MaxPool2d(2))

    def forward(self, x):
        m, s = x.mean((2, 3), keepdim=True), x.std((2, 3), keepdim=True)
        x = (x - m) / s
        return self.head(self.b3(self.b2(self.b1(x))).amax((2, 3)))


@torch.no_grad()
def evaluate(model, x, y):
    model.eval()
    logits = torch.cat([model(b) for b in x.split(250)])
    model.train()
    return F.cross_entropy(logits, y).item(), (logits.argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(SEED)
    g = np.random.default_rng(SEED + 5)
    a, b = scans(800, "A", g), scans(800, "B", g)
    x, y = torch.cat([a[0], b[0]]), torch.cat([a[1], b[1]])
    internal = [torch.cat(t) for t in zip(scans(250, "A", g), scans(250, "B", g))]
    external = scans(400, "C", g)
    model = ScanNet()
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-2)
    sch = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=6e-3, total_steps=6 * 25)
    step = 0
    for epoch in range(6):
        for idx in torch.randperm(len(x)).split(64):
            xb = x[idx]
            # gain/offset/noise jitter so that other scanners are not a surprise
            xb = xb * torch.empty(len(xb), 1, 1, 1).uniform_(0.8, 1.25) + torch.empty(len(xb), 1, 1, 1).uniform_(-0.5, 0.8)
            xb = xb + torch.randn_like(xb) * torch.empty(len(xb), 1, 1, 1).uniform_(0, 0.5)
            loss = F.cross_entropy(model(xb), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            sch.step()
            step += 1
        li, ai = evaluate(model, *internal)
        le, ae = evaluate(model, *external)
        print(f"epoch {epoch} step {step} train {loss.item():.3f} | internal loss {li:.3f} acc {ai:.3f} | external site C loss {le:.3f} acc {ae:.3f}")


main()
