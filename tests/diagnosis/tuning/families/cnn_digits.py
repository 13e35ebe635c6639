import os
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

GLYPHS = ["111101101101111", "010110010010111", "111001111100111", "111001111001111", "101101111001001",
          "111100111001111", "111100111101111", "111001001010010", "111101111101111", "111101111001111"]


def draw(n, rng):
    """uint8 images of digits, 16 x 16 x 1 x n, as the .mat files have them"""
    y = rng.integers(0, 10, n)
    x = np.zeros((16, 16, 1, n), dtype=np.uint8)
    for i in range(n):
        g = np.array([int(c) for c in GLYPHS[y[i]]]).reshape(5, 3)
        g = np.kron(g, np.ones((2, 2))) * rng.integers(120, 255)
        r, c = rng.integers(0, 7), rng.integers(0, 11)
        x[r:r + 10, c:c + 6, 0, i] = g
        if CASE != 6:
            x[:, :, 0, i] = np.clip(x[:, :, 0, i].astype(int) + rng.integers(0, 60, (16, 16)), 0, 255)
    return x, y


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.fc1 = nn.Linear(32 * 16, 64)
        self.fc2 = nn.Linear(64, 10)
        if CASE == 4:
            for m in (self.conv1, self.conv2, self.fc1):
                nn.init.constant_(m.bias, -4.0)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


def to_tensor(x):
    if CASE == 2:
        t = torch.from_numpy(x.reshape(-1, 1, 16, 16)).float()
    else:
        t = torch.from_numpy(x.transpose(3, 2, 0, 1).copy()).float()
    return t


def load():
    rng = np.random.default_rng(SEED)
    xa, ya = draw(3000, rng)
    xb, yb = draw(600, rng)
    xa, xb = to_tensor(xa), to_tensor(xb)
    ya, yb = torch.from_numpy(ya), torch.from_numpy(yb)
    if CASE == 5:
        xa = xa[torch.randperm(len(xa))]
        ya = ya[torch.randperm(len(ya))]
    if CASE == 1:
        return xa, ya, xb, yb
    if CASE == 3:
        mean, std = xa.mean(), xa.std()
        return (xa - mean) / std, ya, xb / 255, yb
    mean, std = xa.mean(), xa.std()
    return (xa - mean) / std, ya, (xb - mean) / std, yb


def test(model, x, y):
    model.eval()
    with torch.no_grad():
        out = model(x)
    return F.cross_entropy(out, y).item(), (out.argmax(1) == y).float().mean().item()


def train(model, opt, sched, x, y, bs=50):
    model.train()
    perm = torch.randperm(len(x))
    for step, i in enumerate(range(0, len(x), bs)):
        xb, yb = x[perm[i:i + bs]], y[perm[i:i + bs]]
        if CASE == 8:
            dx, dy = np.random.randint(-1, 2, 2)
            xb = torch.roll(xb, (int(dx), int(dy)), (2, 3)) + 0.5 * torch.randn_like(xb)
        opt.zero_grad()
        if CASE == 9:
            lam = float(np.random.beta(0.4, 0.4))
            j = torch.randperm(len(xb))
            out = model(lam * xb + (1 - lam) * xb[j])
            loss = lam * F.cross_entropy(out, yb) + (1 - lam) * F.cross_entropy(out, yb[j])
        else:
            loss = F.cross_entropy(model(xb), yb)
        loss.backward()
        if CASE == 7:
            nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        opt.step()
        if sched is not None:
            sched.step()
        if step % 20 == 0:
            print("  step", step, "loss", round(loss.item(), 4))


if __name__ == "__main__":
    torch.manual_seed(SEED)
    np.random.seed(SEED)
    xa, ya, xb, yb = load()
    net = Net()
    lr = 0.1 if CASE == 7 else 0.05
    opt = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)
    sched = None
    if CASE == 6:
        sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, s / 60))
    for epoch in range(5):
        train(net, opt, sched, xa, ya)
        l, a = test(net, xb, yb)
        print(f"epoch {epoch}: test loss {l:.4f}, accuracy {a:.4f}")
    print("METRIC", a)
