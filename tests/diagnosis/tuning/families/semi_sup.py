# Semi-supervised classification with few labels: pseudo labels (FixMatch style), mean teacher, MixMatch.
import copy
import math
import os
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
torch.set_num_threads(1)

D, K = 40, 6


def softmax_mse(a, b):
    return F.mse_loss(a.softmax(1), b.softmax(1))


def sharpen(p, T=0.5):
    p = p ** (1 / T)
    return p / p.sum(1, keepdim=True)


class World:
    """Classes are curved clusters in a 40 dimensional space."""

    def __init__(self, gap=1.45):
        g = torch.Generator().manual_seed(77)
        self.centre = torch.randn(K, D, generator=g) * gap / math.sqrt(2)
        self.bend = torch.randn(K, 2, D, generator=g)
        self.mix = torch.randn(D, D, generator=g) / math.sqrt(D)

    def draw(self, n, y=None):
        if y is None:
            y = torch.randint(0, K, (n,))
        t = torch.rand(len(y), 1) * 2 - 1
        x = self.centre[y] + 1.8 * t * self.bend[y, 0] + 1.2 * torch.sin(3 * t) * self.bend[y, 1]
        x = x + 1.1 * torch.randn(len(y), D)
        return torch.tanh(x @ self.mix * 0.6) * 2, y


def weak(x):
    return x + 0.1 * torch.randn_like(x)


def strong(x):
    x = x + 0.3 * torch.randn_like(x)
    return x * (torch.rand_like(x) > 0.2)


class Net(nn.Module):
    def __init__(self, hidden=96, p=0.0, norm=True, act=nn.ReLU, probs=False, depth=2):
        super().__init__()
        def layer(i, o):
            mods = [nn.Linear(i, o)]
            if norm:
                mods.append(nn.BatchNorm1d(o))
            mods.append(act())
            if p:
                mods.append(nn.Dropout(p))
            return mods
        mods = layer(D, hidden)
        for _ in range(depth - 1):
            mods += layer(hidden, hidden)
        self.body = nn.Sequential(*mods)
        self.head = nn.Linear(hidden, K)
        self.probs = probs

    def forward(self, x):
        out = self.head(self.body(x))
        if self.probs:
            out = torch.softmax(out, dim=1)
        return out


