import os, math, torch, torch.nn as nn, torch.nn.functional as F
CASE, SEED = int(os.environ.get("CASE", "0")), int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
N, L, C = 1800, 256, 6
tt = torch.arange(L) / L
def call(c):
    f0 = 14 + 5 * torch.rand(1); ph = 6.28 * torch.rand(1)
    env = torch.exp(-((tt - 0.3 - 0.4 * torch.rand(1)) / 0.18) ** 2)
    slope = [0, 18, -18, 0, 9, -9][c]
    wob = [0, 0, 0, 1.6, 1.6, 0.8][c] * torch.sin(2 * math.pi * 4 * tt + ph)
    return env * torch.sin(2 * math.pi * (f0 * tt + 0.5 * slope * tt ** 2) + wob) + 0.45 * torch.randn(L)
Y = torch.randint(C, (N,)); X = torch.stack([call(int(c)) for c in Y])[:, None]
Xa, Ya, Xb, Yb = X[:1400], Y[:1400], X[1400:], Y[1400:]

def block(i, o, s): return nn.Sequential(nn.Conv1d(i, o, 7, s, 3, bias=False), nn.BatchNorm1d(o), nn.ReLU())
model = nn.Sequential(block(1, 16, 2), block(16, 32, 2), block(32, 48, 2), block(48, 64, 2), nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(64, C))
EPOCHS, BS = 7, 70
opt = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.95, weight_decay=5e-4, nesterov=True)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.15, epochs=EPOCHS, steps_per_epoch=len(Xa) // BS, base_momentum=0.85, max_momentum=0.95)
for e in range(EPOCHS):
    model.train(); perm = torch.randperm(len(Xa)); s = hit = 0
    for k in range(0, len(Xa), BS):
        i = perm[k:k + BS]
        x = torch.roll(Xa[i], int(torch.randint(-20, 21, (1,))), 2)
        out = model(x); loss = F.cross_entropy(out, Ya[i], label_smoothing=0.1)
        opt.zero_grad(set_to_none=True); loss.backward(); opt.step(); sched.step()
        s += loss.item(); hit += (out.argmax(1) == Ya[i]).sum().item()
    model.eval()
    with torch.no_grad(): o = model(Xb)
    g = opt.param_groups[0]
    print(f"epoch {e:2d} loss {s/20:.4f} acc {hit/1400:.3f} | val loss {F.cross_entropy(o, Yb).item():.4f} acc {(o.argmax(1)==Yb).float().mean().item():.3f} | lr {g['lr']:.5f} mom {g['momentum']:.3f}")
