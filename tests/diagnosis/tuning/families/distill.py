"""Teachers and students: distillation, mean teacher, self-training, on a synthetic 8-class problem."""
import copy
import itertools
import os

import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "5"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)

D, K = 20, 8
_centres = torch.randn(K, 3, D)
_mix = torch.linalg.qr(torch.randn(D, D))[0]


def sample(n, noise=1.0):
    y = torch.randint(K, (n,))
    c = _centres[y, torch.randint(3, (n,))]
    x = c * 1.1 + noise * torch.randn(n, D)
    return torch.tanh(x @ _mix) * 1.5, y


class Student(nn.Module):
    def __init__(self, width=64, p=0.0, bn=False, act=nn.ReLU):
        super().__init__()
        layers, d = [], D
        for _ in range(2):
            layers.append(nn.Linear(d, width))
            if bn:
                layers.append(nn.BatchNorm1d(width))
            layers.append(act())
            if p:
                layers.append(nn.Dropout(p))
            d = width
        self.backbone = nn.Sequential(*layers)
        self.head = nn.Linear(width, K)

    def forward(self, x):
        return self.head(self.backbone(x))


def batches(n, bs):
    while True:
        for b in torch.randperm(n).split(bs):
            if len(b) == bs:
                yield b


@torch.no_grad()
def accuracy(net, x, y):
    was = net.training
    net.eval()
    acc = (net(x).argmax(1) == y).float().mean().item()
    net.train(was)
    return acc


