"""Reptile: five inner SGD steps on a task, then the start weights move a little towards the result. Only the adapted net is any good."""
import copy, os, torch, torch.nn as nn
CASE = int(os.environ.get("CASE", "0")); SEED = int(os.environ.get("SEED", "0")); torch.manual_seed(SEED)
def task(g=None):
    r = lambda *s: torch.rand(*s, generator=g)
    a, p, f = .5 + 2 * r(1), 6.28 * r(1), .8 + .4 * r(1)
    def points(n): x = r(n, 1) * 8 - 4; return x, a * torch.sin(f * x + p) + .1 * torch.randn(n, 1, generator=g)
    return points
def new(): return nn.Sequential(nn.Linear(1, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 1))
def inner(net, x, y, steps, lr=.03):
    o = torch.optim.SGD(net.parameters(), lr=lr)
    for _ in range(steps): l = (net(x) - y).pow(2).mean(); o.zero_grad(); l.backward(); o.step()
    return l.item()
def few_shot(start, shots=10, steps=20):
    g = torch.Generator().manual_seed(1234); zero = after = 0
    for _ in range(20):
        pts = task(g); x, y = pts(shots); xq, yq = pts(60); m = copy.deepcopy(start)
        with torch.no_grad(): zero += (m(xq) - yq).pow(2).mean().item() / 20
        inner(m, x, y, steps)
        with torch.no_grad(): after += (m(xq) - yq).pow(2).mean().item() / 20
    return zero, after
start = new(); META = 400
print("random start: before/after adaptation %.3f %.3f" % few_shot(start))
for it in range(1, META + 1):
    x, y = task()(30); m = copy.deepcopy(start); last = inner(m, x, y, 6)
    eps = 0.8 * (1 - it / (META + 1))
    with torch.no_grad():
        for a, b in zip(start.parameters(), m.parameters()): a.add_(b - a, alpha=eps)
    if it % 50 == 0: z, f = few_shot(start); print(f"iteration {it} last inner loss {last:.3f} | new tasks: before {z:.3f} after {f:.3f}")
