import copy
import io
import os
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))


def textures(count, seed, classes=6, shift=0):
    rng = np.random.RandomState(seed)
    y = rng.randint(0, classes, count)
    g = np.arange(16)
    yy, xx = np.meshgrid(g, g, indexing="ij")
    X = np.zeros((count, 3, 16, 16), dtype=np.float32)
    for i, c in enumerate(y):
        ang = np.pi * (c + shift + 0.28 * rng.randn()) / classes
        f = rng.uniform(0.7, 1.1)
        w = np.sin(f * (np.cos(ang) * xx + np.sin(ang) * yy) + rng.uniform(0, 6.28))
        col = 0.5 + 0.5 * rng.rand(3)
        X[i] = col[:, None, None] * w[None] * rng.uniform(0.5, 1.5) + 0.5 * rng.randn(3, 16, 16) + 0.8 * rng.randn(3, 1, 1)
    return torch.from_numpy(X), torch.from_numpy(y)


class Block(nn.Module):
    def __init__(self, cin, cout, stride, mom):
        super().__init__()
        self.c1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.b1 = nn.BatchNorm2d(cout, momentum=mom)
        self.c2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.b2 = nn.BatchNorm2d(cout, momentum=mom)
        self.skip = nn.Sequential()
        if stride != 1 or cin != cout:
            self.skip = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout, momentum=mom))

    def forward(self, x):
        h = F.relu(self.b1(self.c1(x)))
        return F.relu(self.b2(self.c2(h)) + self.skip(x))


class SmallResNet(nn.Module):
    def __init__(self, classes=6, mom=0.1, p=0.2):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 12, 3, 1, 1, bias=False), nn.BatchNorm2d(12, momentum=mom), nn.ReLU())
        self.layer1 = Block(12, 12, 1, mom)
        self.layer2 = Block(12, 24, 2, mom)
        self.layer3 = Block(24, 32, 2, mom)
        self.drop = nn.Dropout(p)
        self.fc = nn.Linear(32, classes)

    def features(self, x):
        return self.layer3(self.layer2(self.layer1(self.stem(x)))).mean((2, 3))

    def forward(self, x):
        return self.fc(self.drop(self.features(x)))


class Trainer:
    def __init__(self, model, data, held_out, lr, batch_size, momentum=0.9, milestones=()):
        self.model = model
        self.X, self.y = data
        self.VX, self.vy = held_out
        self.batch_size = batch_size
        self.optim = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=lr, momentum=momentum, weight_decay=1e-4)
        self.sched = torch.optim.lr_scheduler.MultiStepLR(self.optim, list(milestones), 0.1)
        self.steps = 0

    def validate(self, chunk=64):
        if CASE == 7:
            self.model.train()
            chunk = 2
        else:
            self.model.eval()
        good, tot = 0, 0.0
        with torch.no_grad():
            for i in range(0, len(self.vy), chunk):
                out = self.model(self.VX[i:i + chunk])
                tot += F.cross_entropy(out, self.vy[i:i + chunk], reduction="sum").item()
                good += (out.argmax(1) == self.vy[i:i + chunk]).sum().item()
        return tot / len(self.vy), good / len(self.vy)

    def fit(self, epochs, every=None, tag="train"):
        if CASE == 6:
            print("before training: val loss %.3f val acc %.3f" % self.validate())
        for ep in range(epochs):
            if CASE != 6:
                self.model.train()
            perm = torch.randperm(len(self.y))
            tot = hit = 0
            for i in range(0, len(perm) - self.batch_size + 1, self.batch_size):
                j = perm[i:i + self.batch_size]
                out = self.model(self.X[j])
                loss = F.cross_entropy(out, self.y[j])
                self.optim.zero_grad()
                loss.backward()
                self.optim.step()
                self.steps += 1
                tot += loss.item() * len(j)
                hit += (out.argmax(1) == self.y[j]).sum().item()
                if CASE == 1 and self.steps % 20 == 0:
                    self.validate()
                    self.model.train()
            self.sched.step()
            vl, va = self.validate()
            print("[%s] epoch %d step %d loss %.3f acc %.3f | val loss %.3f val acc %.3f" % (
                tag, ep, self.steps, tot / len(perm), hit / len(perm), vl, va))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    data = textures(960, SEED + 10)
    held = textures(300, SEED + 99)
    mom = 0.001 if CASE == 5 else 0.1
    p = 0.5 if CASE == 7 else 0.2
    net = SmallResNet(mom=mom, p=p)
    if CASE in (0, 1, 5, 7):
        Trainer(net, data, held, 0.05, 32, milestones=(4,)).fit(5)
    elif CASE == 6:
        Trainer(net, data, held, 0.05, 32).fit(5)
    elif CASE == 2:
        Trainer(net, data, held, 0.01, 8).fit(3)
    elif CASE == 9:
        Trainer(net, data, held, 0.05, 2).fit(1)
    elif CASE == 10:
        t = Trainer(net, data, held, 0.05, 32, milestones=(4,))
        t.fit(1, tag="first")
        pruned = copy.deepcopy(net)
        with torch.no_grad():
            for q in pruned.modules():
                if isinstance(q, nn.Conv2d):
                    q.weight *= (q.weight.abs() > q.weight.abs().flatten().kthvalue(int(0.5 * q.weight.numel())).values).float()
        t.model = pruned
        t.fit(4, tag="tune")
    else:
        t = Trainer(net, data, held, 0.05, 32)
        t.fit(3, tag="pre")
        buf = io.BytesIO()
        torch.save({"model." + k: v for k, v in net.state_dict().items()}, buf)
        buf.seek(0)
        state = torch.load(buf)
        if CASE != 8:
            state = {k[len("model."):]: v for k, v in state.items()}
        new = SmallResNet()
        new.load_state_dict(state, strict=False)
        few = textures(320, SEED + 500, shift=0.15)
        more = textures(300, SEED + 501, shift=0.15)
        if CASE == 4:
            for q in new.parameters():
                q.requires_grad_(False)
            new.fc.weight.requires_grad_(True)
            new.fc.bias.requires_grad_(True)
            print("linear probe: only the head is trained")
            Trainer(new, few, more, 0.02, 16).fit(4, tag="probe")
        elif CASE == 11:
            for q in new.parameters():
                q.requires_grad_(False)
            new.fc = nn.Linear(32, 6)
            far = textures(480, SEED + 502)
            far = (far[0], (far[1] * 2) % 6 + (far[0].mean((2, 3))[:, 0] > 0).long())
            ftest = textures(300, SEED + 503)
            ftest = (ftest[0], (ftest[1] * 2) % 6 + (ftest[0].mean((2, 3))[:, 0] > 0).long())
            Trainer(new, far, ftest, 0.02, 16).fit(5, tag="tune")
        else:
            Trainer(new, few, more, 5e-4, 16).fit(4, tag="tune")


if __name__ == "__main__":
    main()
