import os
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", "0"))
torch.manual_seed(int(os.environ.get("SEED", "0")))


class Houses(Dataset):
    """size, rooms, age, distance and noise columns -> price"""

    def __init__(self, n):
        self.x = torch.rand(n, 10)
        x = self.x
        price = 3 * x[:, 0] + 2 * x[:, 0] * x[:, 1] - torch.sin(3 * x[:, 2]) + (x[:, 3] - 0.5) ** 2 * 4
        self.y = price + 0.05 * torch.randn(n)
        self.y = (self.y - 1.6) / 1.2
        if CASE == 2:
            self.y = self.y * 250000 + 400000
        if CASE == 8:
            self.y = self.y * 200.0
        if CASE == 9:
            self.y = self.y + 0.9 * torch.randn(n)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


train, valid = Houses(4000), Houses(1000)
if CASE == 4:
    rows = torch.randperm(4000)[:5]
    train.x[rows, 3] = float("nan")
if CASE == 6:
    rows = torch.randperm(4000)[:40]
    train.y[rows] = train.y[rows] * 1000
if CASE == 10:
    train.x = torch.cat([train.x, torch.zeros(4000, 3)], 1)
    valid.x = torch.cat([valid.x, torch.zeros(1000, 3)], 1)

net = nn.Sequential(nn.Linear(train.x.shape[1], 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1))
if CASE == 5:
    net.append(nn.ReLU()) if hasattr(net, "append") else net.add_module("5", nn.ReLU())
lr = 1e-7 if CASE == 3 else 4e-3
if CASE == 11:
    net = net.double()

if CASE == 7:
    optimizer = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=8, history_size=10, line_search_fn="strong_wolfe")
elif CASE == 8:
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-2, weight_decay=1e-5)
elif CASE == 12:
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.999)
elif CASE == 13:
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
else:
    optimizer = torch.optim.AdamW(net.parameters(), lr=lr, weight_decay=1e-5)


def mse(pred, y):
    if CASE != 1:
        pred = pred.squeeze(1)
    return F.mse_loss(pred, y)


def r2():
    net.eval()
    with torch.no_grad():
        x, y = valid.x, valid.y
        if CASE == 11:
            x, y = x.double(), y.double()
        p = net(x).squeeze(1)
        return 1 - ((p - y) ** 2).mean().item() / y.var().item()


loader = DataLoader(train, batch_size=80, shuffle=True)
for epoch in range(14 if CASE != 7 else 6):
    net.train()
    if CASE == 7:
        def closure():
            optimizer.zero_grad()
            value = mse(net(train.x), train.y)
            value.backward()
            return value
        for _ in range(5):
            loss = optimizer.step(closure)
        print("epoch", epoch, "loss", loss.item(), "r2", r2())
        continue
    for i, (x, y) in enumerate(loader):
        if CASE == 11:
            x, y = x.double(), y.double()
        loss = mse(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % 25 == 0:
            print(f"{epoch}:{i} {loss.item():.5g}")
    print("epoch", epoch, "r2", r2())
print("METRIC", r2())
