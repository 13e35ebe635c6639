"""Train without ornament, then (1) average predictions over jittered copies at test time, (2) fit one temperature by LBFGS on validation logits."""
import os, torch, torch.nn as nn, torch.nn.functional as F
CASE = int(os.environ.get("CASE", "0")); SEED = int(os.environ.get("SEED", "0")); torch.manual_seed(SEED)
K, L = 5, 48
t = torch.linspace(0, 1, L)
def traces(n):
    y = torch.randint(K, (n,)); f = torch.tensor([2., 2.6, 3.2, 3.8, 4.4])[y][:, None]
    p = torch.rand(n, 1) * 6.28; return (torch.sin(6.28 * f * t + p) + 1.5 * torch.randn(n, L))[:, None], y
(x, y), (xv, yv), (xt, yt) = traces(2000), traces(600), traces(1000)
net = nn.Sequential(nn.Conv1d(1, 16, 9, padding=4), nn.ReLU(), nn.MaxPool1d(2), nn.Conv1d(16, 32, 9, padding=4), nn.ReLU(), nn.MaxPool1d(2), nn.Flatten(), nn.Linear(32 * 12, 64), nn.ReLU(), nn.Linear(64, K))
opt = torch.optim.Adam(net.parameters(), lr=1.5e-3)
def jitter(x): return torch.roll(x, int(torch.randint(-3, 4, ())), -1) + .1 * torch.randn_like(x)
def ece(p, y, bins=10):
    c, h = p.max(1); ok = (h == y).float(); e = 0
    for b in range(bins):
        m = (c > b / bins) & (c <= (b + 1) / bins)
        if m.any(): e += m.float().mean() * (c[m].mean() - ok[m].mean()).abs()
    return float(e)
for ep in range(7):
    net.train(); tot = 0
    for i in torch.randperm(2000).split(50):
        loss = F.cross_entropy(net(jitter(x[i])), y[i]); opt.zero_grad(); loss.backward(); opt.step(); tot += loss.item() / 40
    net.eval()
    with torch.no_grad(): o = net(xv)
    print(f"epoch {ep} loss {tot:.4f} val loss {F.cross_entropy(o, yv).item():.4f} acc {(o.argmax(1)==yv).float().mean():.3f} ece {ece(o.softmax(1), yv):.3f}")
with torch.no_grad():
    plain = net(xt); many = torch.stack([net(jitter(xt)) for _ in range(12)]).mean(0); vmany = torch.stack([net(jitter(xv)) for _ in range(12)]).mean(0)
log_t = torch.zeros(1, requires_grad=True)
lb = torch.optim.LBFGS([log_t], lr=.3, max_iter=40)
def closure():
    lb.zero_grad(); l = F.cross_entropy(vmany / log_t.exp(), yv); l.backward(); return l
before = lb.step(closure).item(); T = log_t.exp().item()
print(f"temperature {T:.3f} val nll {before:.4f} -> {F.cross_entropy(vmany / T, yv).item():.4f}")
for name, lo in (("plain", plain), ("tta", many), ("tta + temperature", many / T)):
    print(f"test {name}: nll {F.cross_entropy(lo, yt).item():.4f} acc {(lo.argmax(1)==yt).float().mean():.3f} ece {ece(lo.softmax(1), yt):.3f}")
