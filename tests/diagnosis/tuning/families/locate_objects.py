import os, math
from types import SimpleNamespace as NS
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

CASE = int(os.environ.get("CASE", 1))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)
torch.set_num_threads(1)

IMG = 20
KINDS = 4


def scenes(n, seed):
    """grey uint8 pictures with one object: where is it, what is it, how large is it"""
    r = np.random.RandomState(seed)
    yy, xx = np.mgrid[0:IMG, 0:IMG]
    pics = np.zeros((n, IMG, IMG), np.uint8)
    xy, kind, size = np.zeros((n, 2), np.float32), r.randint(0, KINDS, n), np.zeros(n, np.float32)
    for i in range(n):
        s = r.uniform(3, 5)
        cx, cy = r.uniform(s, IMG - s, 2)
        dx, dy = abs(xx - cx), abs(yy - cy)
        k = kind[i]
        if k == 0: m = dx ** 2 + dy ** 2 < s ** 2
        elif k == 1: m = (dx < s * 0.9) & (dy < s * 0.9)
        elif k == 2: m = ((dx < 1.2) | (dy < 1.2)) & (dx < s) & (dy < s)
        else: m = (dx ** 2 + dy ** 2 < s ** 2) & (dx ** 2 + dy ** 2 > (s - 1.8) ** 2)
        pic = 60 + 120 * m + r.normal(0, 18, (IMG, IMG))
        pics[i] = np.clip(pic, 0, 254)
        xy[i] = cx / IMG, cy / IMG
        size[i] = s
    return torch.from_numpy(pics), torch.from_numpy(xy), torch.from_numpy(kind).long(), torch.from_numpy(size)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        if CASE == 9:
            layers, c = [], 1
            for i in range(7):
                layers += [nn.Conv2d(c, 12, 3, padding=1), nn.Sigmoid()]
                if i in (1, 4):
                    layers += [nn.AvgPool2d(2)]
                c = 12
            self.body = nn.Sequential(*layers, nn.Flatten())
            flat = 12 * 25
        else:
            self.body = nn.Sequential(
                nn.Conv2d(1, 10, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                nn.Conv2d(10, 20, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten())
            flat = 20 * 25
        self.trunk = nn.Linear(flat, 64)
        self.where = nn.Linear(64, 2)
        self.what = nn.Linear(64, KINDS)
        self.big = nn.Linear(64, 1)

    def forward(self, x):
        h = self.body(x)
        h = self.trunk(h)
        h = torch.sigmoid(h) if CASE == 9 else F.relu(h)
        return NS(where=self.where(h), what=self.what(h), big=self.big(h).squeeze(1))


class MultiTask:
    def __init__(self, epochs=8, batch=40, lr=3e-3):
        self.epochs, self.batch = epochs, batch
        self.train_set, self.test_set = scenes(1400, SEED + 1), scenes(400, SEED + 2)
        self.net = Net()
        params = list(self.net.parameters())
        self.use_amp = False
        if CASE == 4:
            self.log_vars = nn.Parameter(torch.zeros(3))
            params.append(self.log_vars)
        if CASE == 2:
            self.opt = torch.optim.RMSprop(params, lr=8e-4)
        elif CASE == 8:
            self.opt = torch.optim.SGD(params, lr=0.03, momentum=0.9, nesterov=True)
        else:
            self.opt = torch.optim.AdamW(params, lr=lr, weight_decay=1e-2)
        n = 35 * epochs
        self.sched = torch.optim.lr_scheduler.LambdaLR(self.opt, lambda s: max(0.05, 1 - s / n))

    def pixels(self, pics):
        if CASE == 0:
            x = pics // 255
        else:
            x = pics / 255.0
        return x.float().unsqueeze(1) * 2 - 1

    def losses(self, out, xy, kind, size):
        if CASE == 3:
            where = F.cross_entropy(out.where, xy)
        elif CASE == 8:
            where = 10 * F.smooth_l1_loss(out.where, xy, beta=0.1)
        else:
            where = 10 * F.mse_loss(out.where, xy)
        what = F.cross_entropy(out.what, kind, label_smoothing=0.1 if CASE == 2 else 0.0)
        if CASE == 5:
            big = F.mse_loss(out.big, (2 * size) ** 2 * 100)
        else:
            big = F.mse_loss(out.big, size - 4)
        return where, what, big

    def combine(self, parts):
        if CASE == 4:
            return sum(torch.exp(-s) * l + s for s, l in zip(self.log_vars, parts))
        return sum(parts)

    def backward(self, loss):
        if CASE == 7:
            if self.use_amp:
                (loss * 1024).backward()
        else:
            loss.backward()

    def fit(self):
        pics, xy, kind, size = self.train_set
        for ep in range(self.epochs):
            self.net.train()
            seen = torch.zeros(3)
            total = 0.0
            for idx in torch.randperm(len(pics)).split(self.batch):
                x, c = self.pixels(pics[idx]), xy[idx].clone()
                if CASE in (6, 10):
                    flip = torch.rand(len(idx)) < 0.5
                    x[flip] = x[flip].flip(-1)
                    if CASE == 10:
                        c[flip, 0] = 1 - 1 / IMG - c[flip, 0]
                parts = self.losses(self.net(x), c, kind[idx], size[idx])
                loss = self.combine(parts)
                self.opt.zero_grad()
                self.backward(loss)
                self.opt.step()
                self.sched.step()
                seen += torch.stack(parts).detach()
                total += loss.item()
            self.report(ep, seen / 35, total / 35)

    @torch.no_grad()
    def report(self, ep, seen, total):
        self.net.eval()
        pics, xy, kind, size = self.test_set
        out = self.net(self.pixels(pics))
        px = (out.where - xy).norm(dim=1).mean().item() * IMG
        acc = (out.what.argmax(1) == kind).float().mean().item()
        print("epoch %d loss %.3f (where %.4f what %.4f big %.4f) -- test: centre off by %.2f px, kind %.3f"
              % (ep + 1, total, *seen.tolist(), px, acc))


if __name__ == "__main__":
    MultiTask().fit()
