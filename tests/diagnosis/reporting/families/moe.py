import os
import time
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
REG, DIM = 6, 10
g = torch.Generator().manual_seed(4)
centers = 3 * torch.randn(REG, DIM, generator=g)
maps = torch.randn(REG, DIM, generator=g)


class Piecewise(Dataset):
    """y is a different linear function of x in each of six regions"""

    def __init__(self, n):
        if CASE == 6:
            k = torch.multinomial(torch.tensor([.3, .3, .2, .1, .07, .03]), n, True)
        else:
            k = torch.randint(0, REG, (n,))
        self.x = centers[k] + torch.randn(n, DIM)
        self.y = ((self.x - centers[k]) * maps[k]).sum(1) + 0.05 * torch.randn(n)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        if CASE == 9:
            time.sleep(0.002)
        return self.x[i], self.y[i]


def expert():
    e = nn.Sequential(nn.Linear(DIM, 16), nn.ReLU(), nn.Linear(16, 1))
    if CASE == 4:
        nn.init.constant_(e[0].bias, -60.0)
    return e


class MoE(nn.Module):
    def __init__(self, n=8, top=1):
        super().__init__()
        self.gate = nn.Linear(DIM, n)
        experts = [expert() for _ in range(n)]
        if CASE == 1:
            self.experts = experts
        else:
            self.experts = nn.ModuleList(experts)
        self.n = n
        if CASE in (2, 7):
            nn.init.normal_(self.gate.weight, std=0.02)

    def forward(self, x):
        logits = self.gate(x)
        if CASE == 7 and self.training:
            logits = logits + 0.3 * torch.randn_like(logits)
        p = F.softmax(logits, 1)
        y = torch.stack([e(x).squeeze(1) for e in self.experts], 1)
        self.balance = 0.0
        if CASE == 2:
            choice = F.one_hot(p.argmax(1), self.n).float()
            return (choice * y).sum(1)
        if CASE in (3, 5):
            w, idx = p.max(1)
            load = F.one_hot(idx, self.n).float().mean(0)
            if CASE == 5:
                self.balance = 0.02 * self.n * (load * p.mean(0)).sum()
            return w * y.gather(1, idx[:, None]).squeeze(1)
        return (p * y).sum(1)


train_set, test_set = Piecewise(2000), Piecewise(800)
loader = DataLoader(train_set, batch_size=50, shuffle=True)
model = MoE()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
epochs = 16
if CASE == 9:
    epochs = 2
if CASE == 8:
    epochs = 12
history, kept = [], 0.0


def rel_error():
    model.eval()
    with torch.no_grad():
        e = F.mse_loss(model(test_set.x), test_set.y) / test_set.y.var()
    model.train()
    return e.item()


for epoch in range(epochs):
    total = 0.0
    for x, y in loader:
        if CASE == 8:
            x = x.repeat(20, 1) + 0.01 * torch.randn(20 * len(x), DIM)
            y = y.repeat(20)
        pred = model(x)
        loss = F.mse_loss(pred, y) + model.balance
        opt.zero_grad()
        loss.backward()
        opt.step()
        if CASE == 8:
            kept = kept + F.l1_loss(model(x), y)
            history.append(kept)
        total += loss.item()
    if epoch % 4 == 1 or epochs < 4:
        extra = ""
        if CASE == 8:
            import resource
            extra = " rss %d MB" % (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
        print("epoch", epoch, "loss %.4f test %.4f" % (total / len(loader), rel_error()) + extra)
print("METRIC", rel_error())
