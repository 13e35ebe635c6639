"""Fill in masked answers of a questionnaire (15 % masked). Loss and accuracy are taken over masked cells only; output = input embedding."""
import os, torch, torch.nn as nn, torch.nn.functional as F
CASE = int(os.environ.get("CASE", "0")); SEED = int(os.environ.get("SEED", "0")); torch.manual_seed(SEED)
ITEMS, LEVELS, IGNORE = 18, 4, -100

load = torch.randn(ITEMS, 3) * 1.4
def survey(n):
    z = torch.randn(n, 3) @ load.t() + 0.7 * torch.randn(n, ITEMS)
    return torch.bucketize(z, torch.tensor([-1.3, 0., 1.3]))

class Imputer(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.tok = nn.Embedding(LEVELS + 1, d); self.item = nn.Parameter(torch.randn(ITEMS, d))
        self.mix = nn.TransformerEncoder(nn.TransformerEncoderLayer(d, 4, 64, dropout=0., batch_first=True), 1)
        self.bias = nn.Parameter(torch.zeros(ITEMS, LEVELS)); self.proj = nn.Linear(d, d)
        nn.init.normal_(self.tok.weight, std=d ** -0.5)
    def forward(self, a):
        h = self.proj(self.mix(self.tok(a) * 5 + self.item) + self.item)
        return h @ self.tok.weight[:LEVELS].t() + self.bias

def mask(a):
    m = torch.rand(a.shape) < 0.15
    r = torch.rand(a.shape)
    shown = torch.where(m & (r < .8), torch.full_like(a, LEVELS), a)
    shown = torch.where(m & (r > .9), torch.randint(LEVELS, a.shape), shown)        # some masked cells show a random answer, some the true one
    return shown, torch.where(m, a, torch.full_like(a, IGNORE))

train, val = survey(4000), survey(500)
net = Imputer(); opt = torch.optim.AdamW(net.parameters(), lr=3e-3, betas=(.9, .98))
warm = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1, (s + 1) / 40) * (1 - s / 320))
vx, vt = mask(val)
for step in range(1, 281):
    x, t = mask(train[torch.randint(4000, (64,))])
    loss = F.cross_entropy(net(x).reshape(-1, LEVELS), t.reshape(-1), ignore_index=IGNORE)
    opt.zero_grad(); loss.backward(); opt.step(); warm.step()
    if step % 28 == 0:
        net.eval()
        with torch.no_grad(): o = net(vx); l = F.cross_entropy(o.reshape(-1, LEVELS), vt.reshape(-1)).item(); k = vt != IGNORE
        net.train()
        print(f"step {step} masked loss {loss.item():.4f} val {l:.4f} masked acc {(o.argmax(2)==vt)[k].float().mean():.3f} (majority {max((vt[k]==c).float().mean().item() for c in range(LEVELS)):.3f}) lr {opt.param_groups[0]['lr']:.5f}")
