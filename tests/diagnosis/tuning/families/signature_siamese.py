import copy
import os
from collections import OrderedDict

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)

HH, WW = 20, 40
PER_WRITER = 8


class SignatureBook:
    """Hand-drawn signatures: each writer has a closed-form stroke, each sample a shaky version of it."""

    def __init__(self, writers, seed):
        self.g = np.random.RandomState(seed)
        self.images = np.zeros((writers, PER_WRITER, HH, WW), np.float32)
        for w in range(writers):
            k = self.g.randint(2, 5)
            style = dict(amp=self.g.uniform(1.0, 4.0, k), freq=self.g.uniform(0.8, 4.5, k), ph=self.g.uniform(0, 6.28, k),
                         loop=self.g.uniform(0, 3.0), lf=self.g.uniform(2, 6), slant=self.g.uniform(-0.6, 0.6))
            for s in range(PER_WRITER):
                self.images[w, s] = self.draw(**style)

    def draw(self, amp, freq, ph, loop, lf, slant):
        g = self.g
        t = np.linspace(0, 1, 150)
        amp = amp * g.normal(1, 0.18, amp.shape)
        freq = freq * g.normal(1, 0.05, freq.shape)
        ph = ph + g.normal(0, 0.3, ph.shape)
        y = sum(a * np.sin(2 * np.pi * f * t + p) for a, f, p in zip(amp, freq, ph))
        x = 5 + 30 * t * g.normal(1, 0.05) + loop * np.cos(2 * np.pi * lf * t + g.normal(0, 0.3)) + slant * y + g.normal(0, 1.3)
        y = y + HH / 2 + g.normal(0, 1.0)
        img = np.zeros((HH, WW), np.float32)
        xi = np.clip(np.round(x), 0, WW - 1).astype(int)
        yi = np.clip(np.round(y), 0, HH - 1).astype(int)
        img[yi, xi] = 1.0
        img = np.clip(img + 0.5 * np.roll(img, 1, 0), 0, 1)
        return np.clip(img * g.uniform(0.7, 1.0) + 0.05 * g.randn(HH, WW), 0, 1)


class Trunk(nn.Module):
    def __init__(self, w=12, act=nn.ReLU, norm=True):
        super().__init__()
        layers = []
        for i, o in ((1, w), (w, 2 * w), (2 * w, 3 * w)):
            layers += [nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o) if norm else nn.GroupNorm(4, o), act(), nn.MaxPool2d(2)]
        self.conv = nn.Sequential(*layers)
        self.dim = 3 * w * 2 * 5

    def forward(self, x):
        return self.conv(x).flatten(1)


def standardise(f):
    return (f - f.mean(0, keepdims=True)) / (f.std(0, keepdims=True) + 1e-5)


class Siamese(nn.Module):
    def __init__(self, trunk, dim=32, normalise=True, hidden=64, linear=False):
        super().__init__()
        self.trunk = trunk
        self.project = nn.Sequential(nn.Linear(trunk.dim, hidden), nn.ReLU(), nn.Linear(hidden, dim))
        if linear:
            self.project = nn.Linear(trunk.dim, dim)
        self.normalise = normalise

    def forward(self, x):
        f = self.trunk(x)
        if CASE == 5:
            f = torch.as_tensor(standardise(f.detach().cpu().numpy()))
        elif CASE == 7:
            f = standardise_t(f)
        z = self.project(f)
        return F.normalize(z, dim=1) if self.normalise else z


def standardise_t(f):
    return F.layer_norm(f, f.shape[1:])


