"""Cox partial likelihood over the full risk set: one batch holds everybody, censored cases count only as being at risk."""
import os, torch, torch.nn as nn
CASE = int(os.environ.get("CASE", "0")); SEED = int(os.environ.get("SEED", "0")); torch.manual_seed(SEED)
def cohort(n):
    x = torch.randn(n, 10); risk = .8 * x[:, 0] + .6 * x[:, 1].abs() - .7 * x[:, 2] * (x[:, 3] > 0) + .4 * torch.sin(2 * x[:, 4])
    life = 10 * (-torch.rand(n).clamp(min=1e-6).log() / risk.exp()) ** .7; cens = 14 * torch.rand(n) ** .5
    return x, torch.minimum(life, cens), (life <= cens).float()
def sort_by_time(x, t, e): o = t.argsort(descending=True); return x[o], t[o], e[o]
def neg_log_partial(score, event):                        # rows sorted by time, longest first
    return -((score - score.logcumsumexp(0)) * event).sum() / event.sum()
def concordance(s, t, e):
    ok = (t[:, None] < t[None]) & (e[:, None] > 0); d = s[:, None] - s[None]
    return ((d > 0).float() + .5 * (d == 0).float())[ok].mean().item()
tr, va = sort_by_time(*cohort(1500)), sort_by_time(*cohort(700))
net = nn.Sequential(nn.Linear(10, 32), nn.SELU(), nn.AlphaDropout(.1), nn.Linear(32, 16), nn.SELU(), nn.Linear(16, 1, bias=False))
opt = torch.optim.AdamW(net.parameters(), lr=4e-3, weight_decay=.05)
print(f"events {tr[2].mean():.3f}; loss with equal risks {neg_log_partial(torch.zeros(1500), tr[2]).item():.4f}")
for epoch in range(1, 241):
    net.train(); loss = neg_log_partial(net(tr[0])[:, 0], tr[2])
    opt.zero_grad(); loss.backward(); nn.utils.clip_grad_norm_(net.parameters(), 1.); opt.step()
    if epoch % 20 == 0:
        net.eval()
        with torch.no_grad(): s = net(va[0])[:, 0]; c = concordance(net(tr[0])[:, 0], tr[1], tr[2])
        print(f"epoch {epoch} partial nll {loss.item():.4f} val {neg_log_partial(s, va[2]).item():.4f} c-index train {c:.4f} val {concordance(s, va[1], va[2]):.4f}")
