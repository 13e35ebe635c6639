# Sharpness-aware minimisation: climb, second backward at the shifted weights, go back, then step.
import os, torch, torch.nn as nn
CASE = int(os.environ.get("CASE", "0")); SEED = int(os.environ.get("SEED", "0")); torch.manual_seed(SEED)
class SAM(torch.optim.Optimizer):
    def __init__(self, params, base, rho=.05, **kw):
        super().__init__(params, dict(rho=rho, **kw)); self.base = base(self.param_groups, **kw); self.param_groups = self.base.param_groups
    @torch.no_grad()
    def climb(self):
        ps = [p for g in self.param_groups for p in g["params"] if p.grad is not None]
        norm = torch.stack([p.grad.norm() for p in ps]).norm() + 1e-12
        for p in ps: e = p.grad * (self.param_groups[0]["rho"] / norm); p.add_(e); self.state[p]["e"] = e
        self.zero_grad()
    @torch.no_grad()
    def step(self, closure=None):
        for g in self.param_groups:
            for p in g["params"]:
                if "e" in self.state[p]: p.sub_(self.state[p].pop("e"))
        self.base.step()
        self.zero_grad()
def mushrooms(n):
    g = torch.Generator().manual_seed(5); w = torch.randn(22, 30, generator=g) * .35; v = torch.randn(30, 4, generator=g)
    x = torch.randint(0, 5, (n, 22)).float(); z = torch.relu((x - 2) @ w) @ v
    y = (z - z.mean(0) + 2.0 * torch.randn(n, 4)).argmax(1); return (x - 2) / 1.41, y
x, y = mushrooms(4500); xv, yv = x[3000:], y[3000:]; x, y = x[:3000], y[:3000]
net = nn.Sequential(nn.Linear(22, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 4)); ce = nn.CrossEntropyLoss()
opt = SAM(net.parameters(), torch.optim.SGD, rho=.1, lr=.05, momentum=.9)
for epoch in range(1, 8):
    a = b = 0
    for i in torch.randperm(3000).split(60):
        l1 = ce(net(x[i]), y[i]); l1.backward(); opt.climb()
        l2 = ce(net(x[i]), y[i]); l2.backward(); opt.step()
        a += l1.item() / 50; b += l2.item() / 50
    with torch.no_grad(): o = net(xv)
    print(f"epoch {epoch} loss {a:.4f} at shifted weights {b:.4f} val {ce(o, yv).item():.4f} acc {(o.argmax(1)==yv).float().mean():.3f}")
