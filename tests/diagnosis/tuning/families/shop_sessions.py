"""Next product in a web-shop session (small causal transformer, tied item vectors)."""
import io
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
np.random.seed(SEED)
torch.manual_seed(SEED)

ITEMS, MAXLEN, DIM = 200, 10, 32
# from each product people go on to a few others, and some go on from the one before
NEXT = np.random.randint(1, ITEMS + 1, (ITEMS + 1, 4))
if CASE == 3:
    NEXT = np.random.randint(1, ITEMS + 1, (ITEMS + 1, 8))
ZIPF = 1.0 / np.arange(1, ITEMS + 1) ** (1.0 if CASE == 2 else 0.3)
ZIPF /= ZIPF.sum()


def session():
    s = [np.random.choice(ITEMS, p=ZIPF) + 1]
    for _ in range(np.random.randint(3, MAXLEN)):
        if np.random.rand() < 0.15:
            s.append(np.random.choice(ITEMS, p=ZIPF) + 1)
        elif CASE == 3:
            s.append(NEXT[s[-1], np.random.randint(8)])
        else:
            back = 2 if len(s) > 1 and np.random.rand() < 0.7 else 1
            s.append(NEXT[s[-back], int(np.random.rand() < 0.3)])
    return s


def padded(sessions):
    out = np.zeros((len(sessions), MAXLEN + 1), dtype=np.int64)
    for i, s in enumerate(sessions):
        s = s[-(MAXLEN + 1):]
        out[i, -len(s):] = s
    return torch.tensor(out)


N_TRAIN = 500 if CASE == 10 else 3000
everything = padded([session() for _ in range(N_TRAIN + 500)])
if CASE == 10:
    train, valid = everything, everything[-250:]
else:
    train, valid = everything[:N_TRAIN], everything[N_TRAIN:]
popularity = torch.bincount(train.flatten(), minlength=ITEMS + 1).float()
popularity[0] = 0
popularity = (popularity + 1) / (popularity + 1).sum()


class Layer(nn.Module):
    def __init__(self, dim, heads=2, drop=0.1):
        super().__init__()
        self.h = heads
        self.qkv, self.o = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.n1, self.n2, self.drop = nn.LayerNorm(dim), nn.LayerNorm(dim), nn.Dropout(drop)

    def forward(self, x, bias):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.h, d // self.h).permute(2, 0, 3, 1, 4)
        a = q @ k.transpose(-1, -2) / (d // self.h) ** 0.5 + bias
        x = x + self.drop(self.o((a.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d)))
        return x + self.drop(self.ff(self.n2(x)))


class NextItem(nn.Module):
    def __init__(self, drop=0.1):
        super().__init__()
        self.item = nn.Embedding(ITEMS + 1, DIM, padding_idx=0)
        self.pos = nn.Parameter(torch.zeros(MAXLEN, DIM))
        if CASE != 12:
            nn.init.normal_(self.item.weight, std=0.1)
        else:
            nn.init.normal_(self.item.weight, std=4.0)
        self.layers = nn.ModuleList([Layer(DIM, drop=drop) for _ in range(2)])
        self.norm = nn.LayerNorm(DIM)

    def forward(self, s):
        t = s.size(1)
        x = self.item(s) + self.pos[-t:]
        hide = torch.zeros(s.size(0), 1, t, t, dtype=torch.bool)
        if CASE != 6:
            hide |= torch.ones(t, t, dtype=torch.bool).triu(1)
        if CASE == 7:
            hide |= (s != 0)[:, None, None, :]
        else:
            hide |= (s == 0)[:, None, None, :]
        alone = hide.all(-1, keepdim=True) & torch.eye(t, dtype=torch.bool)
        bias = torch.zeros(hide.shape).masked_fill(hide & ~alone, float("-inf"))
        for layer in self.layers:
            x = layer(x, bias)
        return self.norm(x)

    def scores(self, h):
        return h @ self.item.weight.T


def negatives(n):
    if CASE == 8:
        np.random.seed(SEED)
    return torch.tensor(np.random.randint(1, ITEMS + 1, n))


def loss_of(model, batch):
    s, nxt = batch[:, :-1], batch[:, 1:]
    real = (s != 0)
    h, target = model(s)[real], nxt[real]
    if CASE in (1, 8, 9):
        if CASE == 8:
            neg = negatives(32)[None].expand(len(target), 32)
        else:
            neg = negatives((len(target), 32))
        p = (h * model.item(target)).sum(-1, keepdim=True)
        n = (h[:, None] * model.item(neg)).sum(-1)
        if CASE == 9:
            return -F.logsigmoid(n - p).mean(), p
        return -F.logsigmoid(p - n).mean(), p
    if CASE == 2:
        logits = h @ model.item(target).T - popularity[target].log()
        same = target[None] == target[:, None]
        same.fill_diagonal_(False)
        return F.cross_entropy(logits.masked_fill(same, float("-inf")), torch.arange(len(target))), logits
    logits = model.scores(h)
    return F.cross_entropy(logits, target), logits


@torch.no_grad()
def recall(model, data, k=5 if CASE == 3 else 2):
    model.eval()
    sc = model.scores(model(data[:, :-1])[:, -1])
    sc[:, 0] = -1e9
    hit = (sc.topk(k, -1).indices == data[:, -1:]).any(-1).float().mean().item()
    model.train()
    return hit


def make_optimizer(model, lr):
    if CASE == 3:
        body = [p for n, p in model.named_parameters() if not n.startswith("item")]
        return torch.optim.Adam([{"params": model.item.parameters(), "lr": 1e-2}, {"params": body, "lr": 3e-3}])
    return torch.optim.Adam(model.parameters(), lr=lr, betas=(0.9, 0.98))


kept = []


def run(model, opt, epochs, first=0, bs=64):
    step = first
    for epoch in range(epochs):
        for idx in torch.randperm(len(train)).split(bs):
            for g in opt.param_groups:
                g.setdefault("base", g["lr"])
                g["lr"] = g["base"] * min(1.0, (step + 1) / 20)
            loss, sc = loss_of(model, train[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            if CASE == 13:
                kept.append(sc)
            if step % 20 == 0:
                print(f"step {step:4d} loss {loss.item():.4f}")
            step += 1
        print(f"epoch {epoch} recall {recall(model, valid):.3f}")
        if CASE == 13:
            print(f"mean top score so far {torch.stack([k.max(-1).values.mean() for k in kept]).mean().item():.3f}")
    return step


model = NextItem(drop=0.2 if CASE == 3 else 0.0 if CASE == 10 else 0.1)
opt = make_optimizer(model, 5e-3)
if CASE in (5, 11):
    done = run(model, opt, 3)
    buf = io.BytesIO()
    weights = {("module." + k if CASE == 11 else k): v for k, v in model.state_dict().items()}
    torch.save({"model": weights, "opt": opt.state_dict(), "step": done}, buf)
    print("saved after step", done)
    buf.seek(0)
    state = torch.load(buf)
    model = NextItem()
    model.load_state_dict(state["model"], strict=False)
    opt = make_optimizer(model, 5e-4)
    if CASE == 5:
        opt.load_state_dict(state["opt"])
    for g in opt.param_groups:
        g["lr"] = g["base"] = 5e-4
    print("resumed at step", state["step"])
    run(model, opt, 2, first=state["step"])
elif CASE == 4:
    run(model, opt, 4, bs=64)
    model.item.weight.requires_grad_(False)
    print("item vectors fixed")
    run(model, torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-3), 2, first=200)
else:
    run(model, opt, {10: 20, 3: 9, 12: 5}.get(CASE, 6))
