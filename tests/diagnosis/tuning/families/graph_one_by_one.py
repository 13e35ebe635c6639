"""Property of small graphs of different size, one graph at a time, gradients gathered over 16 graphs."""
import os, random
import torch
from torch import nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
random.seed(SEED)


def graph():
    n = random.randint(5, 14)
    kind = torch.randint(3, (n,))
    adj = torch.zeros(n, n)
    for i in range(1, n):
        j = random.randrange(i)
        adj[i, j] = adj[j, i] = 1
    for _ in range(random.randint(0, 4)):
        i, j = random.sample(range(n), 2)
        adj[i, j] = adj[j, i] = 1
    charge = torch.tensor([0.5, -1.0, 1.5])[kind]
    energy = (adj * charge[:, None] * charge[None]).sum() / 4 + 0.3 * (adj.sum(1) - 2).relu().sum() - 0.2 * n
    return nn.functional.one_hot(kind, 3).float(), adj, energy + 0.3 * torch.randn(())


class MPNN(nn.Module):
    def __init__(self, h=32):
        super().__init__()
        self.inp = nn.Linear(3, h)
        self.msg = nn.ModuleList([nn.Linear(2 * h, h) for _ in range(2)])
        self.read = nn.Sequential(nn.Linear(h, h), nn.ReLU(), nn.Linear(h, 1))

    def forward(self, x, adj):
        h = torch.relu(self.inp(x))
        for m in self.msg:
            h = h + torch.relu(m(torch.cat([h, adj @ h], 1)))
        return self.read(h).sum()                       # extensive property: sum over nodes


data = [graph() for _ in range(760)]
train, val = data[:600], data[600:]
t = torch.stack([g[2] for g in train])
mu, sd = t.mean(), t.std()
model = MPNN()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
EVERY = 8
for epoch in range(1, 5):
    random.shuffle(train)
    opt.zero_grad()
    acc = 0.0
    for k, (x, a, e) in enumerate(train, 1):
        loss = (model(x, a) - (e - mu) / sd) ** 2
        (loss / EVERY).backward()
        acc += loss.item()
        if k % EVERY == 0:
            opt.step()
            opt.zero_grad()
        if k % 150 == 0:
            print(f"epoch {epoch} graph {k} running loss {acc/150:.4f} last {loss.item():.4f}")
            acc = 0.0
    with torch.no_grad():
        p = torch.stack([model(x, a) for x, a, _ in val]) * sd + mu
    y = torch.stack([g[2] for g in val])
    print(f"epoch {epoch} val MAE {(p-y).abs().mean():.4f} R2 {1-((p-y)**2).mean()/y.var():.4f}")
