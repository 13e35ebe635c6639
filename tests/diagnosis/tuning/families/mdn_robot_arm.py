import argparse, math, os
import torch, torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--components", type=int, default=5)
parser.add_argument("--steps", type=int, default=900)
parser.add_argument("--lr", type=float, default=3e-3)
args = parser.parse_args([])
CASE = int(os.environ.get("CASE", "0")); SEED = int(os.environ.get("SEED", "0")); torch.manual_seed(SEED)

# Inverse kinematics: the same hand position is reached with elbow up and elbow down.
def batch(n):
    t1 = torch.rand(n) * 1.4 + 0.2
    t2 = (torch.rand(n) * 1.9 + 0.4) * (torch.randint(0, 2, (n,)) * 2 - 1)
    x = torch.cos(t1) + 0.8 * torch.cos(t1 + t2); y = torch.sin(t1) + 0.8 * torch.sin(t1 + t2)
    pos = torch.stack([x, y], 1) + 0.01 * torch.randn(n, 2)
    return pos, torch.stack([t1, t2], 1)

class MDN(nn.Module):
    def __init__(self, k):
        super().__init__(); self.k = k
        self.body = nn.Sequential(nn.Linear(2, 80), nn.Tanh(), nn.Linear(80, 80), nn.Tanh())
        self.pi = nn.Linear(80, k); self.mu = nn.Linear(80, 2 * k); self.ls = nn.Linear(80, 2 * k)
    def forward(self, p):
        h = self.body(p)
        return self.pi(h).log_softmax(1), self.mu(h).view(-1, self.k, 2), self.ls(h).view(-1, self.k, 2).clamp(min=-4.5)

def nll(out, t):
    lp, mu, ls = out
    comp = (-0.5 * ((t[:, None] - mu) / ls.exp()) ** 2 - ls - 0.5 * math.log(2 * math.pi)).sum(2)
    return -(torch.logsumexp(lp + comp, 1)).mean()

net = MDN(args.components); opt = torch.optim.Adam(net.parameters(), lr=args.lr)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.steps)
vp, vt = batch(2000)
for step in range(1, args.steps + 1):
    p, t = batch(128)                      # the simulator never runs dry
    loss = nll(net(p), t)
    opt.zero_grad(); loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 5.)
    opt.step(); sched.step()
    if step % 75 == 0:
        with torch.no_grad():
            lp, mu, ls = out = net(vp)
            best = mu[torch.arange(len(vp)), lp.argmax(1)]
            a, b = best.unbind(1)
            hand = torch.stack([torch.cos(a) + .8 * torch.cos(a + b), torch.sin(a) + .8 * torch.sin(a + b)], 1)
            print(f"{step:5d} train nll {loss.item():+.3f} val nll {nll(out, vt).item():+.3f} hand error {(hand - vp).norm(dim=1).mean().item():.4f}")
