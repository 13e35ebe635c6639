"""Digit strings from a stream of noisy feature frames, with CTC."""
import os
import random
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "5")); SEED = int(os.environ.get("SEED", "0"))
random.seed(SEED); torch.manual_seed(SEED)
C, FEAT = 8, 10                     # symbols (0 is blank), features a frame
proto = torch.randn(C, FEAT, generator=torch.Generator().manual_seed(3))
proto[0] = 0


def utterance(short=False):
    L = random.randint(2, 3) if short else random.randint(2, 6)
    lab, fr, ali = [], [], []
    for _ in range(L):
        for _ in range(random.randint(1, 2)):
            fr.append(0); ali.append(0)
        c = random.randrange(1, C)
        lab.append(c)
        for _ in range(random.randint(2, 3)):
            fr.append(c); ali.append(c)
    fr.append(0); ali.append(0)
    x = proto[fr] + 0.5 * torch.randn(len(fr), FEAT)
    return x, torch.tensor(lab), torch.tensor(ali)


def batch_of(items):
    xs, ys, al = zip(*items)
    xl, yl = torch.tensor([len(x) for x in xs]), torch.tensor([len(y) for y in ys])
    x = nn.utils.rnn.pad_sequence(xs, batch_first=True)
    y = nn.utils.rnn.pad_sequence(ys, batch_first=True)
    a = nn.utils.rnn.pad_sequence(al, batch_first=True, padding_value=-100)
    return x, y, xl, yl, a


class Net(nn.Module):
    def __init__(self, h=32, p=0.0):
        super().__init__()
        self.conv = nn.Conv1d(FEAT, h, 3, padding=1)
        self.deep = None
        if CASE == 3:
            self.deep = nn.Sequential(*[m for _ in range(6) for m in (nn.Linear(h, h), nn.Sigmoid())])
        self.rnn = nn.GRU(h, h, batch_first=True, bidirectional=True)
        self.drop = nn.Dropout(p)
        self.fc = nn.Linear(2 * h, C)

    def forward(self, x):
        b, t, f = x.shape
        if CASE == 1:
            z = self.conv(x.reshape(b, f, t))
            z = z.view(b, t, -1)
        else:
            z = self.conv(x.transpose(1, 2)).transpose(1, 2)
        if self.deep is not None:
            z = self.deep(torch.sigmoid(z))
        else:
            z = torch.relu(z)
        z, _ = self.rnn(z)
        return self.fc(self.drop(z)).log_softmax(-1)


class ConvNet(nn.Module):
    def __init__(self, h=40):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(FEAT, h, 5, padding=2), nn.BatchNorm1d(h), nn.ReLU(),
            nn.Conv1d(h, h, 5, padding=4, dilation=2), nn.BatchNorm1d(h), nn.ReLU(),
            nn.Conv1d(h, C, 1))

    def forward(self, x):
        return self.net(x.transpose(1, 2)).transpose(1, 2).log_softmax(-1)


def edit(a, b):
    d = list(range(len(b) + 1))
    for i, p in enumerate(a, 1):
        prev, d[0] = d[0], i
        for j, q in enumerate(b, 1):
            prev, d[j] = d[j], min(d[j] + 1, d[j - 1] + 1, prev + (p != q))
    return d[-1]


def score(model, items, passes=1):
    """1 - token error rate of best-path decoding"""
    x, y, xl, yl, _ = batch_of(items)
    model.eval()
    if passes > 1:
        model.drop.train()
    with torch.no_grad():
        out = torch.stack([model(x).exp() for _ in range(passes)]).mean(0).argmax(-1)
    model.train()
    err = 0
    for o, n, lab, m in zip(out.tolist(), xl.tolist(), y.tolist(), yl.tolist()):
        o = o[:n]
        hyp = [s for i, s in enumerate(o) if s and (i == 0 or s != o[i - 1])]
        err += edit(lab[:m], hyp)
    return 1 - err / yl.sum().item()


BS = 32
train = [utterance() for _ in range(1920)]
test = [utterance() for _ in range(200)]
if CASE == 6:
    train.sort(key=lambda u: len(u[0]))
if CASE == 4:
    order = sorted(range(len(train)), key=lambda i: len(train[i][0]))
    train = [(train[i][0], train[j][1], train[i][2]) for i, j in zip(order, range(len(train)))]

model = ConvNet() if CASE == 9 else Net(p=0.2 if CASE == 10 else 0.0)
if CASE == 9:
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
elif CASE == 8:
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
else:
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
warm = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 60)) if CASE == 10 else None
ctc = nn.CTCLoss(blank=0, reduction="sum" if CASE == 8 else "mean", zero_infinity=True)
weights = torch.ones(C); weights[0] = 0.3

step, epoch, EPOCHS = 0, 0, 5
while epoch < EPOCHS:
    idx = list(range(len(train)))
    if CASE == 6:
        starts = list(range(0, len(idx), BS))
        if epoch:
            random.shuffle(starts)
        groups = [idx[s:s + BS] for s in starts]
    else:
        random.shuffle(idx)
        groups = [idx[s:s + BS] for s in range(0, len(idx), BS)]
    for g in groups:
        items = [train[i] for i in g]
        if CASE == 10 and epoch == 0:
            items = [utterance(short=True) for _ in g]
        x, y, xl, yl, a = batch_of(items)
        if CASE != 2:
            opt.zero_grad()
        lp = model(x)
        if CASE == 7:
            loss = F.nll_loss(lp.reshape(-1, C), a.reshape(-1), weight=weights, ignore_index=-100)
        else:
            loss = ctc(lp.transpose(0, 1), y, xl, yl)
        loss.backward()
        if CASE == 8:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        if warm:
            warm.step()
        step += 1
        if step % 60 == 0:
            print("step", step, "loss %.4f" % loss.item(), "train %.3f" % score(model, train[:64]), "test %.3f" % score(model, test))
    epoch += 1
print("METRIC %.4f" % score(model, test, passes=8 if CASE == 10 else 1))
