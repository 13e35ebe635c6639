"""Distil a small ResNet into a smaller one (coloured gratings, 8 classes). Hinton KD, optionally FitNet hints."""
import copy
import io
import math
import os

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
torch.set_num_threads(1)

args = dict(T=4.0, alpha=0.7, lr=3e-3, epochs=6, batch=64, hint=0.0, ema=0.0, clip=0.0, smooth=0.0, accum=1, amp=False)
if CASE == 1:
    args.update(alpha=1.0)
if CASE == 2:
    args.update(alpha=0.9)
if CASE == 3:
    args.update(ema=0.9, clip=1.0)
if CASE in (8, 9):
    args.update(hint=0.1)
if CASE == 10:
    args.update(alpha=0.9)
if CASE == 12:
    args.update(smooth=0.1, accum=4, batch=16, amp=True)

N_CLASS, SIZE = 8, 12
MEAN, STD = 128.0, 60.0


def make_split(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, N_CLASS, (n,), generator=g)
    ang = (y % 4).float() * math.pi / 4 + 0.15 * torch.randn(n, generator=g)
    freq = torch.where(y < 4, 1.0, 1.7) + 0.1 * torch.randn(n, generator=g)
    ph = 2 * math.pi * torch.rand(n, generator=g)
    r = torch.arange(SIZE).float() / 2
    yy, xx = torch.meshgrid(r, r, indexing="ij")
    wave = torch.sin(freq[:, None, None] * (ang.cos()[:, None, None] * xx + ang.sin()[:, None, None] * yy) + ph[:, None, None])
    tint = 0.6 + 0.4 * torch.rand(n, 3, 1, 1, generator=g)
    x = wave[:, None] * tint + 0.9 * torch.randn(n, 3, SIZE, SIZE, generator=g)
    return (x * 45 + 128).clamp(0, 255), y


def normalise(x):
    return (x - MEAN) / STD


class Block(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(i, o, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(o)
        self.conv2 = nn.Conv2d(o, o, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(o)
        self.short = nn.Sequential() if i == o and stride == 1 else nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o))

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(h)) + self.short(x))


class ResNet(nn.Module):
    def __init__(self, w, drop=0.0):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, w, 3, 1, 1, bias=False), nn.BatchNorm2d(w), nn.ReLU())
        self.layer1 = Block(w, w, 1)
        self.layer2 = Block(w, 2 * w, 2)
        self.drop = nn.Dropout(drop)
        self.fc = nn.Linear(2 * w, N_CLASS)

    def forward(self, x, feat=False):
        f = self.layer2(self.layer1(self.stem(x)))
        out = self.fc(self.drop(f.mean((2, 3))))
        return (out, f) if feat else out


class Distiller(nn.Module):
    def __init__(self, teacher, student):
        super().__init__()
        self.teacher, self.student = teacher, student
        self.teacher.requires_grad_(False)

    def train(self, mode=True):
        super().train(mode)
        self.teacher.eval()
        return self

    def forward(self, x, feat=False):
        return self.student(x, feat)


def kd_loss(s, t, y):
    T = args["T"]
    if CASE == 1:
        soft = F.kl_div(F.softmax(s / T, 1), F.softmax(t / T, 1), reduction="batchmean") * T * T
    else:
        soft = F.kl_div(F.log_softmax(s / T, 1), F.softmax(t / T, 1), reduction="batchmean") * T * T
    return args["alpha"] * soft + (1 - args["alpha"]) * F.cross_entropy(s, y, label_smoothing=args["smooth"])


x_tr, y_tr = make_split(1280, SEED + 1)
x_te, y_te = make_split(400, SEED + 2)
x_tr = normalise(x_tr)
if CASE != 11:
    x_te = normalise(x_te)
else:
    x_te = x_te / 255
index = torch.arange(len(x_tr))
loader = DataLoader(TensorDataset(x_tr, y_tr, index), args["batch"], shuffle=True, drop_last=True)
test_loader = DataLoader(TensorDataset(x_te, y_te), 100)


@torch.no_grad()
def accuracy(net):
    if CASE != 4:
        net.eval()
    ok = 0
    for x, y in test_loader:
        ok += (net(x).argmax(1) == y).sum().item()
    if CASE != 5:
        net.train()
    return ok / len(x_te)


def train_teacher():
    net = ResNet(10)
    opt = torch.optim.Adam(net.parameters(), 4e-3)
    for _ in range(4):
        for x, y, _ in loader:
            loss = F.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
    f = io.BytesIO()
    torch.save({("module." + k if CASE == 10 else k): v for k, v in net.state_dict().items()}, f)
    f.seek(0)
    return f


ckpt = train_teacher()
teacher = ResNet(10)
teacher.load_state_dict(torch.load(ckpt), strict=CASE != 10)
teacher.eval()
student = ResNet(6, drop=0.5 if CASE in (4, 6) else 0.0)
regressor = nn.Conv2d(12, 20, 1)

teacher_out = None
if CASE == 2:
    with torch.no_grad():
        teacher_out = torch.cat([teacher(x) for x, _, _ in DataLoader(loader.dataset, 50, shuffle=True)])

if CASE == 7:
    model = Distiller(teacher, student)
    params = [p for p in model.parameters() if p.requires_grad]
else:
    model = student
    params = list(student.parameters())
    if CASE == 8:
        params += list(regressor.parameters())
optimizer = torch.optim.Adam(params, args["lr"], weight_decay=1e-4)
total = args["epochs"] * (len(loader) // args["accum"])
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, args["lr"] * 2, total_steps=total + 1)
ema = copy.deepcopy(student).requires_grad_(False) if args["ema"] else None

step = 0
for epoch in range(args["epochs"]):
    losses = []
    for i, (x, y, idx) in enumerate(loader):
        with torch.autocast("cpu", torch.bfloat16, enabled=args["amp"]):
            with torch.no_grad():
                t, tf = teacher(x, feat=True)
            s, sf = model(x, feat=True)
        if teacher_out is not None:
            t = teacher_out[idx]
        loss = kd_loss(s.float(), t.float(), y)
        if args["hint"]:
            loss = loss + args["hint"] * F.mse_loss(regressor(sf), tf)
        (loss / args["accum"]).backward()
        losses.append(loss.item())
        if (i + 1) % args["accum"]:
            continue
        if args["clip"]:
            nn.utils.clip_grad_norm_(params, args["clip"])
        optimizer.step()
        optimizer.zero_grad()
        if step < total:
            scheduler.step()
        step += 1
        if ema is not None:
            with torch.no_grad():
                for a, b in zip(ema.state_dict().values(), student.state_dict().values()):
                    a.copy_(args["ema"] * a + (1 - args["ema"]) * b) if a.is_floating_point() else a.copy_(b)
    acc = accuracy(ema if ema is not None else model)
    print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f} first {losses[0]:.4f} test acc {acc:.3f}", flush=True)
teacher.eval()
with torch.no_grad():
    print("teacher acc %.3f" % (teacher(x_te).argmax(1) == y_te).float().mean().item())
