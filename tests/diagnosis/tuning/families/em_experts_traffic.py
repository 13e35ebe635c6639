# Mixture of regressions by generalised EM: the E step gives responsibilities (constants), the M step takes a few gradient steps.
import os, math, numpy as np, torch
from torch import nn
CASE = int(os.environ.get("CASE", "0")); SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED); rs = np.random.RandomState(SEED)

n = 2400
hour = rs.uniform(0, 24, n); lanes = rs.choice([1., 2, 3], n); wet = rs.rand(n)
regime = (rs.rand(n) < 1 / (1 + np.exp(-(np.cos((hour - 8) / 24 * 4 * np.pi) * 2 - 0.5)))).astype(int)   # 1 = congested
free = 70 + 8 * lanes - 12 * wet; jam = 18 + 5 * lanes + 4 * np.sin(hour / 3)
speed = np.where(regime, jam, free) + rs.randn(n) * np.where(regime, 5, 7)
F_ = np.stack([np.sin(hour * np.pi / 12), np.cos(hour * np.pi / 12), np.sin(hour * np.pi / 6), np.cos(hour * np.pi / 6), lanes - 2, wet - .5], 1)
x = torch.tensor(F_, dtype=torch.float32); y = torch.tensor((speed - speed.mean()) / speed.std(), dtype=torch.float32)
xa, ya, xb, yb = x[:1800], y[:1800], x[1800:], y[1800:]

K = 2
experts = nn.ModuleList([nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1)) for _ in range(K)])
for e, b in zip(experts, (-.7, .7)): nn.init.constant_(e[2].bias, b)
gate = nn.Linear(6, K)
log_sigma = nn.Parameter(torch.zeros(K))
opt_e = torch.optim.Adam([*experts.parameters(), log_sigma], lr=1e-2)
opt_g = torch.optim.Adam(gate.parameters(), lr=2e-2)

def parts(x, y):
    mu = torch.cat([e(x) for e in experts], 1)
    ll = -0.5 * ((y[:, None] - mu) / log_sigma.exp()) ** 2 - log_sigma - 0.5 * math.log(2 * math.pi)
    return gate(x).log_softmax(1), ll

for it in range(40):
    with torch.no_grad():                                   # E
        lg, ll = parts(xa, ya); resp = (lg + ll).softmax(1)
    for _ in range(6):                                      # M, partial
        lg, ll = parts(xa, ya)
        q = -(resp * ll).sum(1).mean()
        opt_e.zero_grad(); q.backward(); opt_e.step()
        h = -(resp * gate(xa).log_softmax(1)).sum(1).mean()
        opt_g.zero_grad(); h.backward(); opt_g.step()
    if it % 8 == 7:
        with torch.no_grad():
            lg, ll = parts(xb, yb); post = (lg + ll).softmax(1)
            v = -torch.logsumexp(lg + ll, 1).mean().item()
            agree = (post.argmax(1).numpy() == regime[1800:]).mean(); agree = max(agree, 1 - agree)
        print(f"iter {it+1:3d} Q {q.item():.4f} gate {h.item():.4f} val nll {v:.4f} sigma {log_sigma.exp().tolist()} regimes found {agree:.3f}")
print("one Gaussian would give", round(0.5 * math.log(2 * math.pi * math.e * float(yb.var())), 4))
