import os, copy
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
seed = int(os.environ.get('SEED', '0'))
case = int(os.environ.get('CASE', '0'))
torch.manual_seed(seed)
rng = np.random.default_rng(seed)


def texture(kind, n):
    yy, xx = np.mgrid[0:16, 0:16]
    out = np.empty((n, 1, 16, 16), np.float32)
    for i in range(n):
        f = rng.uniform(0.9, 1.4)
        ph, ph2 = rng.uniform(0, 6.28, 2)
        if kind == 0:
            t = np.sin(f * xx + ph)
        elif kind == 1:
            t = np.sin(f * yy + ph)
        elif kind == 2:
            t = np.sin(f * (xx + yy) * 0.71 + ph)
        elif kind == 3:
            t = np.sin(f * (xx - yy) * 0.71 + ph)
        elif kind == 4:
            t = np.sin(f * xx + ph) * np.sin(f * yy + ph2)
        else:
            t = np.sin(f * np.hypot(xx - 8, yy - 8) + ph)
        out[i, 0] = t + 0.8 * rng.standard_normal((16, 16))
    return out


def dataset(per):
    xs = np.concatenate([texture(k, per) for k in range(6)])
    ys = np.repeat(np.arange(6), per)
    p = rng.permutation(len(ys))
    return torch.from_numpy(xs[p]), torch.from_numpy(ys[p])


class DW(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.dw = nn.Conv2d(cin, cin, 3, stride, 1, groups=cin, bias=False)
        self.bn1 = nn.BatchNorm2d(cin)
        self.pw = nn.Conv2d(cin, cout, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)

    def forward(self, x):
        x = F.relu6(self.bn1(self.dw(x)))
        return F.relu6(self.bn2(self.pw(x)))


class Net(nn.Module):
    def __init__(self, classes=6):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 12, 3, 1, 1, bias=False), nn.BatchNorm2d(12), nn.ReLU6())
        self.blocks = nn.Sequential(DW(12, 24, 2), DW(24, 32, 1), DW(32, 48, 2))
        self.classifier = nn.Linear(48, classes)

    def forward(self, x):
        x = self.blocks(self.stem(x))
        return self.classifier(x.mean((2, 3)))


def accuracy(net, x, y):
    net.eval()
    with torch.no_grad():
        out = torch.cat([net(c) for c in x.split(100)])
    return (out.argmax(1) == y).float().mean().item()


xtr, ytr = dataset(130)
xte, yte = dataset(50)
net = Net()
bs, epochs, lr = 32, 8, 2e-3
smooth = 0.0
if case == 2:
    bs, epochs = 2, 1
if case == 6:
    smooth = 0.3
if case == 4:
    for name, p in net.named_parameters():
        if 'classifier' not in name:
            p.requires_grad = False
if case == 3:
    opt = torch.optim.RMSprop(net.parameters(), lr=lr, weight_decay=0.5)
else:
    opt = torch.optim.RMSprop([p for p in net.parameters() if p.requires_grad], lr=lr)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.9)
ema = copy.deepcopy(net) if case == 7 else None
net.train()
if case == 5:
    for e in range(5):
        for i in range(0, len(xtr), 32):
            opt.zero_grad()
            F.cross_entropy(net(xtr[i:i + 32]), ytr[i:i + 32] % 3).backward()
            opt.step()
    net.classifier = nn.Linear(48, 6)
    opt = torch.optim.RMSprop(net.parameters(), lr=5e-4)
    sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.95)

step = 0
for epoch in range(epochs):
    perm = torch.randperm(len(xtr))
    run = 0.0
    for i in range(0, len(perm), bs):
        idx = perm[i:i + bs]
        if case == 5:
            net.train()
            for m in net.modules():
                if isinstance(m, nn.BatchNorm2d):
                    m.eval()
        elif case != 1:
            net.train()
        opt.zero_grad()
        loss = F.cross_entropy(net(xtr[idx]), ytr[idx], label_smoothing=smooth)
        loss.backward()
        opt.step()
        run = 0.9 * run + 0.1 * loss.item()
        step += 1
        if ema is not None:
            with torch.no_grad():
                for a, b in zip(ema.state_dict().values(), net.state_dict().values()):
                    if a.dtype.is_floating_point:
                        a.mul_(0.95).add_(b, alpha=0.05)
                    else:
                        a.copy_(b)
        if step == 1 or step % 60 == 0:
            print('step', step, 'loss %.3f' % run, 'val %.3f' % accuracy(net, xte[:100], yte[:100]))
    sched.step()
final = accuracy(ema if ema is not None else net, xte, yte)
print('METRIC', final)
