import os, math
import torch
from torch import nn
from torch.autograd import Function

CASE = int(os.environ.get("CASE", "0")); SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)

class Reverse(Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return x.view_as(x)
    @staticmethod
    def backward(ctx, g):
        return -ctx.lam * g, None

D = 16
proto = torch.randn(4, D) * 0.8
shift = torch.zeros(D); shift[:6] = torch.randn(6) * 2.2      # the second scanner has an offset in six channels

def scanner(n, second):
    y = torch.randint(4, (n,))
    x = proto[y] + 0.9 * torch.randn(n, D)
    return (x + shift if second else x), y

xs, ys = scanner(2400, False)
xt, _ = scanner(2400, True)              # no labels from the second scanner
xv, yv = scanner(1000, True)

class DANN(nn.Module):
    def __init__(self):
        super().__init__()
        self.feat = nn.Sequential(nn.Linear(D, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.label = nn.Linear(32, 4)
        self.domain = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
    def forward(self, x, lam):
        f = self.feat(x)
        return self.label(f), self.domain(Reverse.apply(f, lam)).squeeze(1)

def train(adapt):
    torch.manual_seed(SEED + 1)
    net = DANN(); opt = torch.optim.Adam(net.parameters(), lr=1e-3, weight_decay=1e-4)
    ce, bce = nn.CrossEntropyLoss(), nn.BCEWithLogitsLoss()
    steps = 450
    for s in range(steps):
        lam = (2 / (1 + math.exp(-8 * s / steps)) - 1) * 0.6 if adapt else 0.0
        i, j = torch.randint(2400, (64,)), torch.randint(2400, (64,))
        out, d = net(torch.cat([xs[i], xt[j]]), lam)
        dom = torch.cat([torch.zeros(64), torch.ones(64)])
        l_cls, l_dom = ce(out[:64], ys[i]), bce(d, dom)
        loss = l_cls + l_dom
        opt.zero_grad(); loss.backward(); opt.step()
        if s % 50 == 49:
            with torch.no_grad():
                acc = (net(xv, 0)[0].argmax(1) == yv).float().mean().item()
            dacc = ((d > 0) == (dom > 0.5)).float().mean().item()
            print(f"adapt={adapt} step {s+1} lambda {lam:.2f} label loss {l_cls.item():.3f} domain loss {l_dom.item():.3f} domain acc {dacc:.2f} | second scanner acc {acc:.3f}")
    return acc

a, b = train(False), train(True)
print(f"second scanner: source only {a:.3f}, adapted {b:.3f}")