# ---------------------------------------------------------------------------------------------------- sampling
class Sampler:
    def __init__(self, book, seed):
        self.im = torch.from_numpy(book.images)
        self.g = np.random.RandomState(seed)

    def jiggle(self, x):
        keep = self.g.rand() < 0.05
        if keep:
            return x
        dy, dx = self.g.randint(-1, 2), self.g.randint(-2, 3)
        return torch.roll(x, (int(dy), int(dx)), (-2, -1))

    def take(self, w, s):
        return (self.jiggle(self.im[w, s]) - 0.15)[None] / 0.3

    def triplets(self, n):
        a, p, q = [], [], []
        for _ in range(n):
            w, v = self.g.choice(len(self.im), 2, replace=False)
            i, j = self.g.choice(PER_WRITER, 2, replace=False)
            a.append(self.take(w, i)), p.append(self.take(w, j)), q.append(self.take(v, self.g.randint(PER_WRITER)))
        return torch.stack(a), torch.stack(p), torch.stack(q)

    def pairs(self, n):
        a, b, y = [], [], []
        for k in range(n):
            w, v = self.g.choice(len(self.im), 2, replace=False)
            i, j = self.g.randint(0, PER_WRITER, 2)
            a.append(self.take(w, i))
            b.append(self.take(w if k % 2 == 0 else v, j))
            y.append(1.0 - k % 2)
        return torch.stack(a), torch.stack(b), torch.tensor(y)

    def pk(self, p, k):
        ws = self.g.choice(len(self.im), p, replace=False)
        xs = [self.take(w, s) for w in ws for s in self.g.choice(PER_WRITER, k, replace=False)]
        return torch.stack(xs), torch.arange(p).repeat_interleave(k)


# ---------------------------------------------------------------------------------------------------- losses
def cosine_triplet(za, zp, zn, margin=0.4):
    ap = F.cosine_similarity(za, zp)
    an = F.cosine_similarity(za, zn)
    if CASE == 0:
        return F.relu(ap - an + margin).mean()
    return F.relu((1 - ap) - (1 - an) + margin).mean()


def contrastive(za, zb, same, margin=1.0):
    if CASE == 1:
        d = torch.sqrt(((za - zb) ** 2).sum(1))
    else:
        d = F.pairwise_distance(za, zb)
    return (same * d ** 2 + (1 - same) * F.relu(margin - d) ** 2).mean()


def batch_hard(z, w, margin=0.3, soft=False):
    d = torch.cdist(z, z) if soft else (z[:, None] - z[None]).pow(2).sum(-1)
    same = w[:, None] == w[None]
    far = d.masked_fill(~same, float("-inf")).max(1)[0]
    near = d.masked_fill(same, float("inf")).min(1)[0]
    return F.softplus(3 * (far - near)).mean() if soft else F.relu(far - near + margin).mean()


def info_nce(z, w, tau=0.15):
    s = z @ z.t() / tau
    eye = torch.eye(len(z), dtype=torch.bool)
    s = s.masked_fill(eye, float("-inf"))
    pos = (w[:, None] == w[None]) & ~eye
    lp = F.log_softmax(s, 1)
    return -(lp.masked_fill(~pos, 0.0).sum(1) / pos.sum(1)).mean()


