"""First overfit one batch of 16 to see that the wiring is right, then start again from fresh weights on all data."""
import os, torch, torch.nn as nn, torch.nn.functional as F
CASE = int(os.environ.get("CASE", "0")); SEED = int(os.environ.get("SEED", "0"))
class Sorter(nn.Module):
    def __init__(self, d=20, k=6):
        super().__init__(); self.a = nn.Linear(d, 96); self.b = nn.Linear(96, 96); self.c = nn.Linear(96, k); self.drop = nn.Dropout(.25)
    def forward(self, x): x = F.leaky_relu(self.a(x), .1); x = self.drop(F.leaky_relu(self.b(x), .1)); return self.c(x)
def parcels(n, g):
    c = torch.randn(6, 2, 20, generator=torch.Generator().manual_seed(99)) * .7
    y = torch.randint(6, (n,), generator=g); return c[y, torch.randint(2, (n,), generator=g)] + torch.randn(n, 20, generator=g), y
g = torch.Generator().manual_seed(SEED); torch.manual_seed(SEED)
x, y = parcels(3000, g); xv, yv = parcels(1500, g)
def one_batch_check():
    m = Sorter().eval()                                   # dropout off: we want to see the loss go to nought
    o = torch.optim.Adam(m.parameters(), 1e-2); xb, yb = x[:16], y[:16]
    for s in range(81):
        l = F.cross_entropy(m(xb), yb); o.zero_grad(); l.backward(); o.step()
        if s % 20 == 0: print(f"[check] step {s} loss {l.item():.5f}")
    assert l.item() < 0.01, "cannot fit one batch"
one_batch_check()
torch.manual_seed(SEED)
net = Sorter(); opt = torch.optim.SGD(net.parameters(), lr=.05, momentum=.9, weight_decay=1e-3)
best, patience, wait_ = 9e9, 4, 0
for ep in range(25):
    net.train(); tot = 0
    for i in torch.randperm(3000, generator=g).split(60):
        l = F.cross_entropy(net(x[i]), y[i]); opt.zero_grad(); l.backward(); opt.step(); tot += l.item() / 50
    net.eval()
    with torch.no_grad(): o = net(xv); v = F.cross_entropy(o, yv).item()
    print(f"[train] epoch {ep} loss {tot:.4f} val {v:.4f} acc {(o.argmax(1)==yv).float().mean():.3f}")
    if v < best - 1e-3: best, wait_, keep = v, 0, {k: t.clone() for k, t in net.state_dict().items()}
    else: wait_ += 1
    if wait_ == patience: break
net.load_state_dict(keep)
with torch.no_grad(): print(f"[done] best val {best:.4f} acc {(net(xv).argmax(1)==yv).float().mean():.3f}")
