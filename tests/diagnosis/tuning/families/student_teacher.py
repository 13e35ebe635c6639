# few labels, many unlabelled points: train a teacher, let a small student learn from it
import os
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)
torch.set_num_threads(1)

C, DIM = 6, 12

# ---- data: clusters on bent curves
gen = torch.Generator().manual_seed(SEED + 100)
centre = torch.randn(C, 3, DIM, generator=gen) * 1.2
bend = torch.randn(DIM, DIM, generator=gen) / DIM ** 0.5


def points(n, p=None):
    w = torch.ones(C) if p is None else torch.tensor(p)
    y = torch.multinomial(w, n, replacement=True, generator=gen)
    part = torch.randint(0, 3, (n,), generator=gen)
    x = centre[y, part] + 0.75 * torch.randn(n, DIM, generator=gen)
    return x + torch.sin(2 * x @ bend), y


def mlp(width, drop=0.0):
    return nn.Sequential(nn.Linear(DIM, width), nn.ReLU(), nn.Dropout(drop),
                         nn.Linear(width, width), nn.ReLU(), nn.Dropout(drop), nn.Linear(width, C))


@torch.no_grad()
def accuracy(net, x, y):
    if CASE != 6:
        net.eval()
    a = (net(x).argmax(1) == y).float().mean().item()
    net.train()
    return a


x_big, y_big = points(2400)
x_lab, y_lab = points(240, [6., 3., 2., 1., 1., 1.] if CASE == 7 else None)
x_unl, y_unl = points(2000)
x_test, y_test = points(600)


def train_teacher(epochs=12, n=2400):
    net = mlp(96, 0.1)
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for _ in range(epochs):
        for i in torch.randperm(n).split(60):
            loss = F.cross_entropy(net(x_big[i]), y_big[i])
            opt.zero_grad()
            loss.backward()
            opt.step()
    print("teacher: %.3f on test" % accuracy(net, x_test, y_test))
    net.eval()
    return net


def distil(s, t, T=3.0):
    if CASE == 1:
        return F.kl_div(F.log_softmax(s / T, dim=0), F.softmax(t / T, dim=0), reduction="batchmean") * T * T
    if CASE == 2:
        return F.kl_div(F.softmax(s / T, dim=1), F.softmax(t / T, dim=1), reduction="batchmean") * T * T
    if CASE == 3:
        T = 8.0
    return F.kl_div(F.log_softmax(s / T, dim=1), F.softmax(t / T, dim=1), reduction="batchmean") * T * T


mode = {4: "mean-teacher", 5: "mean-teacher", 7: "supervised", 8: "pseudo", 9: "entropy", 10: "pseudo"}.get(CASE, "kd")
student = mlp(40, 0.5 if CASE == 6 else 0.1)
opt = torch.optim.AdamW(student.parameters(), lr=4e-3, weight_decay=1e-3)
weights = None

if mode == "kd":
    teacher = train_teacher()
elif mode == "mean-teacher":
    teacher = mlp(40, 0.1)
    teacher.load_state_dict(student.state_dict())
    for p in teacher.parameters():
        p.requires_grad_(False)
elif mode == "pseudo":
    if CASE == 8:
        teacher = train_teacher(1, 120)
    else:
        teacher = train_teacher()
    with torch.no_grad():
        prob, guess = teacher(x_unl).softmax(1).max(1)
    if CASE == 10:
        sure = prob > 0.9
        x_unl, guess = x_unl[sure], guess[sure]
        print("kept %d of 2000 guesses" % len(guess))
elif mode == "supervised":
    count = torch.bincount(y_lab, minlength=C).float()
    weights = count.sum() / (C * count)


def ema(avg, net, decay=0.98):
    for a, b in zip(avg.parameters(), net.parameters()):
        a.data.mul_(decay).add_(b.data, alpha=1 - decay)


STEPS, BL, BU = 560, 30, 60
run = 0.0
for step in range(1, STEPS + 1):
    i = torch.randint(len(x_lab), (BL,))
    j = torch.randint(len(x_unl), (BU,))
    xl, yl, xu = x_lab[i], y_lab[i], x_unl[j]
    sup = F.cross_entropy(student(xl), yl, weight=weights)
    if mode == "kd":
        with torch.no_grad():
            t = teacher(xu)
        loss = 0.3 * sup + distil(student(xu), t)
    elif mode == "mean-teacher":
        with torch.no_grad():
            t = teacher(xu + 0.2 * torch.randn_like(xu)).softmax(1)
        s = student(xu + 0.2 * torch.randn_like(xu)).softmax(1)
        loss = sup + 5 * min(1.0, step / 200) * F.mse_loss(s, t)
    elif mode == "pseudo":
        loss = F.cross_entropy(student(xu), guess[j])
        if CASE == 10:
            loss = loss + 0.3 * sup
    elif mode == "entropy":
        lp = student(xu).log_softmax(1)
        loss = 0.1 * sup - 3.0 * (lp.exp() * lp).sum(1).mean()
    else:
        loss = sup
    opt.zero_grad()
    loss.backward()
    opt.step()
    if mode == "mean-teacher":
        if CASE == 4:
            ema(student, teacher)
        else:
            ema(teacher, student)
    run = loss.item() if step == 1 else 0.98 * run + 0.02 * loss.item()
    if step % 80 == 0:
        line = f"step {step:4d}  loss {run:8.4f}  student {accuracy(student, x_test, y_test):.3f}"
        if mode == "mean-teacher":
            line += f"  average {accuracy(teacher, x_test, y_test):.3f}"
        print(line)

pred = student.eval()(x_test).argmax(1)
print("classes predicted:", torch.bincount(pred, minlength=C).tolist())
