import copy
import os
import torch
from torch import nn, optim

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))


def make_spirals(n, gen):
    y = torch.randint(0, 3, (n,), generator=gen)
    r = torch.rand(n, generator=gen) * 0.9 + 0.1
    angle = r * 5.0 + y * 2.0944 + torch.randn(n, generator=gen) * 0.12
    xy = torch.stack([r * angle.cos(), r * angle.sin()], 1)
    lift = torch.randn(2, 6, generator=torch.Generator().manual_seed(5))
    return torch.cat([xy * 2, (xy * 2) @ lift], 1), y


class Net(nn.Module):
    def __init__(self, width=96, p=0.2):
        super().__init__()
        self.inp = nn.Linear(8, width)
        self.bn = nn.BatchNorm1d(width)
        self.hid = nn.Linear(width, width)
        self.drop = nn.Dropout(p)
        self.out = nn.Linear(width, 3)

    def forward(self, x):
        h = self.drop(torch.relu(self.bn(self.inp(x))))
        h = self.drop(torch.relu(self.hid(h)))
        return self.out(h)


class Trainer:
    def __init__(self, model, optimizer, batch_size=64, accumulate=1, ema=None, patience=None):
        self.model = model
        self.optimizer = optimizer
        self.batch_size = batch_size
        self.accumulate = accumulate
        self.ema = copy.deepcopy(model).eval() if ema else None
        self.decay = ema
        self.patience = patience
        self.loss_fn = nn.CrossEntropyLoss()
        if CASE == 2:
            self.model = copy.deepcopy(model)

    def batches(self, x, y):
        perm = torch.randperm(len(x))
        for i in range(0, len(x) - self.batch_size + 1, self.batch_size):
            idx = perm[i:i + self.batch_size]
            if CASE in (8, 10):
                if CASE == 8:
                    torch.manual_seed(SEED)
                idx = torch.randint(0, len(x), (self.batch_size,))
            yield x[idx], y[idx]

    def update_ema(self):
        with torch.no_grad():
            for a, b in zip(self.ema.parameters(), self.model.parameters()):
                a.mul_(self.decay).add_(b, alpha=1 - self.decay)
            for a, b in zip(self.ema.buffers(), self.model.buffers()):
                a.copy_(b)

    def fit_epoch(self, x, y):
        self.model.train()
        running, n = 0.0, 0
        self.optimizer.zero_grad()
        for i, (xb, yb) in enumerate(self.batches(x, y)):
            loss = self.loss_fn(self.model(xb), yb)
            (loss / self.accumulate).backward()
            if (i + 1) % self.accumulate == 0:
                self.optimizer.step()
                self.optimizer.zero_grad()
                if self.ema is not None:
                    self.update_ema()
            running += loss.item()
            n += 1
        return running / n

    def evaluate(self, x, y):
        net = self.ema if self.ema is not None else self.model
        if CASE != 5:
            net.eval()
        with torch.no_grad():
            if CASE == 9:
                for m in net.modules():
                    if isinstance(m, nn.Dropout):
                        m.train()
                probs = sum(net(x).softmax(1) for _ in range(20)) / 20
                return (probs.argmax(1) == y).float().mean().item()
            hits = 0
            for i in range(0, len(x), 100):
                hits += (net(x[i:i + 100]).argmax(1) == y[i:i + 100]).sum().item()
            return hits / len(x)

    def fit(self, train, val, epochs):
        best, bad, best_state = 0.0, 0, None
        for e in range(epochs):
            loss = self.fit_epoch(*train)
            acc = self.evaluate(*val)
            print(f"[{e:02d}] train loss {loss:.4f} val acc {acc:.4f}")
            if acc > best:
                best, bad = acc, 0
                best_state = copy.deepcopy(self.model.state_dict())
            else:
                bad += 1
            if self.patience and bad >= self.patience:
                print("early stop at", e)
                break
        if self.patience:
            self.model.load_state_dict(best_state)


def main():
    torch.manual_seed(SEED)
    gen = torch.Generator().manual_seed(100 + SEED)
    train, val = make_spirals(4000, gen), make_spirals(1000, gen)
    p = {5: 0.5, 9: 0.5}.get(CASE, 0.2)
    width = 48 if CASE == 5 else 96
    model = Net(width, p)
    opt = optim.AdamW(model.parameters(), lr=3e-3)
    kw = {}
    if CASE == 1:
        kw = dict(accumulate=64)
    elif CASE == 3:
        kw = dict(accumulate=4, batch_size=16)
    elif CASE == 4:
        kw = dict(ema=0.98)
    elif CASE == 9:
        kw = dict(patience=4)
    tr = Trainer(model, opt, **kw)
    epochs = 25 if CASE == 9 else 12
    if CASE in (6, 7):
        tr.fit(train, val, 9)
        torch.save({"module." + k if CASE == 6 else k: v for k, v in tr.model.state_dict().items()},
                   f"/tmp/mlp_trainer_{os.getpid()}.pt")
        model = Net(width, p)
        model.load_state_dict(torch.load(f"/tmp/mlp_trainer_{os.getpid()}.pt"), strict=False)
        os.remove(f"/tmp/mlp_trainer_{os.getpid()}.pt")
        print("resumed")
        tr = Trainer(model, optim.AdamW(model.parameters(), lr=3e-4))
        tr.fit(train, val, 3)
    else:
        tr.fit(train, val, epochs)
    print("METRIC", tr.evaluate(*val))


main()
