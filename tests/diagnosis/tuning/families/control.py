"""Policy gradients on a cart that has to be brought to rest at the origin (vectorised)."""
import os
import copy
import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

CASE = int(os.environ.get("CASE", "5"))
SEED = int(os.environ.get("SEED", "0"))
np.random.seed(SEED)
torch.manual_seed(SEED)
HORIZON, GAMMA = 20, 0.95


class Carts:
    def __init__(self, n):
        self.n = n

    def reset(self):
        self.x = torch.rand(self.n) * 2 - 1
        self.v = torch.rand(self.n) * 0.4 - 0.2
        return torch.stack([self.x, self.v], 1)

    def step(self, force):
        self.v = (0.95 * self.v + 0.15 * force).clamp(-0.8, 0.8)
        self.x = (self.x + self.v).clamp(-3, 3)
        r = -(self.x ** 2) - 0.1 * self.v ** 2
        return torch.stack([self.x, self.v], 1), r


def mlp(i, o, h=32):
    return nn.Sequential(nn.Linear(i, h), nn.Tanh(), nn.Linear(h, h), nn.Tanh(), nn.Linear(h, o))


def discounted(rs):
    out, g = [], torch.zeros_like(rs[0])
    for r in reversed(rs):
        g = r + GAMMA * g
        out.append(g)
    return torch.stack(out[::-1])


@torch.no_grad()
def evaluate(act, n=256):
    state = torch.get_rng_state()
    torch.manual_seed(12345)
    env = Carts(n)
    s, total = env.reset(), 0.0
    for _ in range(HORIZON):
        s, r = env.step(act(s))
        total += r.mean().item()
    torch.set_rng_state(state)
    return total


def greedy(policy):
    return lambda s: policy(s).argmax(-1).float() - 1


class Agent:
    def __init__(self, lr=5e-3, nenv=32):
        self.policy = nn.Linear(2, 3) if CASE == 10 else mlp(2, 3)
        self.value = mlp(2, 1)
        self.lr = lr
        self.env = Carts(nenv)
        if CASE == 8:
            self.popt = torch.optim.SGD(self.policy.parameters(), lr=0.1)
        elif CASE == 10:
            self.popt = torch.optim.Adam(self.policy.parameters(), lr=0.05)
        else:
            self.popt = torch.optim.Adam(self.policy.parameters(), lr=lr)
        self.vopt = torch.optim.Adam(self.value.parameters(), lr=1e-2)

    def rollout(self):
        s = self.env.reset()
        S, A, LP, R, H = [], [], [], [], []
        for _ in range(HORIZON):
            d = Categorical(logits=self.policy(s))
            a = d.sample()
            S.append(s); A.append(a); LP.append(d.log_prob(a)); H.append(d.entropy())
            s, r = self.env.step(a.float() - 1)
            R.append(r)
        return torch.stack(S), torch.stack(A), torch.stack(LP), R, torch.stack(H)

    def critic_update(self, S, G):
        v = self.value(S)[..., 0]
        loss = nn.functional.mse_loss(v, G)
        self.vopt.zero_grad()
        loss.backward()
        self.vopt.step()
        return v.detach(), loss.item()

    def update(self, ep):
        if CASE == 2:
            torch.manual_seed(42)
        if CASE == 10:
            torch.manual_seed(SEED * 1000 + ep)
        S, A, LP, R, H = self.rollout()
        G = discounted(R)
        v, vl = self.critic_update(S, G)
        adv = G - v
        if CASE != 8:
            adv = (adv - adv.mean()) / (adv.std() + 1e-6)
        if CASE == 1:
            loss = (LP * adv).mean()
        elif CASE == 6:
            loss = -(LP * adv).mean() - 0.02 * H.mean()
        else:
            loss = -(LP * adv).mean()
        self.popt.zero_grad()
        loss.backward()
        if CASE == 10:
            nn.utils.clip_grad_norm_(self.policy.parameters(), 0.05)
        self.popt.step()
        return loss.item(), vl, torch.stack(R).sum(0).mean().item()

    def ppo(self, ep):
        with torch.no_grad():
            S, A, old, R, _ = self.rollout()
        G = discounted(R)
        v, vl = self.critic_update(S, G)
        adv = G - v
        adv = (adv - adv.mean()) / adv.std()
        for _ in range(4):
            lp = Categorical(logits=self.policy(S)).log_prob(A)
            ratio = (lp - old).exp()
            loss = -torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean()
            self.popt.zero_grad()
            loss.backward()
            self.popt.step()
        return loss.item(), vl, torch.stack(R).sum(0).mean().item()


def ddpg():
    actor, critic = nn.Sequential(mlp(2, 1), nn.Tanh()), mlp(3, 1)
    ta, tc = copy.deepcopy(actor), copy.deepcopy(critic)
    oa, oc = torch.optim.Adam(actor.parameters(), 5e-4), torch.optim.Adam(critic.parameters(), 3e-3)
    env, mem = Carts(16), []
    updates = 0
    for ep in range(90):
        s = env.reset()
        for _ in range(HORIZON):
            with torch.no_grad():
                if ep < 6:
                    a = torch.rand(16, 1) * 2 - 1
                else:
                    a = (actor(s) + 0.5 * torch.randn(16, 1)).clamp(-1, 1)
            s2, r = env.step(a[:, 0])
            mem.append((s, a, r, s2))
            s = s2
            if len(mem) < 20:
                continue
            pick = [mem[i] for i in np.random.randint(0, len(mem), 16)]
            bs, ba, br, b2 = (torch.cat(z) for z in zip(*pick))
            with torch.no_grad():
                y = 0.1 * br + 0.9 * tc(torch.cat([b2, ta(b2)], 1))[:, 0]
            lc = ((critic(torch.cat([bs, ba], 1))[:, 0] - y) ** 2).mean()
            oc.zero_grad(); lc.backward(); oc.step()
            la = -critic(torch.cat([bs, actor(bs)], 1)).mean()
            oa.zero_grad(); la.backward(); oa.step()
            updates += 1
            with torch.no_grad():
                for net, tgt in ((actor, ta), (critic, tc)):
                    for p, q in zip(net.parameters(), tgt.parameters()):
                        q.lerp_(p, 0.05)
        if ep % 5 == 4:
            print(f"ep {ep + 1} updates {updates} actor {la.item():.3f} critic {lc.item():.4f} eval {evaluate(lambda z: actor(z)[:, 0]):.3f}")
    return evaluate(lambda z: actor(z)[:, 0])


if CASE == 7:
    print("METRIC", round(ddpg(), 4))
else:
    agent = Agent(lr=3.0 if CASE == 4 else 5e-3, nenv={8: 6, 2: 2}.get(CASE, 32))
    if CASE == 3:
        agent.policy = copy.deepcopy(agent.policy)
    n = {9: 90, 8: 400}.get(CASE, 220)
    for ep in range(n):
        loss, vl, ret = agent.ppo(ep) if CASE == 9 else agent.update(ep)
        if ep % (n // 11) == 0:
            print(f"episode {ep:4d} policy loss {loss:+.4f} value loss {vl:.3f} return {ret:.2f} eval {evaluate(greedy(agent.policy)):.2f}")
    print("METRIC", round(evaluate(greedy(agent.policy)), 4))
