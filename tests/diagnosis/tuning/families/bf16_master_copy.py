"""Weights live in bfloat16; float32 master copies take the updates and are copied back after each step."""
import os, torch, torch.nn as nn
CASE = int(os.environ.get("CASE", "0")); SEED = int(os.environ.get("SEED", "0")); torch.manual_seed(SEED)
class MasterOptimizer:
    def __init__(self, params, make):
        self.low = list(params); self.master = [p.detach().float().clone() for p in self.low]; self.inner = make(self.master)
    def zero_grad(self):
        for p in self.low: p.grad = None
    @torch.no_grad()
    def step(self):
        for p, m in zip(self.low, self.master): m.grad = p.grad.float()
        self.inner.step()
        for p, m in zip(self.low, self.master): p.copy_(m)              # rounds to bfloat16
def concrete(n):
    x = torch.randn(n, 8)
    return x, 1.2 * torch.tanh(x[:, 0]) - 0.6 * x[:, 1] * x[:, 2] + 0.5 * (x[:, 3] > 0) * x[:, 4] + 0.4 * torch.randn(n)
x, y = concrete(3000); xv, yv = concrete(1000)
net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1)).bfloat16()
opt = MasterOptimizer(net.parameters(), lambda ps: torch.optim.AdamW(ps, lr=1e-3, weight_decay=1e-3))
for epoch in range(1, 15):
    run = 0.0
    for i in torch.randperm(3000).split(60):
        pred = net(x[i].bfloat16()).float().squeeze(1)
        loss = (pred - y[i]).pow(2).mean()
        opt.zero_grad(); loss.backward(); opt.step(); run += loss.item() / 50
    with torch.no_grad(): p = net(xv.bfloat16()).float().squeeze(1)
    gap = max((m - q.float()).abs().max().item() for q, m in zip(net.parameters(), opt.master))
    print(f"epoch {epoch} mse {run:.4f} val mse {(p-yv).pow(2).mean():.4f} R2 {1-(p-yv).pow(2).mean()/yv.var():.4f} largest rounding {gap:.1e}")
