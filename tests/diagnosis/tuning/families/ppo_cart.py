import os

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
np.random.seed(SEED)
torch.manual_seed(SEED)


class Poles:
    """Many poles on carts at once."""

    def __init__(self, n, rng, limit=200):
        self.n, self.rng, self.limit = n, rng, limit
        self.s = np.zeros((n, 4))
        self.t = np.zeros(n, dtype=int)
        self.reset(np.ones(n, bool))

    def reset(self, which):
        self.s[which] = self.rng.uniform(-0.05, 0.05, (which.sum(), 4))
        self.t[which] = 0

    def step(self, a):
        x, v, th, w = self.s.T
        force = np.where(a == 1, 10.0, -10.0)
        c, s = np.cos(th), np.sin(th)
        tmp = (force + 0.05 * w ** 2 * s) / 1.1
        acc = (9.8 * s - c * tmp) / (0.5 * (4 / 3 - 0.1 * c ** 2 / 1.1))
        xa = tmp - 0.05 * acc * c / 1.1
        self.s = np.stack([x + 0.02 * v, v + 0.02 * xa, th + 0.02 * w, w + 0.02 * acc], 1)
        self.t += 1
        done = (np.abs(self.s[:, 0]) > 2.4) | (np.abs(self.s[:, 2]) > 0.21) | (self.t >= self.limit)
        self.reset(done)
        return self.s.copy(), np.ones(self.n), done


def scale(s):
    return s / np.array([0.5, 0.5, 0.05, 0.5])


class ActorCritic(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(4, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(),
                                   nn.Linear(hidden, 2))
        self.critic = nn.Sequential(nn.Linear(4, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(),
                                    nn.Linear(hidden, 1))
        if CASE in (0, 3):
            nn.init.orthogonal_(self.actor[-1].weight, 0.01)

    def dist(self, x):
        out = self.actor(x)
        if CASE == 9:
            out = torch.softmax(out, -1)
        return Categorical(logits=out)

    def value(self, x):
        return self.critic(x).squeeze(-1)


@torch.no_grad()
def evaluate(net):
    env = Poles(8, np.random.RandomState(SEED + 5))
    alive, length = np.ones(8, bool), np.zeros(8)
    while alive.any():
        s = env.s if CASE == 8 else scale(env.s)
        x = torch.tensor(s, dtype=torch.float32)
        a = net.dist(x).sample()
        _, _, done = env.step(a.numpy())
        length += alive
        alive &= ~done
    return length.mean()


N, T, ITERS = 16, 64, 26
EPOCHS, MB = (1, 256) if CASE == 1 else (4, 256)
GAMMA, LAM, CLIP = 0.98, 0.95, 0.2
REWARD = 0.05 if CASE == 4 else 0.1
VF = 0.5
ENT = 0.005

net = ActorCritic()
if CASE == 4:
    opts = [torch.optim.Adam(net.actor.parameters(), 1e-3), torch.optim.Adam(net.critic.parameters(), 3e-3)]
elif CASE == 2:
    opts = [torch.optim.RMSprop(net.parameters(), 1e-3, eps=1e-5)]
elif CASE == 1:
    opts = [torch.optim.Adam(net.parameters(), 5e-3)]
else:
    opts = [torch.optim.Adam(net.parameters(), 2e-3)]
env = Poles(N, np.random.RandomState(SEED))
obs = torch.tensor(scale(env.s), dtype=torch.float32)
length = np.zeros(N)
finished = []

for it in range(ITERS):
    if CASE == 3:
        for o in opts:
            for g in o.param_groups:
                g["lr"] = 2e-3 * (1 - it / ITERS)
    O, A, LP, R, Dn, V = [], [], [], [], [], []
    for t in range(T):
        with torch.no_grad():
            d = net.dist(obs)
            a = d.sample()
            O.append(obs); A.append(a); LP.append(d.log_prob(a)); V.append(net.value(obs))
        s, r, done = env.step(a.numpy())
        length += 1
        finished += list(length[done])
        length[done] = 0
        obs = torch.tensor(scale(s), dtype=torch.float32)
        R.append(torch.tensor(r * REWARD, dtype=torch.float32))
        Dn.append(torch.tensor(done, dtype=torch.float32))
    with torch.no_grad():
        nextv = net.value(obs)
        adv, run = [], torch.zeros(N)
        for t in reversed(range(T)):
            delta = R[t] + GAMMA * nextv * (1 - Dn[t]) - V[t]
            run = delta + GAMMA * LAM * (1 - Dn[t]) * run
            adv.insert(0, run)
            nextv = V[t]
        adv = torch.stack(adv)
        ret = (adv + torch.stack(V)).reshape(-1)
        if CASE == 5:
            adv = adv.reshape(-1, 1)
        else:
            adv = adv.reshape(-1)
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    bo, ba, bl = torch.cat(O), torch.cat(A), torch.cat(LP)

    for epoch in range(EPOCHS):
        perm = torch.randperm(N * T)
        if CASE == 10:
            bo = bo[perm]
        for k in range(0, N * T, MB):
            idx = perm[k:k + MB]
            x = bo[k:k + MB] if CASE == 10 else bo[idx]
            d = net.dist(x)
            if CASE == 6:
                with torch.no_grad():
                    ratio = (d.log_prob(ba[idx]) - bl[idx]).exp()
            else:
                ratio = (d.log_prob(ba[idx]) - bl[idx]).exp()
            s1 = ratio * adv[idx]
            s2 = ratio.clamp(1 - CLIP, 1 + CLIP) * adv[idx]
            if CASE == 7:
                pi_loss = torch.min(s1, s2).mean()
            else:
                pi_loss = -torch.min(s1, s2).mean()
            v_loss = (net.value(x) - ret[idx]).pow(2).mean()
            ent = d.entropy().mean()
            loss = pi_loss + VF * v_loss - ENT * ent
            for o in opts:
                o.zero_grad()
            loss.backward()
            if CASE == 2:
                nn.utils.clip_grad_norm_(net.parameters(), 0.1)
            else:
                nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            for o in opts:
                o.step()
    if it % 5 == 4:
        print(f"iter {it + 1} pi {pi_loss.item():.4f} v {v_loss.item():.4f} ent {ent.item():.3f} "
              f"length {np.mean(finished[-40:]):.1f} test {evaluate(net):.1f}")

print("mean episode length: training", round(float(np.mean(finished[-40:])), 1), "test", round(float(evaluate(net)), 1))
