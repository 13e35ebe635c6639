# Autoregressive model of binary textures (PixelCNN style)
import copy
import math
import os
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", 5))
SEED = int(os.environ.get("SEED", 0))
N = 8


def cellular(n, gen, flip=0.06):
    """x[i,j] = xor(up, left), with a little noise"""
    x = torch.zeros(n, N + 1, N + 1)
    x[:, 0] = (torch.rand(n, N + 1, generator=gen) < 0.5).float()
    x[:, :, 0] = (torch.rand(n, N + 1, generator=gen) < 0.5).float()
    for i in range(1, N + 1):
        for j in range(1, N + 1):
            v = (x[:, i - 1, j] + x[:, i, j - 1]) % 2
            e = (torch.rand(n, generator=gen) < flip).float()
            x[:, i, j] = (v + e) % 2
    return x[:, None, 1:, 1:].clone()


class MaskedConv(nn.Conv2d):
    def __init__(self, kind, *a, **k):
        super().__init__(*a, **k)
        kh, kw = self.kernel_size
        m = torch.ones(kh, kw)
        m[kh // 2, kw // 2 + (kind == "B"):] = 0
        m[kh // 2 + 1:] = 0
        self.register_buffer("mask", m[None, None])

    def forward(self, x):
        return F.conv2d(x, self.weight * self.mask, self.bias, 1, self.padding)


class PixelCNN(nn.Module):
    def __init__(self, ch=32, depth=2):
        super().__init__()
        act = nn.Sigmoid if CASE == 3 else nn.ELU if CASE == 8 else nn.ReLU
        first = "B" if CASE == 1 else "A"
        layers = [MaskedConv(first, 1, ch, 5, padding=2)]
        for _ in range(depth):
            if CASE != 4:
                layers.append(act())
            layers.append(MaskedConv("B", ch, ch, 3, padding=1))
        if CASE != 4:
            layers.append(act())
        if CASE == 8:
            layers.append(nn.Dropout(0.2))
        layers.append(MaskedConv("B", ch, 1, 1))
        if CASE == 10:
            layers = [nn.utils.weight_norm(l) if isinstance(l, MaskedConv) else l for l in layers]
        self.net = nn.Sequential(*layers)

    def forward(self, x):
        return self.net(x * 2 - 1)


class PixelTransformer(nn.Module):
    def __init__(self, d=32, heads=4):
        super().__init__()
        L = N * N
        self.tok = nn.Embedding(3, d)
        self.row, self.col = nn.Parameter(torch.randn(N, 1, d) * 0.3), nn.Parameter(torch.randn(1, N, d) * 0.3)
        self.up = nn.Embedding(3, d)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))
        self.n1, self.head = nn.LayerNorm(d), nn.Linear(d, 1)
        self.heads = heads
        self.register_buffer("bias", torch.full((L, L), float("-inf")).triu(1))

    def forward(self, x):
        b, L = len(x), N * N
        seq = x.view(b, L).long()
        prev = torch.cat([torch.full((b, 1), 2), seq[:, :-1]], 1)
        above = torch.cat([torch.full((b, N), 2), seq[:, :-N]], 1)
        h = self.tok(prev) + self.up(above) + (self.row + self.col).view(1, L, -1)
        q, k, v = self.qkv(self.n1(h)).view(b, L, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        a = (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]) + self.bias).softmax(-1)
        h = h + self.out((a @ v).transpose(1, 2).reshape(b, L, -1))
        h = h + self.mlp(h)
        return self.head(h).view(b, 1, N, N)


class SignMomentum(torch.optim.Optimizer):
    def __init__(self, params, lr, b1=0.9, b2=0.98):
        super().__init__(params, dict(lr=lr, b1=b1, b2=b2))

    @torch.no_grad()
    def step(self):
        for g in self.param_groups:
            for p in g["params"]:
                if p.grad is None:
                    continue
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                p.add_(torch.sign(g["b1"] * m + (1 - g["b1"]) * p.grad), alpha=-g["lr"])
                m.mul_(g["b2"]).add_(p.grad, alpha=1 - g["b2"])


@torch.no_grad()
def sample(model, n=48):
    x = torch.zeros(n, 1, N, N)
    for i in range(N):
        for j in range(N):
            p = torch.sigmoid(model(x)[:, 0, i, j])
            x[:, 0, i, j] = torch.bernoulli(p)
    return x


def triples(x):
    x = x[:, 0].long()
    code = 4 * x[:, :-1, 1:] + 2 * x[:, 1:, :-1] + x[:, 1:, 1:]
    return torch.bincount(code.flatten(), minlength=8).float() / code.numel()


def bits(model, x):
    with torch.no_grad():
        return F.binary_cross_entropy_with_logits(model(x), x).item() / math.log(2)


torch.manual_seed(SEED)
gen = torch.Generator().manual_seed(SEED + 5)
train, test = cellular(2000, gen), cellular(200, gen)
model = PixelTransformer() if CASE == 7 else PixelCNN(depth=7 if CASE == 3 else 2)
steps, bs = 360, 32
if CASE == 2:
    opt = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
elif CASE == 6:
    opt = torch.optim.SGD(model.parameters(), lr=2e-3, momentum=0.9)
elif CASE == 9:
    opt = SignMomentum(model.parameters(), lr=4e-4)
elif CASE == 10:
    opt = torch.optim.Adagrad(model.parameters(), lr=0.05)
elif CASE == 7:
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3, betas=(0.9, 0.98))
else:
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
ema = copy.deepcopy(model) if CASE == 8 else None
step = 0
for epoch in range(1000):
    order = torch.randperm(len(train))
    for lo in range(0, len(train) - bs + 1, bs):
        x = train[order[lo:lo + bs]]
        if CASE == 9:
            crop = min(N, 4 + step // 40)
            x = x[:, :, :crop, :crop]
        logits = model(x)
        if CASE == 6:
            loss = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum((1, 2, 3)).mean()
        elif CASE == 10:
            z = logits * (2 * x - 1)
            loss = F.softplus(-z).mean() / math.log(2)
        else:
            loss = F.binary_cross_entropy_with_logits(logits, x)
        opt.zero_grad()
        loss.backward()
        if CASE == 2:
            nn.utils.clip_grad_norm_(model.parameters(), 1e-3)
        if CASE in (6, 7):
            nn.utils.clip_grad_norm_(model.parameters(), 5.0 if CASE == 6 else 1.0)
        opt.step()
        if ema is not None:
            with torch.no_grad():
                for a, b in zip(ema.parameters(), model.parameters()):
                    a += (b - a) * 0.03
        step += 1
        if step % 60 == 0:
            model.eval()
            print(f"step {step:4d}  loss {loss.item():.4f}  held-out {bits(model, test):.4f} bits/pixel")
            model.train()
        if step == steps:
            break
    if step == steps:
        break
final = ema if ema is not None else model
final.eval()
hs, hd = triples(sample(final)), triples(test)
print("patterns sampled", [round(v, 3) for v in hs.tolist()], "data", [round(v, 3) for v in hd.tolist()])
print(f"held-out {bits(final, test):.4f} bits/pixel")
print(f"METRIC {torch.min(hs, hd).sum():.4f}")
