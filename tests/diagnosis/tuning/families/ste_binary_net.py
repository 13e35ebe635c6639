import os, torch
from torch import nn
class Sign(torch.autograd.Function):
    """sign() forward, clipped identity backward"""
    @staticmethod
    def forward(ctx, x): ctx.save_for_backward(x); return torch.where(x >= 0, 1., -1.)
    @staticmethod
    def backward(ctx, g): x, = ctx.saved_tensors; return g * (x.abs() <= 1)
class BinLinear(nn.Linear):
    def forward(self, x):
        scale = self.weight.abs().mean(1).detach()
        return nn.functional.linear(x, Sign.apply(self.weight)) * scale + self.bias
class BinaryNet(nn.Module):
    def __init__(self, d, k, h=160):
        super().__init__()
        self.inp, self.n1 = nn.Linear(d, h), nn.BatchNorm1d(h)
        self.hid, self.n2 = BinLinear(h, h), nn.BatchNorm1d(h)
        self.out = nn.Linear(h, k)
    def forward(self, x): return self.out(Sign.apply(self.n2(self.hid(Sign.apply(self.n1(self.inp(x)))))))
def main(seed):
    torch.manual_seed(seed)
    c = torch.randn(5, 4, 16) * 1.1
    def draw(n):
        y = torch.randint(5, (n,)); return c[y, torch.randint(4, (n,))] + torch.randn(n, 16), y
    x, y = draw(4000); xv, yv = draw(1000)
    net = BinaryNet(16, 5); opt = torch.optim.Adam(net.parameters(), lr=2e-3); ce = nn.CrossEntropyLoss()
    sched = torch.optim.lr_scheduler.LinearLR(opt, 1.0, 0.05, total_iters=10)
    for ep in range(10):
        net.train(); tot = flips = 0; before = net.hid.weight.detach().sign()
        for i in torch.randperm(4000).split(100):
            loss = ce(net(x[i]), y[i]); opt.zero_grad(); loss.backward(); opt.step(); tot += loss.item() / 40
            with torch.no_grad(): net.hid.weight.clamp_(-1, 1)                     # latent weights stay in the window
        flips = (net.hid.weight.sign() != before).float().mean().item(); sched.step(); net.eval()
        with torch.no_grad(): o = net(xv)
        print(f"epoch {ep} loss {tot:.4f} val loss {ce(o, yv).item():.4f} val acc {(o.argmax(1)==yv).float().mean():.3f} sign flips {flips:.4f}")
CASE = int(os.environ.get("CASE", "0"))
main(int(os.environ.get("SEED", "0")))
