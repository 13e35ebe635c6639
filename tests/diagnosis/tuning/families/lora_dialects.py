import os, math
import torch, torch.nn as nn, torch.nn.functional as F
CASE = int(os.environ.get("CASE", "0")); SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED); gen = torch.Generator().manual_seed(SEED + 5)
V, T = 32, 16

def chain(sharp): return F.softmax(sharp * torch.randn(V, V, generator=gen), 1)
standard = chain(2.2)
mix = torch.zeros(V, V); mix[torch.arange(V), torch.randperm(V, generator=gen)] = 1
dialect = 0.6 * standard + 0.4 * mix @ chain(2.2)

def speak(P, n):
    s = [torch.randint(V, (n,), generator=gen)]
    for _ in range(T): s.append(torch.multinomial(P[s[-1]], 1, generator=gen).squeeze(1))
    return torch.stack(s, 1)

class LoRALinear(nn.Module):
    """y = Wx + b + (alpha/r) B A x ; B starts at zero so that the adapted net equals the base net at first."""
    def __init__(self, base, r=4, alpha=8):
        super().__init__()
        self.base, self.scale = base, alpha / r
        self.A = nn.Parameter(torch.randn(r, base.in_features) / math.sqrt(base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, r))
    def forward(self, x): return self.base(x) + self.scale * (x @ self.A.t() @ self.B.t())

class LM(nn.Module):
    def __init__(self, h=64):
        super().__init__()
        self.emb = nn.Embedding(V, h); self.rnn = nn.GRU(h, h, batch_first=True)
        self.up = nn.Linear(h, 2 * h); self.down = nn.Linear(2 * h, h); self.out = nn.Linear(h, V)
    def forward(self, s):
        h = self.rnn(self.emb(s))[0]; h = h + self.down(F.gelu(self.up(h))); return self.out(h)

def lm_loss(m, s): return F.cross_entropy(m(s[:, :-1]).reshape(-1, V), s[:, 1:].reshape(-1))
def entropy_rate(P, s): return -P[s[:, :-1], s[:, 1:]].log().mean().item()

base_tr, dia_tr, base_va, dia_va = speak(standard, 1500), speak(dialect, 600), speak(standard, 300), speak(dialect, 300)
m = LM(); opt = torch.optim.AdamW(m.parameters(), lr=4e-3)
for step in range(1, 121):
    loss = lm_loss(m, base_tr[torch.randint(1500, (48,))]); opt.zero_grad(); loss.backward(); opt.step()
    if step % 40 == 0:
        with torch.no_grad(): print(f"base {step} loss {loss.item():.3f} val {lm_loss(m, base_va).item():.3f} (floor {entropy_rate(standard, base_va):.3f}) dialect {lm_loss(m, dia_va).item():.3f}")

for p in m.parameters(): p.requires_grad = False
for name in ("up", "down", "out"): setattr(m, name, LoRALinear(getattr(m, name)))
train = [p for p in m.parameters() if p.requires_grad]
print(f"adapters: {sum(p.numel() for p in train)} of {sum(p.numel() for p in m.parameters())} parameters")
opt = torch.optim.AdamW(train, lr=5e-3, weight_decay=0.0)
for step in range(1, 126):
    loss = lm_loss(m, dia_tr[torch.randint(600, (48,))]); opt.zero_grad(); loss.backward(); opt.step()
    if step % 25 == 0:
        with torch.no_grad(): print(f"adapt {step} loss {loss.item():.3f} val {lm_loss(m, dia_va).item():.3f} (floor {entropy_rate(dialect, dia_va):.3f})")
