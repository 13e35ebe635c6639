# Symmetry classes of snow crystals on tiny microscope crops, small residual net.
import os
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
N = 20


def crystals(n, seed, folds=(3, 4, 6, 8), dendrite=None):
    r = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:N, 0:N] - (N - 1) / 2
    labels = r.integers(0, len(folds), n)
    out = np.empty((n, 1, N, N), np.float32)
    for i, k in enumerate(labels):
        dx, dy = r.normal(0, 0.8, 2)
        rad, ang = np.hypot(xx - dx, yy - dy), np.arctan2(yy - dy, xx - dx)
        size, phase, depth = r.uniform(5, 7.5), r.uniform(0, 6.3), r.uniform(0.25, 0.5)
        edge = size * (1 + depth * np.cos(folds[k] * ang + phase))
        img = 1 / (1 + np.exp((rad - edge) * 1.3))
        img *= 1 + 0.3 * np.cos(rad * r.uniform(0.8, 1.6) + r.uniform(0, 6))
        out[i, 0] = img * r.uniform(0.6, 1.2) + r.normal(0, 0.30, (N, N))
    return torch.from_numpy(out), torch.from_numpy(labels)


class Basic(nn.Module):
    def __init__(self, cin, cout, stride=1, momentum=0.1):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout, momentum=momentum)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout, momentum=momentum)
        self.short = nn.Sequential() if stride == 1 and cin == cout else nn.Sequential(
            nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout, momentum=momentum))

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(h)) + self.short(x))


class SnowNet(nn.Module):
    def __init__(self, classes, width=10, momentum=0.1):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, width, 3, padding=1, bias=False),
                                  nn.BatchNorm2d(width, momentum=momentum), nn.ReLU())
        self.layer1 = Basic(width, width, 2, momentum)
        self.layer2 = Basic(width, 2 * width, 2, momentum)
        self.layer3 = Basic(2 * width, 3 * width, 1, momentum)
        self.fc = nn.Linear(3 * width, classes)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(m, nn.BatchNorm2d):
                nn.init.constant_(m.weight, 0.0 if CASE == 5 else 1.0)
                nn.init.constant_(m.bias, 0.0)

    def forward(self, x):
        x = self.layer3(self.layer2(self.layer1(self.stem(x))))
        return self.fc(x.mean((2, 3)))


class Trainer:
    def __init__(self, model, lr, epochs, batch=40, clip=None):
        self.model, self.epochs, self.batch, self.clip = model, epochs, batch, clip
        self.opt = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=lr,
                                   momentum=0.9, weight_decay=5e-4)
        self.sched = None
        self.step = 0

    def fit(self, x, y, xv, yv, mixup=False):
        per_epoch = len(x) // self.batch
        self.sched = torch.optim.lr_scheduler.OneCycleLR(
            self.opt, max_lr=self.opt.param_groups[0]["lr"], total_steps=per_epoch * self.epochs, pct_start=0.2)
        for epoch in range(self.epochs):
            self.model.train()
            losses = []
            for idx in torch.randperm(len(x))[:per_epoch * self.batch].view(per_epoch, -1):
                xb, yb = x[idx], y[idx]
                if mixup:
                    lam = float(np.random.beta(0.6, 0.6))
                    other = torch.randperm(len(xb))
                    out = self.model(lam * xb + (1 - lam) * xb[other])
                    loss = lam * F.cross_entropy(out, yb) + (1 - lam) * F.cross_entropy(out, yb[other])
                else:
                    loss = F.cross_entropy(self.model(xb), yb)
                self.opt.zero_grad()
                loss.backward()
                if self.clip:
                    nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
                self.opt.step()
                self.sched.step()
                self.step += 1
                losses.append(loss.item())
                if self.step % 40 == 0:
                    print("step %4d  loss %.4f" % (self.step, np.mean(losses[-40:])))
            acc, vloss = self.validate(xv, yv)
            print("epoch %2d  train loss %.4f  val loss %.4f  val acc %.3f" % (epoch, np.mean(losses), vloss, acc))

    def validate(self, x, y):
        if CASE != 1:
            self.model.eval()
        hits, loss = 0, 0.0
        with torch.no_grad():
            for xb, yb in zip(x.split(60), y.split(60)):
                out = self.model(xb)
                loss += F.cross_entropy(out, yb, reduction="sum").item()
                hits += (out.argmax(1) == yb).sum().item()
        return hits / len(x), loss / len(x)


def main():
    torch.manual_seed(SEED)
    np.random.seed(SEED)
    x, y = crystals(1240, SEED + 5)
    xv, yv = crystals(360, SEED + 905)
    order = torch.argsort(yv)  # kept per class, as the folders on disk
    xv, yv = xv[order], yv[order]

    if CASE == 4:
        # learn the features on another crystal catalogue first, then only a new head on few photos
        net = SnowNet(5)
        px, py = crystals(1300, SEED + 55, folds=(2, 3, 5, 6, 7))
        Trainer(net, 0.06, 7, clip=5.0).fit(px[:1100], py[:1100], px[1100:], py[1100:])
        for p in net.parameters():
            p.requires_grad_(False)
        for m in net.modules():
            if isinstance(m, nn.BatchNorm2d):
                m.momentum = 0.0
        net.fc = nn.Linear(net.fc.in_features, 4)
        print("trainable:", sum(p.numel() for p in net.parameters() if p.requires_grad))
        Trainer(net, 0.1, 10).fit(x[:600], y[:600], xv, yv)
        return

    net = SnowNet(4, momentum=0.001 if CASE == 3 else 0.1)
    if CASE == 2:
        for p in net.parameters():
            p.requires_grad = False
        net.fc = nn.Linear(net.fc.in_features, 4)
    Trainer(net, 0.08, 8, clip=10.0).fit(x, y, xv, yv, mixup=CASE == 0)


if __name__ == "__main__":
    main()
