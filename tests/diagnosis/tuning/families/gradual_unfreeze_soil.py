"""Pretrain on a big source region, then adapt to 300 samples of a new region, thawing one layer at a time from the top."""
import os
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
D, K = 24, 4
basis = torch.randn(D, 12) / D ** 0.5
head_src = torch.randn(12, 6) * 1.6
head_tgt = torch.randn(12, K) * 1.6


def region(n, head, shift):
    x = torch.randn(n, D)
    z = (1.5 * (x @ basis) + shift).abs() - 1.2
    return x, (z @ head + 0.35 * torch.randn(n, head.shape[1])).argmax(1)


class Tower(nn.Module):
    def __init__(self, out):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(D, 96), nn.Linear(96, 96), nn.Linear(96, 48)])
        self.head = nn.Linear(48, out)

    def forward(self, x):
        for b in self.blocks:
            x = F.gelu(b(x))
        return self.head(x)


def accuracy(m, x, y):
    with torch.no_grad():
        return (m(x).argmax(1) == y).float().mean().item()


src = region(6000, head_src, 0.0)
m = Tower(6)
opt = torch.optim.Adam(m.parameters(), lr=2e-3)
for ep in range(10):
    for i in torch.randperm(6000).split(100):
        loss = F.cross_entropy(m(src[0][i]), src[1][i])
        opt.zero_grad(); loss.backward(); opt.step()
    print(f"source epoch {ep} loss {loss.item():.4f} acc {accuracy(m, *src):.3f}")

tx, ty = region(1300, head_tgt, 0.1)
xa, ya, xb, yb = tx[:300], ty[:300], tx[300:], ty[300:]
m.head = nn.Linear(48, K)
for p in m.blocks.parameters():
    p.requires_grad_(False)
opt = torch.optim.Adam(m.head.parameters(), lr=3e-3)
thaw_at = {15: (2, 3e-4), 30: (1, 1e-4), 45: (0, 5e-5)}
for ep in range(60):
    if ep in thaw_at:
        layer, lr = thaw_at[ep]
        m.blocks[layer].requires_grad_(True)
        opt.add_param_group({"params": list(m.blocks[layer].parameters()), "lr": lr})
        print(f"thawed block {layer} at rate {lr:g}; {sum(p.numel() for p in m.parameters() if p.requires_grad)} trainable")
    tot = 0
    for i in torch.randperm(300).split(50):
        loss = F.cross_entropy(m(xa[i]), ya[i])
        opt.zero_grad(); loss.backward(); opt.step()
        tot += loss.item() / 6
    if ep % 5 == 4:
        print(f"target epoch {ep+1} loss {tot:.4f} train acc {accuracy(m, xa, ya):.3f} val acc {accuracy(m, xb, yb):.3f}")
scratch = Tower(K); o = torch.optim.Adam(scratch.parameters(), lr=1e-3)
for _ in range(150):
    i = torch.randint(300, (50,)); l = F.cross_entropy(scratch(xa[i]), ya[i]); o.zero_grad(); l.backward(); o.step()
print(f"from scratch for comparison: val acc {accuracy(scratch, xb, yb):.3f}")
