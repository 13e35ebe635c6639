"""Fit overlapping peaks of a chromatogram: 3 numbers a peak, full batch, double precision, LBFGS with a closure."""
import os, math
import torch
CASE = int(os.environ.get("CASE", "0")); SEED = int(os.environ.get("SEED", "0"))
g = torch.Generator().manual_seed(SEED)
DT = torch.float64

def curve(t, height, centre, width, base):
    # exponentially tailed peaks
    z = (t[:, None] - centre) / width
    return (height * torch.exp(-0.5 * z ** 2) * (1 + 0.25 * torch.tanh(z))).sum(1) + base[0] + base[1] * t

t = torch.linspace(0, 10, 900, dtype=DT)
true = dict(height=torch.tensor([3., 5, 2, 4, 1.5], dtype=DT), centre=torch.tensor([1.7, 3.1, 4.4, 6.6, 8.2], dtype=DT),
            width=torch.tensor([.25, .4, .35, .5, .3], dtype=DT), base=torch.tensor([.3, .02], dtype=DT))
y = curve(t, **true) + 0.05 * torch.randn(len(t), generator=g, dtype=DT)
hold = torch.arange(len(t)) % 5 == 0
fit_t, fit_y = t[~hold], y[~hold]

log_h = torch.zeros(5, dtype=DT, requires_grad=True)
centre = torch.tensor([1.2, 3.3, 4.9, 6.2, 8.5], dtype=DT, requires_grad=True)
log_w = torch.full((5,), math.log(0.5), dtype=DT, requires_grad=True)
base = torch.zeros(2, dtype=DT, requires_grad=True)
params = [log_h, centre, log_w, base]
opt = torch.optim.LBFGS(params, lr=0.5, max_iter=4, history_size=12, line_search_fn="strong_wolfe")
calls = 0

def model(at): return curve(at, log_h.exp(), centre, log_w.exp(), base)

def closure():
    global calls
    opt.zero_grad()
    loss = ((model(fit_t) - fit_y) ** 2).mean()
    loss.backward()
    calls += 1
    return loss

for step in range(120):
    before = opt.step(closure)
    if step % 8 == 0 or step == 119:
        with torch.no_grad():
            h = ((model(t[hold]) - y[hold]) ** 2).mean().sqrt()
        print(f"step {step} calls {calls} loss {before.item():.3e} held-out rms {h.item():.5f} (noise 0.05)")
print("centres", [round(c, 3) for c in sorted(centre.tolist())], "true", true["centre"].tolist())
print("areas  ", [round(a, 3) for a in (log_h.exp() * log_w.exp()).tolist()], "true", (true["height"] * true["width"]).tolist())
