"""Evolution strategies: no backward at all; the estimated gradient is put into p.grad and Adam does the step. Returns are negative costs."""
import os, torch, torch.nn as nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters
CASE = int(os.environ.get("CASE", "0")); SEED = int(os.environ.get("SEED", "0")); torch.manual_seed(SEED)

def rollout(weights, starts, T=40):
    """All members of the population at once. weights: (P, n); two-link cart pushing towards the origin."""
    P, B = len(weights), len(starts)
    w1, b1, w2, b2 = weights.split([3 * 12, 12, 12, 1], 1)
    w1, w2 = w1.view(P, 3, 12), w2.view(P, 12, 1)
    pos, vel = starts[:, 0].expand(P, B), starts[:, 1].expand(P, B); cost = torch.zeros(P)
    for _ in range(T):
        o = torch.stack([pos, vel, torch.sin(2 * pos)], 2)
        u = torch.tanh(torch.tanh(o @ w1 + b1[:, None]) @ w2 + b2[:, None])[..., 0]
        vel = 0.97 * vel + 0.1 * (3 * u + 1.2 * torch.sin(2 * pos)); pos = (pos + 0.1 * vel).clamp(-6, 6)
        cost = cost + (pos ** 2 + 0.1 * vel ** 2 + 0.02 * u ** 2).mean(1)
    return -cost / T

theta = nn.ParameterList([nn.Parameter(0.3 * torch.randn(36)), nn.Parameter(torch.zeros(12)), nn.Parameter(0.3 * torch.randn(12)), nn.Parameter(torch.zeros(1))])
opt = torch.optim.Adam(theta.parameters(), lr=0.012)
fixed = torch.stack([torch.linspace(-2, 2, 32), torch.linspace(1, -1, 32)], 1)
SIGMA, POP = 0.15, 32
with torch.no_grad():
    for gen in range(1, 151):
        mean = parameters_to_vector(theta.parameters())
        eps = torch.randn(POP, len(mean)); eps = torch.cat([eps, -eps])
        starts = torch.randn(16, 2) * torch.tensor([1.3, 0.6])
        r = rollout(mean + SIGMA * eps, starts)
        rank = r.argsort().argsort().float() / (len(r) - 1) - 0.5                    # fitness shaping
        g = -(rank[:, None] * eps).mean(0) / SIGMA
        k = 0
        for p in theta.parameters(): p.grad = g[k:k + p.numel()].clone(); k += p.numel()
        opt.step()
        if gen % 15 == 0:
            mean = parameters_to_vector(theta.parameters())
            print(f"generation {gen} population return {r.mean():.3f} best {r.max():.3f} | centre on fixed starts {rollout(mean[None], fixed).item():.3f}")
    print(f"doing nothing: {rollout(torch.zeros(1, len(mean)), fixed).item():.3f}")