def train_teacher(x, y, epochs=12):
    net = Student(width=128, p=0.2, bn=True)
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for _ in range(epochs):
        for b in torch.randperm(len(x)).split(64):
            loss = F.cross_entropy(net(x[b]), y[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return net.eval()


def kd_loss(s, t, T):
    return F.kl_div(F.log_softmax(s / T, dim=1), F.softmax(t / T, dim=1), reduction="batchmean") * T * T


def distil():
    """a small student learns from the soft labels of a bigger teacher"""
    x, y = sample(3000)
    xt, yt = sample(1500)
    teacher = train_teacher(x, y)
    print("teacher", accuracy(teacher, xt, yt))
    student = Student(width=48)
    if CASE == 4:
        for m in student.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, 0.0, 1.0)
    lr = 3e-3
    for p in teacher.parameters():
        p.requires_grad_(False)
    if CASE == 2:
        for p in student.backbone.parameters():
            p.requires_grad_(False)
    opt = torch.optim.Adam([p for p in student.parameters() if p.requires_grad], lr=lr)
    for epoch in range(15):
        run = 0.0
        for b in torch.randperm(len(x)).split(60):
            with torch.no_grad():
                t = teacher(x[b])
            s = student(x[b])
            loss = 0.9 * kd_loss(s, t, 3.0) + 0.1 * F.cross_entropy(s, y[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
            run += loss.item()
        if epoch % 3 == 2:
            print(f"epoch {epoch + 1} loss {run / 50:.4f} student {accuracy(student, xt, yt):.4f}")
    return accuracy(student, xt, yt)


def student_with_norm():
    """students with batch norm and dropout, checked after each epoch on the requests of a small service"""
    x, y = sample(2400)
    xt, yt = sample(600)
    teacher = train_teacher(x, y)
    student = Student(width=64, p=0.4, bn=True)
    opt = torch.optim.AdamW(student.parameters(), lr=3e-3)
    for epoch in range(12):
        student.train()
        for b in torch.randperm(len(x)).split(48):
            with torch.no_grad():
                t = teacher(x[b])
            s = student(x[b])
            loss = 0.5 * kd_loss(s, t, 2.0) + 0.5 * F.cross_entropy(s, y[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
        if CASE != 3:
            student.eval()
        hits = 0
        with torch.no_grad():
            for i in range(0, len(xt), 4):
                hits += (student(xt[i:i + 4]).argmax(1) == yt[i:i + 4]).sum().item()
        print("epoch", epoch, "loss", round(loss.item(), 4), "val acc", round(hits / len(xt), 4))
    return hits / len(xt)


@torch.no_grad()
def ema(target, source, m):
    for t, s in zip(target.parameters(), source.parameters()):
        t.mul_(m).add_(s, alpha=1 - m)


def mean_teacher(steps=800):
    xl, yl = sample(240)
    xu, _ = sample(3000)
    xt, yt = sample(1500)
    student = Student(width=96, p=0.1)
    teacher = copy.deepcopy(student)
    for p in teacher.parameters():
        p.requires_grad = False
    opt = torch.optim.SGD(student.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-3)
    lab, unl = batches(240, 40), batches(3000, 80)
    for step in range(steps):
        bl, bu = next(lab), next(unl)
        sup = F.cross_entropy(student(xl[bl] + 0.1 * torch.randn(40, D)), yl[bl])
        with torch.no_grad():
            target = teacher(xu[bu] + 0.1 * torch.randn(80, D)).softmax(1)
        cons = F.mse_loss(student(xu[bu] + 0.3 * torch.randn(80, D)).softmax(1), target)
        loss = sup + 8.0 * min(1.0, step / 200) * cons
        opt.zero_grad()
        loss.backward()
        if CASE == 1:
            nn.utils.clip_grad_norm_(student.parameters(), 1e-4)
        opt.step()
        ema(teacher, student, min(0.99, 1 - 1 / (step + 2)))
        if step % 100 == 99:
            print(f"step {step + 1} sup {sup.item():.3f} cons {cons.item():.4f} student {accuracy(student, xt, yt):.3f} "
                  f"teacher {accuracy(teacher, xt, yt):.3f}")
    return accuracy(teacher, xt, yt)


def self_training():
    """three rounds of pseudo labels; only confident ones are used"""
    xl, yl = sample(400, noise=0.7)
    xu, _ = sample(3000, noise=0.7)
    xt, yt = sample(1500, noise=0.7)

    def fit(x, y, epochs):
        net = Student(width=96, p=0.3)
        opt = torch.optim.Adam(net.parameters(), lr=2e-3, weight_decay=1e-4)
        for e in range(epochs):
            for b in torch.randperm(len(x)).split(50):
                loss = F.cross_entropy(net(x[b] + 0.2 * torch.randn(len(b), D)), y[b])
                opt.zero_grad()
                loss.backward()
                opt.step()
        print("   last loss", round(loss.item(), 4))
        return net.eval()

    net = fit(xl, yl, 30)
    print("labelled only", accuracy(net, xt, yt))
    for r in range(3):
        with torch.no_grad():
            conf, pseudo = net(xu).softmax(1).max(1)
        keep = conf > 0.9
        net = fit(torch.cat([xl, xu[keep]]), torch.cat([yl, pseudo[keep]]), 8)
        print("round", r, "used", int(keep.sum()), "acc", accuracy(net, xt, yt))
    return accuracy(net, xt, yt)


def hints():
    """FitNets: the student's features follow the teacher's through a regressor"""
    x, y = sample(3000)
    xt, yt = sample(1500)
    teacher = train_teacher(x, y)
    student, reg = Student(width=48), nn.Linear(48, 128)
    opt_s = torch.optim.Adam(student.parameters(), lr=3e-3)
    opt_r = torch.optim.SGD(reg.parameters(), lr=0.05, momentum=0.9)
    gen = batches(3000, 64)
    for it, b in enumerate(itertools.islice(gen, 700), 1):
        with torch.no_grad():
            ft = teacher.backbone(x[b])
            t = teacher.head(ft)
        fs = student.backbone(x[b])
        s = student.head(fs)
        loss = kd_loss(s, t, 2.0) + F.cross_entropy(s, y[b]) + 0.5 * F.mse_loss(reg(fs), ft)
        opt_s.zero_grad()
        opt_r.zero_grad()
        loss.backward()
        opt_s.step()
        opt_r.step()
        if it % 100 == 0:
            print(it, round(loss.item(), 4), accuracy(student, xt, yt))
    return accuracy(student, xt, yt)


def born_again():
    x, y = sample(2500)
    xt, yt = sample(1500)
    teacher = train_teacher(x, y, epochs=8)
    for gen in range(3):
        student = Student(width=80, act=nn.GELU)
        opt = torch.optim.Adam(student.parameters(), lr=2e-3)
        soft = F.softmax(teacher(x).detach() / 4, 1)
        for epoch in range(8):
            for b in torch.randperm(len(x)).split(50):
                logp = F.log_softmax(student(x[b]) / 4, 1)
                loss = -16 * (soft[b] * logp).sum(1).mean()
                opt.zero_grad()
                loss.backward()
                opt.step()
        print(f"generation {gen}: loss {loss.item():.4f}  acc {accuracy(student, xt, yt):.4f}")
        teacher = student.eval()
    return accuracy(student, xt, yt)


def byol(steps=600):
    """no labels at first: predict the features of a slow copy for another view; then a linear probe"""
    x, y = sample(3000)
    xt, yt = sample(1500)
    online = nn.Sequential(nn.Linear(D, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Linear(128, 64))
    predictor = nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 64))
    target = copy.deepcopy(online).requires_grad_(False)
    opt = torch.optim.AdamW(list(online.parameters()) + list(predictor.parameters()), lr=2e-3, weight_decay=1e-4)

    def view(z):
        return (z + 0.3 * torch.randn_like(z)) * (torch.rand_like(z) > 0.1)

    def one_side(a, b):
        with torch.no_grad():
            t = target(b)
        return -F.cosine_similarity(predictor(online(a)), t, dim=1).mean()

    for i in range(steps):
        b = torch.randint(3000, (128,))
        v1, v2 = view(x[b]), view(x[b])
        loss = one_side(v1, v2) + one_side(v2, v1)
        opt.zero_grad()
        loss.backward()
        opt.step()
        ema(target, online, 0.98)
        if i % 100 == 99:
            print("step", i + 1, "loss", loss.item())
    online.eval()
    for p in online.parameters():
        p.requires_grad_(False)
    probe = nn.Linear(128, K)
    opt = torch.optim.Adam(probe.parameters(), lr=1e-2)
    feats = lambda z: online[:3](z)
    for i in range(400):
        b = torch.randint(3000, (100,))
        loss = F.cross_entropy(probe(feats(x[b])), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if i % 100 == 99:
            print("probe", i + 1, loss.item())
    with torch.no_grad():
        return (probe(feats(xt)).argmax(1) == yt).float().mean().item()


acc = {1: mean_teacher, 3: student_with_norm, 6: mean_teacher, 7: self_training, 8: hints, 9: born_again, 10: byol}.get(CASE, distil)()
print("METRIC acc %.4f" % acc)
