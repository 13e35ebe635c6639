import os
import math
import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
SEED, CASE = int(os.environ.get("SEED", 0)), int(os.environ.get("CASE", 0))
g = torch.Generator().manual_seed(SEED)
glyphs = (torch.rand(8, 4, 4, generator=torch.Generator().manual_seed(5)) > 0.5).float()


def images(n):
    """a 4x4 board of 4x4 cells; two cells hold a glyph, the class tells which glyph is the left one"""
    x = torch.rand(n, 16, 16, generator=g) * 0.5
    y = torch.empty(n, dtype=torch.long)
    for i in range(n):
        a, b = torch.randint(0, 8, (2,), generator=g).tolist()
        ca = int(torch.randint(0, 2, (1,), generator=g))
        cb = int(torch.randint(2, 4, (1,), generator=g))
        ra, rb = torch.randint(0, 4, (2,), generator=g).tolist()
        x[i, ra * 4:ra * 4 + 4, ca * 4:ca * 4 + 4] += glyphs[a]
        x[i, rb * 4:rb * 4 + 4, cb * 4:cb * 4 + 4] += glyphs[b]
        y[i] = a
    return x - 0.3, y


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.h = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)
        self.scale = (dim // heads) ** -0.5
        if CASE == 4:
            self.scale = float((dim // heads) ** 2)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.h, C // self.h).permute(2, 0, 3, 1, 4)
        a = q @ k.transpose(-2, -1) * self.scale
        a = a.softmax(dim=0 if CASE == 2 else -1)
        return self.proj((a @ v).transpose(1, 2).reshape(B, N, C))


class Block(nn.Module):
    def __init__(self, dim, heads, drop_path=0.0):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = Attention(dim, heads)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.dp = drop_path

    def skip(self, y):
        if self.dp == 0 or not self.training:
            return y
        keep = (torch.rand(y.shape[0], 1, 1) > self.dp).float() / (1 - self.dp)
        return y * keep

    def forward(self, x):
        x = x + self.skip(self.attn(self.n1(x)))
        return x + self.skip(self.mlp(self.n2(x)))


class ViT(nn.Module):
    def __init__(self, dim=32, depth=2, heads=4):
        super().__init__()
        self.embed = nn.Conv2d(1, dim, 4, 4)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos = nn.Parameter(torch.randn(1, 17, dim) * 0.02)
        blocks = [Block(dim, heads, 0.2 if CASE == 6 else 0.0) for _ in range(depth)]
        self.blocks = blocks if CASE == 1 else nn.ModuleList(blocks)
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, 8)
        self.aux = nn.Linear(dim, 8) if CASE == 7 else None
        if CASE == 3:
            for m in self.modules():
                if isinstance(m, (nn.Linear, nn.Conv2d)):
                    nn.init.constant_(m.weight, 0.02)
                    nn.init.constant_(m.bias, 0.0)

    def forward(self, x):
        z = self.embed(x[:, None]).flatten(2).transpose(1, 2)
        z = torch.cat([self.cls.expand(len(z), -1, -1), z], 1) + self.pos
        for b in self.blocks:
            z = b(z)
        return self.head(self.norm(z)[:, 0])


@torch.no_grad()
def evaluate(net, x, y):
    net.eval()
    out = torch.cat([net(c) for c in x.split(256)])
    net.train()
    print("  accuracy %.3f" % (out.argmax(1) == y).float().mean().item())
    return F.cross_entropy(out, y).item()


torch.manual_seed(SEED)
xtr, ytr = images(1500)
xte, yte = images(300)
net = ViT()
epochs, bs, peak = 6, 50, 3e-3
if CASE == 8:
    peak = 0.3
opt = torch.optim.AdamW(net.parameters(), lr=peak, weight_decay=0.01)
total = epochs * (len(xtr) // bs)
warm = 30


def lr_at(s):
    if s < warm:
        return s / warm
    return 0.5 * (1 + math.cos(math.pi * (s - warm) / max(1, total - warm)))


sched = torch.optim.lr_scheduler.LambdaLR(opt, lr_at)
step = 0
for epoch in range(epochs):
    order = torch.randperm(len(xtr))
    for i in range(0, len(order) - bs + 1, bs):
        xb, yb = xtr[order[i:i + bs]], ytr[order[i:i + bs]]
        loss = F.cross_entropy(net(xb), yb, label_smoothing=0.1 if CASE == 5 else 0.0)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        if CASE != 9:
            sched.step()
        step += 1
        if step % 60 == 1:
            print(f"step {step} lr {opt.param_groups[0]['lr']:.5f} loss {loss.item():.4f}")
    if CASE == 9:
        sched.step()
    if epoch % 3 == 0:
        print("eval", epoch, evaluate(net, xte, yte))
print("METRIC", evaluate(net, xte, yte))
