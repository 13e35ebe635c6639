import os, numpy as np, torch, torch.nn as nn, torch.nn.functional as F
CASE = int(os.environ.get("CASE", "0")); SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED); np.random.seed(SEED)
proto = torch.randn(10, 2, 30)
def leaves(n):
    y = torch.randint(10, (n,)); x = proto[y, torch.randint(2, (n,))] * 0.45 + torch.randn(n, 30) * 0.9
    return x, y
(x, y), (xv, yv) = leaves(2500), leaves(1500)
net = nn.Sequential(nn.Linear(30, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
soft_ce = lambda out, t: -(t * out.log_softmax(1)).sum(1).mean()
for epoch in range(1, 16):
    tot = 0
    for i in torch.randperm(2500).split(50):
        lam = float(np.random.beta(0.8, 0.8)); j = torch.randperm(len(i))
        a, b = x[i], x[i][j]
        if np.random.rand() < 0.5: mixed = lam * a + (1 - lam) * b                # mixup
        else:                                                                       # cut: a run of features comes from the partner
            w = int(round((1 - lam) * 30)); s = np.random.randint(0, 31 - w); mixed = a.clone(); mixed[:, s:s + w] = b[:, s:s + w]; lam = 1 - w / 30
        t = F.one_hot(y[i], 10).float(); t = lam * t + (1 - lam) * t[j]
        loss = soft_ce(net(mixed), t)
        opt.zero_grad(); loss.backward(); opt.step(); tot += loss.item() / 50
    with torch.no_grad(): o, ot = net(xv), net(x)
    print(f"epoch {epoch} mixed loss {tot:.4f} | clean train loss {F.cross_entropy(ot, y).item():.4f} acc {(ot.argmax(1)==y).float().mean():.3f} | val loss {F.cross_entropy(o, yv).item():.4f} acc {(o.argmax(1)==yv).float().mean():.3f}")
