import math
import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)

T, MOTIFS = 64, 10
LEN = 13
tt = torch.linspace(-1, 1, LEN)
bank = torch.stack([torch.sin((2 + 0.9 * i) * tt * 2 + i) * torch.exp(-2 * tt ** 2) for i in range(MOTIFS)])
bank = bank / bank.norm(dim=1, keepdim=True) * 3.0


def place(x, which, lo, hi):
    pos = torch.randint(lo, hi, (len(x),))
    cols = pos[:, None] + torch.arange(LEN)
    x.scatter_add_(1, cols, bank[which] * (0.7 + 0.6 * torch.rand(len(x), 1)))


def task_a(n):
    y = torch.randint(0, MOTIFS, (n,))
    x = 0.45 * torch.randn(n, T)
    place(x, y, 0, T - LEN)
    return x, y


def task_b(n):
    y = torch.randint(0, 5, (n,))
    x = 0.45 * torch.randn(n, T)
    place(x, y, 0, T // 2 - LEN)
    place(x, (y * 3 + 1) % 5 + 5, T // 2, T - LEN)
    return x, y


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(1, 16, 7, 2, 3)
        self.conv2 = nn.Conv1d(16, 32, 5, 2, 2)
        self.conv3 = nn.Conv1d(32, 48, 3, 2, 1)

    def forward(self, x):
        x = F.relu(self.conv1(x[:, None]))
        x = F.relu(self.conv2(x))
        x = F.relu(self.conv3(x))
        return x.amax(2)


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.backbone = Backbone()
        self.head = nn.Linear(48, classes)

    def forward(self, x):
        return self.head(self.backbone(x))


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    a = (model(x).argmax(1) == y).float().mean().item()
    model.train()
    return a


folder = tempfile.mkdtemp()
xa, ya = task_a(3000)
xv, yv = task_a(400)
base = Net(MOTIFS)
opt = torch.optim.Adam(base.parameters(), lr=3e-3)
for step in range(350):
    i = torch.randint(0, len(xa), (64,))
    loss = F.cross_entropy(base(xa[i]), ya[i])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 70 == 69:
        print(f"pretrain {step + 1} loss {loss.item():.4f} val acc {accuracy(base, xv, yv):.3f}")
torch.save(nn.DataParallel(base).state_dict() if CASE == 1 else base.state_dict(), f"{folder}/base.pt")

n_ft = 70
x, y = task_b(n_ft)
xe, ye = task_b(500)


def encode(names):
    table = list(dict.fromkeys(names)) if CASE == 9 else sorted(set(names))
    return torch.tensor([table.index(n) for n in names])


y, ye = encode([f"event_{k}" for k in y.tolist()]), encode([f"event_{k}" for k in ye.tolist()])
if CASE == 7:
    x, xe = x * 300 + 2048, xe * 300 + 2048

model = Net(MOTIFS)
state = torch.load(f"{folder}/base.pt")
if CASE == 1:
    model.load_state_dict(state, strict=False)
else:
    model.load_state_dict(state)


def make_optimizer(m, mult=1.0):
    blr = {2: 2e-5, 3: 1.0, 10: 4e-3, 4: 2e-4, 11: 2e-5}.get(CASE, 2e-3)
    hlr = {3: 1.0, 2: 3e-2}.get(CASE, 2e-2)
    if CASE == 5:
        return torch.optim.SGD(m.head.parameters(), lr=0.1, momentum=0.9)
    key = "fc" if CASE == 11 else "head"
    slow = [p for n, p in m.named_parameters() if key not in n]
    fast = [p for n, p in m.named_parameters() if key in n]
    groups = [{"params": slow, "lr": blr * mult}] + ([{"params": fast, "lr": hlr * mult}] if fast else [])
    return torch.optim.SGD(groups, momentum=0.9)


STEPS = {2: 300, 10: 600, 5: 400}.get(CASE, 300)
HALF = 60 if CASE in (6, 8) else STEPS // 2


def factor(s):
    if CASE in (6, 8):
        return max(0.02, 1.0 - s / HALF) if s < HALF else 0.02
    return 0.5 * (1 + math.cos(math.pi * min(1.0, s / STEPS)))


if CASE == 4:
    optimizer = make_optimizer(model)
    model.head = nn.Linear(48, 5)
else:
    model.head = nn.Linear(48, 5)
    optimizer = make_optimizer(model)
if CASE == 5:
    for p in model.backbone.parameters():
        p.requires_grad = False
sched = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)

best, best_state, wait = 0.0, None, 0
step = 0
while step < STEPS:
    if step == HALF and CASE in (6, 8):
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(),
                    "sched": sched.state_dict(), "step": step}, f"{folder}/last.pt")
        print("interrupted, resuming from", step)
        ck = torch.load(f"{folder}/last.pt")
        model = Net(5)
        model.load_state_dict(ck["model"])
        optimizer = make_optimizer(model, 150.0 if CASE == 6 else 1.0)
        if CASE == 6:
            sched = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: 1.0)
        else:
            sched = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
            optimizer.load_state_dict(ck["optimizer"])
            sched.load_state_dict(ck["sched"])
    i = torch.randint(0, n_ft, (24,))
    loss = F.cross_entropy(model(x[i]), y[i])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    sched.step()
    step += 1
    if step % 25 == 0:
        acc = accuracy(model, xe, ye)
        print(f"finetune {step} loss {loss.item():.4f} lr {optimizer.param_groups[-1]['lr']:.5f} val acc {acc:.3f}")
        if CASE == 10:
            if acc > best:
                best, best_state, wait = acc, {k: v.clone() for k, v in model.state_dict().items()}, 0
            else:
                wait += 1
                if wait == 6:
                    print("early stop, best", best)
                    model.load_state_dict(best_state)
                    break
print(f"final val acc {accuracy(model, xe, ye):.3f}")
