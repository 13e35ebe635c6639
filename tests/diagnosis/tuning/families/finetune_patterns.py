"""Pretrain a small CNN on eight patterns, then adapt it to four new ones with few images."""
import copy, os
import numpy as np
import torch, torch.nn as nn, torch.nn.functional as F

CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)
torch.set_num_threads(1)

S = 14
GRID = np.mgrid[0:S, 0:S].astype(float)


def pattern(k, r):
    yy, xx = GRID
    a, b = r.uniform(0, 6.28, 2)
    f = r.uniform(0.9, 1.1)
    if k == 0: p = np.sin(f * xx + a)
    elif k == 1: p = np.sin(f * yy + a)
    elif k == 2: p = np.sin(0.7 * f * (xx + yy) + a)
    elif k == 3: p = np.sin(0.7 * f * (xx - yy) + a)
    elif k == 4: p = np.sign(np.sin(f * xx + a) * np.sin(f * yy + b))
    elif k == 5: p = np.sin(f * np.hypot(xx - 6.5, yy - 6.5) + a)
    elif k == 6: p = np.sin(1.8 * f * xx + a)
    elif k == 7: p = np.sin(1.8 * f * yy + a)
    # the four of the second task
    elif k == 8: p = np.sin(1.3 * f * (xx + yy) + a)
    elif k == 9: p = np.sin(1.3 * f * (xx - yy) + a)
    elif k == 10: p = np.sign(np.sin(1.5 * f * xx + a) * np.sin(1.5 * f * yy + b))
    else: p = np.sin(f * xx + a) + np.sin(1.8 * f * yy + b)
    return r.uniform(0.4, 1.0) * p + r.normal(0, 0.7, (S, S))


def images(n, classes, seed, gain=1.0, shift=0.0):
    r = np.random.default_rng(seed)
    y = np.arange(n) % len(classes)
    x = np.stack([pattern(classes[k], r) for k in y]) * gain + shift
    return torch.tensor(x[:, None], dtype=torch.float32), torch.tensor(y)


class Net(nn.Module):
    def __init__(self, n_out, width=12):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, padding=1), nn.BatchNorm2d(2 * width), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(2 * width, 3 * width, 3, padding=1), nn.BatchNorm2d(3 * width), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
            nn.Flatten())
        self.fc = nn.Linear(3 * width, n_out)

    def forward(self, x):
        return self.fc(self.features(x))


def accuracy(net, x, y):
    net.eval()
    with torch.no_grad():
        return (net(x).argmax(1) == y).float().mean().item()


def pretrain():
    x, y = images(960, list(range(8)), SEED + 1)
    net = Net(8)
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for ep in range(4):
        net.train()
        for b in torch.randperm(len(x)).split(48):
            loss = F.cross_entropy(net(x[b]), y[b])
            opt.zero_grad(); loss.backward(); opt.step()
    print("pretraining done, accuracy %.3f" % accuracy(net, x, y))
    return net


def checkpoint(net):
    state = net.state_dict()
    if CASE == 2:
        return {"module." + k: v for k, v in state.items()}
    return state


new = [8, 9, 10, 11]
n_train = 24 if CASE == 7 else 160
gain, shift = (1.0, 0.0)
if CASE == 4:
    gain, shift = 0.25, 2.0
xtr, ytr = images(n_train, new, SEED + 2, gain, shift)
xva, yva = images(240, new, SEED + 3, gain, shift)

net = Net(4)
if CASE not in (1, 7):
    state = {k: v for k, v in checkpoint(pretrain()).items() if not k.startswith("fc")}
    net.load_state_dict(state, strict=False)

epochs, bs, patience = 20, 20, None
freeze = CASE in (0, 1, 2)
if freeze:
    for name, p in net.named_parameters():
        if not name.startswith("fc"):
            p.requires_grad = False

trainable = [p for p in net.parameters() if p.requires_grad]
if CASE in (0, 1, 2):
    opt = torch.optim.Adam(trainable, lr=2e-2)
elif CASE == 9:
    opt = torch.optim.Adam([{"params": net.features.parameters(), "lr": 1e-4},
                            {"params": net.fc.parameters(), "lr": 1e-2}])
elif CASE == 10:
    opt = torch.optim.SGD(trainable, lr=8.0, momentum=0.9)
elif CASE == 3:
    opt = torch.optim.SGD(trainable, lr=0.02, momentum=0.9)
else:
    opt = torch.optim.Adam(trainable, lr=3e-3)
if CASE == 6:
    epochs, patience = 60, 6
if CASE == 7:
    epochs, bs = 80, 12
if CASE == 8:
    # a deeper head for the new classes
    net.fc = nn.Sequential(nn.Linear(36, 36), nn.ReLU(), nn.Linear(36, 4))

net.train()
best, best_state, waited = 0.0, None, 0
for epoch in range(epochs):
    if CASE != 4:
        net.train()
    if CASE == 5 or freeze and CASE == 0:
        for m in net.modules():
            if isinstance(m, nn.BatchNorm2d):
                m.eval()
    total = 0.0
    for b in torch.randperm(len(xtr)).split(bs):
        opt.zero_grad()
        loss = F.cross_entropy(net(xtr[b]), ytr[b])
        loss.backward()
        opt.step()
        total += loss.item() * len(b)
    acc = accuracy(net, xva, yva)
    if acc > best:
        best, best_state, waited = acc, copy.deepcopy(net.state_dict()), 0
    else:
        waited += 1
    if epoch % 5 == 0 or epoch == epochs - 1:
        print("epoch %d  loss %.3f  val acc %.3f  best %.3f" % (epoch, total / len(xtr), acc, best))
    if patience and waited >= patience:
        print("early stop at epoch", epoch)
        break

if CASE == 6:
    net.load_state_dict(best_state)
print("train acc %.3f  val acc %.3f" % (accuracy(net, xtr, ytr), accuracy(net, xva, yva)))