class Trainer:
    def __init__(self):
        world = World()
        per_class = 8 if CASE not in (8, 11) else 100
        y_lab = torch.arange(K).repeat_interleave(per_class)
        self.xl, self.yl = world.draw(0, y_lab)
        self.xu, _ = world.draw(3000)
        self.xt, self.yt = world.draw(1500)
        self.build()

    def build(self):
        lr, self.steps, self.bl, self.bu = 2e-3, 900, 24, 96
        self.sched, self.ema, self.clip = None, None, None
        if CASE in (0, 1):
            self.net = Net(p=0.1)
            self.opt = torch.optim.Adam(self.net.parameters(), lr=lr)
        elif CASE in (2, 4):
            self.net = Net(hidden=128, act=nn.LeakyReLU)
            self.ema = copy.deepcopy(self.net)
            self.opt = torch.optim.Adam(self.net.parameters(), lr=lr)
            self.decay = 0.02 * lr if CASE == 2 else 0.02
        elif CASE in (3, 10):
            self.net = Net(hidden=96, p=0.2, depth=4)
            self.bl, self.steps = 24, 800
            self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
            self.sched = torch.optim.lr_scheduler.CosineAnnealingLR(self.opt, self.steps)
        elif CASE in (5, 7):
            self.net = Net(hidden=80, norm=False, act=nn.GELU)
            self.opt = torch.optim.AdamW(self.net.body.parameters(), lr=1e-3, weight_decay=0.02)
            self.opt_head = torch.optim.SGD(self.net.head.parameters(), lr=0.05, momentum=0.5)
            self.ema = copy.deepcopy(self.net)
            self.steps = 1000
        elif CASE in (6, 9):
            self.net = Net(hidden=96, probs=True)
            self.opt = torch.optim.SGD(self.net.parameters(), lr=0.003, momentum=0.9)
            self.steps = 500
        else:                                   # 8, 11
            self.net = Net(hidden=64, act=nn.Tanh)
            self.opt = torch.optim.RMSprop(self.net.parameters(), lr=1e-3)
            self.steps, self.bl = 900, 20

    # -- pieces -------------------------------------------------------
    def labelled(self, it):
        n = len(self.yl)
        if CASE == 11:
            i = torch.arange(it * self.bl, (it + 1) * self.bl) % n
        else:
            i = torch.randperm(n)[:self.bl]
        return weak(self.xl[i]), self.yl[i]

    def unlabelled(self):
        return self.xu[torch.randint(0, len(self.xu), (self.bu,))]

    def pseudo(self, u, threshold=0.9):
        if CASE in (3, 10):
            self.net.eval()
            with torch.no_grad():
                p = self.net(weak(u)).softmax(1)
            if CASE == 3:
                self.net.train()
        else:
            with torch.no_grad():
                p = self.net(weak(u))
                if not self.net.probs:
                    p = p.softmax(1)
        conf, lab = p.max(1)
        return lab, (conf > threshold).float()

    @torch.no_grad()
    def update_ema(self, alpha=0.98):
        for e, p in zip(self.ema.parameters(), self.net.parameters()):
            e.mul_(alpha).add_(p, alpha=1 - alpha)
            if CASE in (2, 4):
                p.mul_(1 - self.decay)
        for e, p in zip(self.ema.buffers(), self.net.buffers()):
            e.copy_(p)

    @torch.no_grad()
    def test(self):
        net = self.ema if self.ema is not None else self.net
        mode = net.training
        net.eval()
        acc = (net(self.xt).argmax(1) == self.yt).float().mean().item()
        net.train(mode)
        return acc

    # -- recipes ------------------------------------------------------
    def fixmatch(self, it):
        x, y = self.labelled(it)
        u = self.unlabelled()
        lab, mask = self.pseudo(u)
        ramp = min(1.0, it / 200)
        if CASE in (0, 1):
            # two passes, one backward each, to save memory
            self.opt.zero_grad()
            sup = F.cross_entropy(self.net(x), y)
            sup.backward()
            if CASE == 1:
                self.opt.zero_grad()
            uns = (F.cross_entropy(self.net(strong(u)), lab, reduction="none") * mask).mean()
            (ramp * uns).backward()
            self.opt.step()
            return sup, uns
        if CASE in (6, 8, 11):
            sup = F.cross_entropy(self.net(x), y)
            uns = (F.cross_entropy(self.net(strong(u)), lab, reduction="none") * mask).mean()
        elif CASE == 9:
            sup = F.nll_loss(torch.log(self.net(x) + 1e-7), y)
            uns = (F.nll_loss(torch.log(self.net(strong(u)) + 1e-7), lab, reduction="none") * mask).mean()
        else:
            out = self.net(torch.cat([x, strong(u)]))
            sup = F.cross_entropy(out[:len(x)], y)
            uns = (F.cross_entropy(out[len(x):], lab, reduction="none") * mask).mean()
        self.opt.zero_grad()
        (sup + ramp * uns).backward()
        self.opt.step()
        return sup, uns

    def mean_teacher(self, it):
        x, y = self.labelled(it)
        u = self.unlabelled()
        with torch.no_grad():
            t = self.ema(weak(u))
        sup = F.cross_entropy(self.net(x), y)
        uns = softmax_mse(self.net(strong(u)), t)
        if CASE == 7:
            self.opt.zero_grad()
        self.opt_head.zero_grad()
        (sup + 8.0 * min(1.0, it / 300) * uns).backward()
        self.opt.step()
        self.opt_head.step()
        self.update_ema(0.97)
        return sup, uns

    def mixmatch(self, it):
        x, y = self.labelled(it)
        u = self.unlabelled()
        with torch.no_grad():
            q = sharpen((self.net(weak(u)).softmax(1) + self.net(strong(u)).softmax(1)) / 2)
        inputs = torch.cat([x, weak(u), strong(u)])
        targets = torch.cat([F.one_hot(y, K).float(), q, q])
        lam = torch.distributions.Beta(0.75, 0.75).sample().item()
        lam = max(lam, 1 - lam)
        perm = torch.randperm(len(inputs))
        mixed = lam * inputs + (1 - lam) * inputs[perm]
        tmix = lam * targets + (1 - lam) * targets[perm]
        out = self.net(mixed)
        sup = -(tmix[:len(x)] * out[:len(x)].log_softmax(1)).sum(1).mean()
        uns = F.mse_loss(out[len(x):].softmax(1), tmix[len(x):])
        self.opt.zero_grad()
        (sup + 20 * min(1.0, it / 400) * uns).backward()
        self.opt.step()
        self.update_ema()
        return sup, uns

    def run(self):
        step = self.mixmatch if CASE in (2, 4) else self.mean_teacher if CASE in (5, 7) else self.fixmatch
        self.net.train()
        for it in range(self.steps):
            sup, uns = step(it)
            if self.sched is not None:
                self.sched.step()
            if (it + 1) % 100 == 0:
                print("iter %d  sup %.4f  unsup %.4f  test acc %.3f" % (it + 1, sup.item(), uns.item(), self.test()))


if __name__ == "__main__":
    Trainer().run()