class Verifier:
    def __init__(self, net, opt, loss, steps, sched=None, teacher=None, report=5):
        self.net, self.opt, self.loss, self.steps, self.sched = net, opt, loss, steps, sched
        self.teacher = teacher
        self.report = max(1, steps // report)
        self.sampler = Sampler(SignatureBook(50, 11 + SEED), SEED)
        self.test = SignatureBook(25, 5000 + SEED).images

    def follow(self, m=0.9):
        src, dst = (self.net, self.teacher) if CASE != 4 else (self.teacher, self.net)
        with torch.no_grad():
            for p, q in zip(src.parameters(), dst.parameters()):
                q.mul_(m).add_(p, alpha=1 - m)
            if CASE != 4:
                for p, q in zip(self.net.buffers(), self.teacher.buffers()):
                    q.copy_(p)

    def run(self):
        for it in range(1, self.steps + 1):
            self.net.train()
            if CASE in (3, 9):
                self.net.trunk.eval()
            loss = self.loss(self.net, self.sampler)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            if self.sched is not None:
                self.sched.step()
            if self.teacher is not None:
                self.follow()
            if it % self.report == 0 or it == 1:
                print("it %4d  loss %.4f  auc on new writers %.3f" % (it, loss.item(), self.auc()))

    @torch.no_grad()
    def auc(self):
        net = self.teacher if self.teacher is not None and CASE != 4 else self.net
        net.eval()
        n = len(self.test)
        z = net((torch.from_numpy(self.test).reshape(-1, 1, HH, WW) - 0.15) / 0.3)
        d = torch.cdist(z, z)
        w = torch.arange(n).repeat_interleave(PER_WRITER)
        iu = torch.triu_indices(len(z), len(z), 1)
        d, y = d[iu[0], iu[1]], (w[:, None] == w[None])[iu[0], iu[1]]
        r = d.argsort().argsort().double() + 1
        m, k = y.sum().item(), (~y).sum().item()
        return 1 - (r[y].sum().item() - m * (m + 1) / 2) / (m * k)


def pretrain_trunk():
    """writer identification on other writers; the trunk is then handed on through a state dict"""
    book = SignatureBook(40, 900 + SEED)
    x = ((torch.from_numpy(book.images).reshape(-1, 1, HH, WW)) - 0.15) / 0.3
    y = torch.arange(40).repeat_interleave(PER_WRITER)
    model = nn.Sequential(OrderedDict(module=Trunk(), fc=nn.Linear(Trunk().dim, 40)))
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for ep in range(12):
        perm = torch.randperm(len(y))
        for i in range(0, len(y), 32):
            b = perm[i:i + 32]
            loss = F.cross_entropy(model(x[b]), y[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
    print("pretraining: loss %.3f" % loss.item())
    return {k: v.clone() for k, v in model.state_dict().items()}


def main():
    teacher = sched = None
    if CASE in (0, 6):
        net = Siamese(Trunk())
        opt = torch.optim.Adam(net.parameters(), lr=1e-3)
        loss = lambda net, s: cosine_triplet(*[net(v) for v in s.triplets(24)])
        steps = 260
    elif CASE in (1, 7):
        net = Siamese(Trunk(norm=False))
        opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)

        def loss(net, s):
            a, b, y = s.pairs(32)
            return contrastive(net(a), net(b), y)
        steps = 320
    elif CASE == 2:
        net = Siamese(Trunk(norm=False), normalise=False)
        opt = torch.optim.Adam(net.parameters(), lr=1e-3)

        def loss(net, s):
            x, w = s.pk(12, 4)
            return batch_hard(net(x), w)
        steps = 260
    elif CASE == 8:
        net = Siamese(Trunk(norm=True), dim=24)
        opt = torch.optim.Adam(net.parameters(), lr=1e-3)
        sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda i: min(1.0, i / 60))

        def loss(net, s):
            x, w = s.pk(10, 3)
            return batch_hard(net(x), w, soft=True)
        steps = 550
    elif CASE in (3, 9):
        state = pretrain_trunk()
        net = Siamese(Trunk(), dim=12, linear=True)
        if CASE == 9:
            state = {k[len("module."):]: v for k, v in state.items() if k.startswith("module.")}
        net.trunk.load_state_dict(state, strict=False)
        for p in net.trunk.parameters():
            p.requires_grad_(False)
        opt = torch.optim.Adam(net.project.parameters(), lr=1e-3)
        loss = lambda net, s: cosine_triplet(*[net(v) for v in s.triplets(32)])
        steps = 300
    elif CASE in (4, 10):
        net = Siamese(Trunk())
        teacher = copy.deepcopy(net)
        for p in teacher.parameters():
            p.requires_grad_(False)
        opt = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-2)

        def loss(net, s):
            x, w = s.pk(10, 3)
            return info_nce(net(x), w)
        steps = 250
    elif CASE == 5:
        net = Siamese(Trunk())
        opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)

        def loss(net, s):
            a, b, y = s.pairs(32)
            return contrastive(net(a), net(b), y)
        steps = 320
    else:
        net = Siamese(Trunk(8, nn.ELU), dim=16)
        opt = torch.optim.RMSprop(net.parameters(), lr=5e-4)
        sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 260)

        def loss(net, s):
            x, w = s.pk(12, 2)
            return info_nce(net(x), w, tau=0.1)
        steps = 260
    Verifier(net, opt, loss, steps, sched, teacher).run()


if __name__ == "__main__":
    main()
