"""Gradual magnitude pruning to 90 % zeros while training; masks are applied to weights after every step."""
import os, torch
from torch import nn
CASE = int(os.environ.get("CASE", "0")); SEED = int(os.environ.get("SEED", "0")); torch.manual_seed(SEED)
class Pruner:
    def __init__(self, net, final, begin, end):
        self.ws = [m.weight for m in net.modules() if isinstance(m, nn.Linear)][:-1]
        self.masks = [torch.ones_like(w) for w in self.ws]; self.final, self.begin, self.end = final, begin, end
    @torch.no_grad()
    def after_step(self, step):
        if self.begin <= step <= self.end and step % 40 == 0:
            s = self.final * (1 - (1 - (step - self.begin) / (self.end - self.begin)) ** 3)
            for w, m in zip(self.ws, self.masks):
                k = int(s * w.numel())
                if k: m.copy_((w.abs() > w.abs().flatten().kthvalue(k).values).float())
        for w, m in zip(self.ws, self.masks): w.mul_(m)
    def sparsity(self): return 1 - sum(m.sum().item() for m in self.masks) / sum(m.numel() for m in self.masks)
def smells(n):
    gen = torch.Generator().manual_seed(11); c = torch.randn(7, 3, 32, generator=gen) * .75
    c[:, :, 12:] = 0                                       # 20 of 32 sensors say nothing
    y = torch.randint(7, (n,)); return c[y, torch.randint(3, (n,))] + .8 * torch.randn(n, 32), y
x, y = smells(4000); xv, yv = smells(1000)
net = nn.Sequential(nn.Linear(32, 160), nn.ReLU(), nn.Linear(160, 160), nn.ReLU(), nn.Linear(160, 7))
opt = torch.optim.Adam(net.parameters(), lr=1e-3); pr = Pruner(net, .9, 120, 480); ce = nn.CrossEntropyLoss(); step = 0
for epoch in range(9):
    tot = 0
    for i in torch.randperm(4000).split(50):
        loss = ce(net(x[i]), y[i]); opt.zero_grad(); loss.backward(); opt.step(); step += 1; pr.after_step(step); tot += loss.item() / 80
    with torch.no_grad(): o = net(xv)
    print(f"epoch {epoch} step {step} loss {tot:.4f} val {ce(o, yv).item():.4f} acc {(o.argmax(1)==yv).float().mean():.3f} zeros {pr.sparsity():.3f}")
