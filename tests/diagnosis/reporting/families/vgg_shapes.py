import os
import math
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
SEED = int(os.environ.get("SEED", 0))
CASE = int(os.environ.get("CASE", 0))
S = 20


def draw_shape(kind, rng):
    yy, xx = np.mgrid[0:S, 0:S]
    cx, cy = rng.uniform(7, S - 7, 2)
    r = rng.uniform(3.5, 6.0)
    dx, dy = xx - cx, yy - cy
    if kind == 0:
        m = np.abs(np.sqrt(dx ** 2 + dy ** 2) - r) < 1.0
    elif kind == 1:
        m = np.abs(np.maximum(np.abs(dx), np.abs(dy)) - r * 0.85) < 1.0
    elif kind == 2:
        m = ((np.abs(dx) < 1.1) & (np.abs(dy) < r)) | ((np.abs(dy) < 1.1) & (np.abs(dx) < r))
    else:
        m = (np.abs(np.abs(dx) - np.abs(dy)) < 1.1) & (np.abs(dx) < r)
    img = rng.uniform(0, 0.3, (S, S, 3))
    color = rng.uniform(0.4, 1.0, 3)
    img[m] = color
    return (img * 255).astype(np.uint8)


def make_data(n, rng):
    ys = rng.randint(0, 4, n)
    xs = np.stack([draw_shape(k, rng) for k in ys])
    return xs, ys


def to_tensor(xs):
    x = torch.from_numpy(xs).float() / 255.0
    if CASE == 2:
        return x.reshape(-1, 3, S, S)
    return x.permute(0, 3, 1, 2).contiguous()


class VGG(nn.Module):
    def __init__(self, p=0.3):
        super().__init__()
        cfg = [8, 8, "M", 16, 16, "M"]
        layers, c = [], 3
        for v in cfg:
            if v == "M":
                layers.append(nn.MaxPool2d(2))
            else:
                layers += [nn.Conv2d(c, v, 3, padding=1), nn.ReLU(inplace=True)]
                c = v
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(nn.Linear(16 * 25, 64), nn.ReLU(), nn.Dropout(p), nn.Linear(64, 4))
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight)
                nn.init.zeros_(m.bias)

    def forward(self, x):
        x = self.classifier(self.features(x).flatten(1))
        if CASE == 1:
            x = torch.softmax(x, dim=1)
        return x


class Trainer:
    def __init__(self, model, opt, train_loader, test_loader, epochs):
        self.model, self.opt = model, opt
        self.train_loader, self.test_loader = train_loader, test_loader
        self.epochs = epochs
        self.criterion = nn.CrossEntropyLoss()
        self.acc = 0.0

    def train_epoch(self):
        self.model.train()
        total, n = 0.0, 0
        for x, y in self.train_loader:
            self.opt.zero_grad()
            loss = self.criterion(self.model(x), y)
            loss.backward()
            self.opt.step()
            total += loss.item() * len(y)
            n += len(y)
        return total / n

    @torch.no_grad()
    def evaluate(self):
        if CASE == 5:
            self.model.eval()
            for m in self.model.modules():
                if isinstance(m, nn.Dropout):
                    m.train()
            k = 8
        else:
            if CASE != 4:
                self.model.eval()
            k = 1
        good, n, tot = 0, 0, 0.0
        for x, y in self.test_loader:
            out = torch.stack([torch.log_softmax(self.model(x), 1) for _ in range(k)])
            out = torch.logsumexp(out, 0) - math.log(k)
            good += (out.argmax(1) == y).sum().item()
            tot += nn.functional.nll_loss(out, y, reduction="sum").item()
            n += len(y)
        self.acc, self.loss = good / n, tot / n
        return self.acc

    def fit(self):
        for e in range(self.epochs):
            tl = self.train_epoch()
            print(f"[{e}] train {tl:.4f} test acc {self.evaluate():.3f} loss {self.loss:.4f}")


def main():
    torch.manual_seed(SEED)
    rng = np.random.RandomState(SEED)
    xs, ys = make_data(640, rng)
    xt, yt = make_data(200, rng)
    if CASE == 9:
        order = np.argsort(-xs.reshape(len(xs), -1).std(1))
        xs, ys = xs[order], ys[order]
    if CASE == 10:
        flip = rng.rand(len(ys)) < 0.75
        ys = np.where(flip, rng.randint(0, 4, len(ys)), ys)
    x, t = to_tensor(xs), to_tensor(xt)
    mu, sd = x.mean((0, 2, 3), keepdim=True), x.std((0, 2, 3), keepdim=True)
    x = (x - mu) / sd
    if CASE != 8:
        t = (t - mu) / sd
    else:
        t = t * 255.0
    y, yt = torch.from_numpy(ys).long(), torch.from_numpy(yt).long()
    model = VGG(0.5 if CASE in (4, 5) else 0.3)
    epochs = 10
    if CASE == 6:
        x, y, t, yt = x[:32], y[:32], x[:32], y[:32]
        epochs = 60
    train = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=CASE != 9)
    test = DataLoader(TensorDataset(t, yt), batch_size=100)
    if CASE == 7:
        keep = y < 3
        pre = DataLoader(TensorDataset(x[keep], y[keep]), batch_size=32, shuffle=True)
        tr = Trainer(model, torch.optim.Adam(model.parameters(), 1e-3), pre, test, 7)
        tr.fit()
        for p in model.features.parameters():
            p.requires_grad = False
        model.classifier[3] = nn.Linear(64, 4)
        opt = torch.optim.Adam(filter(lambda p: p.requires_grad, model.parameters()), 1e-3)
        epochs = 6
    elif CASE == 3:
        opt = torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.9)
    elif CASE == 11:
        opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9995)
    elif CASE in (1, 0):
        opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    else:
        opt = torch.optim.Adam(model.parameters(), 1e-3)
    tr = Trainer(model, opt, train, test, epochs)
    tr.fit()
    print("METRIC", round(tr.loss, 4))


main()
