# Take a net trained on many synthetic leaf shapes, adapt it to three new species from few photos.
import os, copy, random
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get('CASE', '0'))
SEED = int(os.environ.get('SEED', '0'))
torch.set_num_threads(1)


def setup(seed):
    random.seed(seed); np.random.seed(seed); torch.manual_seed(seed)


def leaf(rng, lobes, depth, aspect, vein):
    yy, xx = np.mgrid[-1:1:20j, -1:1:20j]
    rot = rng.uniform(0, 2 * np.pi)
    u = xx * np.cos(rot) + yy * np.sin(rot)
    v = -xx * np.sin(rot) + yy * np.cos(rot)
    r = np.sqrt(u ** 2 + (v * aspect) ** 2) + 1e-6
    th = np.arctan2(v * aspect, u)
    edge = rng.uniform(0.65, 0.85) * (1 + depth * np.cos(lobes * th))
    img = 1 / (1 + np.exp((r - edge) * 14))
    img = img * (1 - 0.45 * (np.abs(np.sin(vein * u * 4 + rng.uniform(0, 3))) > 0.85))
    return (img + 0.22 * rng.standard_normal(img.shape)).astype(np.float32)


SOURCE = [(2, .3, 1, 1), (3, .3, 1, 1), (5, .3, 1, 1), (3, .1, 1.7, 2), (0, 0, 1.0, 3), (0, 0, 2.0, 1), (6, .2, 1, 2), (2, .1, 1.3, 3)]
TARGET = [(4, .3, 1, 1), (7, .25, 1, 1), (0, 0, 1.5, 2)]


def photos(species, each, seed):
    rng = np.random.default_rng(seed)
    x = np.stack([leaf(rng, *sp) for sp in species for _ in range(each)])
    y = np.repeat(np.arange(len(species)), each)
    return torch.tensor((x - 0.35) / 0.45)[:, None], torch.tensor(y)


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.stage1 = nn.Sequential(nn.Conv2d(1, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2))
        self.stage2 = nn.Sequential(nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2))
        self.stage3 = nn.Sequential(nn.Conv2d(24, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU())

    def forward(self, x):
        z = self.stage3(self.stage2(self.stage1(x)))
        return torch.cat([z.mean((2, 3)), z.amax((2, 3))], 1)


class LeafNet(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.backbone = Backbone()
        self.fc = nn.Linear(96, n)
        self.no_grad_features = False

    def forward(self, x):
        if self.no_grad_features:
            with torch.no_grad():
                f = self.backbone(x)
        else:
            f = self.backbone(x)
        return self.fc(f)


def pretrain():
    path = '/tmp/leaf_backbone_%d_%d.pt' % (SEED, os.getpid())
    x, y = photos(SOURCE, 90, SEED + 1)
    net = LeafNet(len(SOURCE))
    opt = torch.optim.Adam(net.parameters(), 4e-3)
    for ep in range(9):
        for idx in torch.randperm(len(x)).split(60):
            loss = F.cross_entropy(net(x[idx]), y[idx])
            opt.zero_grad(); loss.backward(); opt.step()
    print('source loss %.3f' % loss.item())
    sd = net.state_dict()
    if CASE == 5:
        sd = {'module.' + k: v for k, v in sd.items()}
    torch.save(sd, path)
    return path


def evaluate(net, x, y, bs=50):
    good = 0
    with torch.no_grad():
        for a, b in zip(x.split(bs), y.split(bs)):
            good += (net(a).argmax(1) == b).sum().item()
    return good / len(y)


def main():
    setup(SEED)
    path = pretrain() if CASE != 7 else None
    xt, yt = photos(TARGET, 50, SEED + 2)
    xv, yv = photos(TARGET, 100, SEED + 3)
    net = LeafNet(len(SOURCE))
    if path is not None:
        state = torch.load(path)
        os.remove(path)
        net.load_state_dict(state, strict=False)

    early = None
    if CASE == 4:
        early = torch.optim.Adam(net.parameters(), lr=1e-3)
    net.fc = nn.Linear(96, len(TARGET))
    if CASE in (3, 10):
        net.fc = nn.Sequential(nn.Linear(96, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, len(TARGET)))

    freeze = CASE in (1, 5, 7, 12)
    if freeze:
        for p in net.backbone.parameters():
            p.requires_grad = False
    if CASE == 8:
        net.no_grad_features = True

    if CASE == 1:
        opt = torch.optim.SGD(net.fc.parameters(), lr=0.03, momentum=0.9)
    elif CASE in (5, 7, 12):
        opt = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=3e-3)
    elif CASE == 2:
        opt = torch.optim.AdamW([
            {'params': net.backbone.stage1.parameters(), 'lr': 1e-5},
            {'params': net.backbone.stage2.parameters(), 'lr': 1e-4},
            {'params': net.backbone.stage3.parameters(), 'lr': 5e-4},
            {'params': net.fc.parameters(), 'lr': 5e-3}])
    elif CASE == 6:
        opt = torch.optim.SGD(net.parameters(), lr=1.0, momentum=0.9)
    else:
        opt = early or torch.optim.Adam(net.parameters(), lr=1e-3)

    bs, epochs = 25, 20
    if CASE == 10:
        bs, epochs = 2, 3
    ema = copy.deepcopy(net).eval() if CASE == 3 else None
    step = 0
    for ep in range(epochs):
        net.train()
        if CASE == 1:
            net.backbone.eval()
        if CASE == 12 and ep in (6, 10):
            stage = net.backbone.stage3 if ep == 6 else net.backbone.stage2
            for p in stage.parameters():
                p.requires_grad = True
            opt.add_param_group({'params': stage.parameters(), 'lr': 1e-3})
        seen, loss_sum = 0, 0.0
        for idx in torch.randperm(len(xt)).split(bs):
            xb, yb = xt[idx], yt[idx]
            if CASE != 10 and random.random() < 0.5:
                xb = xb.flip(3)
            logits = net(xb)
            loss = F.cross_entropy(logits, yb)
            if CASE == 9:
                loss.backward()
                opt.zero_grad()
                opt.step()
            else:
                opt.zero_grad()
                loss.backward()
                opt.step()
            step += 1
            loss_sum += loss.item() * len(idx); seen += len(idx)
            if ema is not None:
                with torch.no_grad():
                    for a, b in zip(ema.state_dict().values(), net.state_dict().values()):
                        if a.dtype.is_floating_point:
                            a.mul_(0.9).add_(b, alpha=0.1)
                        else:
                            a.copy_(b)
        if CASE == 11:
            acc = evaluate(net, xv, yv, bs=4)
        else:
            net.eval()
            acc = evaluate(ema if ema is not None else net, xv, yv)
        if ep % 2 == 1 or epochs < 6:
            print('ep %2d  step %3d  loss %.4f  val acc %.3f' % (ep, step, loss_sum / seen, acc))


if __name__ == '__main__':
    main()
