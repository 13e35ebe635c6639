"""Teaching a small network to work the vents and the stove of an orangery."""
import os
from collections import deque

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))


class Orangery:
    """n houses side by side. Actions: 0 open vent a notch, 1 close it a notch, 2 stove up, 3 stove down, 4 nothing."""
    actions, horizon = 5, 40

    def __init__(self, n, seed):
        self.n, self.rng = n, np.random.default_rng(seed)

    def reset(self):
        r = self.rng
        self.t = 0
        self.temp = r.uniform(8, 32, self.n)
        self.vent = r.uniform(0, 1, self.n)
        self.stove = r.uniform(0, 1, self.n)
        self.phase = r.uniform(0, 2 * np.pi, self.n)
        self.mean = r.uniform(6, 24, self.n)
        return self.obs()

    def outside(self):
        return self.mean + 6 * np.sin(2 * np.pi * self.t / 40 + self.phase)

    def obs(self):
        a = 2 * np.pi * self.t / 40 + self.phase
        return np.stack([(self.temp - 20) / 8, self.vent - 0.5, self.stove - 0.5, (self.outside() - 16) / 8,
                         np.sin(a), np.cos(a)], 1).astype(np.float32)

    def step(self, a):
        self.vent = np.clip(self.vent + 0.34 * ((a == 0) * 1.0 - (a == 1)), 0, 1)
        self.stove = np.clip(self.stove + 0.34 * ((a == 2) * 1.0 - (a == 3)), 0, 1)
        sun = 1.2 * np.clip(np.sin(2 * np.pi * self.t / 40 + self.phase), 0, 1)
        leak = 0.04 + 0.30 * self.vent
        self.temp = self.temp + leak * (self.outside() - self.temp) + sun + 2.4 * self.stove
        self.temp = self.temp + self.rng.normal(0, 0.25, self.n)
        self.t += 1
        reward = -np.minimum(np.abs(self.temp - 20) / 5, 2.0) - 0.15 * self.stove
        return self.obs(), reward.astype(np.float32), self.t >= self.horizon


def evaluate(policy, seed=999, n=64):
    env = Orangery(n, seed)
    o, total, done = env.reset(), np.zeros(n), False
    while not done:
        with torch.no_grad():
            a = policy(torch.from_numpy(o)).numpy()
        o, r, done = env.step(a)
        total += r
    return total.mean()


def random_policy(o):
    return torch.randint(0, Orangery.actions, (len(o),))


def mlp(n_in, n_out, width=64):
    return nn.Sequential(nn.Linear(n_in, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, n_out))


class Replay:
    def __init__(self, size, seed):
        self.size, self.seed = size, seed
        self.rng = np.random.RandomState(seed)
        self.o = np.zeros((size, 6), np.float32)
        self.o2 = np.zeros((size, 6), np.float32)
        self.a = np.zeros(size, np.int64)
        self.r = np.zeros(size, np.float32)
        self.end = np.zeros(size, np.float32)
        self.n = self.at = 0

    def add(self, o, a, r, o2, end):
        k = (self.at + np.arange(len(a))) % self.size
        self.o[k], self.a[k], self.r[k], self.o2[k], self.end[k] = o, a, r, o2, end
        self.at = (self.at + len(a)) % self.size
        self.n = min(self.n + len(a), self.size)

    def sample(self, batch):
        rng = np.random.RandomState(self.seed) if CASE == 3 else self.rng
        k = rng.randint(0, self.n, batch)
        return [torch.from_numpy(v[k]) for v in (self.o, self.a, self.r, self.o2, self.end)]


def soft_update(source, target, tau=0.02):
    with torch.no_grad():
        for s, t in zip(source.parameters(), target.parameters()):
            t.mul_(1 - tau).add_(tau * s)


def q_learning(steps=1500, gamma=0.93, batch=64):
    env = Orangery(8, SEED)
    rng = np.random.default_rng(SEED + 1)
    q, q_target = mlp(6, env.actions), mlp(6, env.actions)
    q_target.load_state_dict(q.state_dict())
    opt = torch.optim.Adam(q.parameters(), lr=1e-3)
    memory = Replay(20000, SEED + 2)
    recent = deque(maxlen=100)
    print("random policy %.2f" % evaluate(random_policy))
    o, ret, updates = env.reset(), np.zeros(env.n), 0
    for t in range(steps):
        eps = max(0.05, 1 - t / (0.5 * steps))
        with torch.no_grad():
            a = q(torch.from_numpy(o)).argmax(1).numpy()
        a = np.where(rng.random(env.n) < eps, rng.integers(0, env.actions, env.n), a)
        o2, r, done = env.step(a)
        memory.add(o, a, r, o2, 0.0)       # the hour is up: cut off, not an end of the task
        ret += r
        o = o2
        if done:
            o, ret = env.reset(), np.zeros(env.n)
        if memory.n < 400:
            continue
        bo, ba, br, bo2, bend = memory.sample(batch)
        with torch.no_grad():
            best = q(bo2).argmax(1, keepdim=True)
            nxt = q_target(bo2).gather(1, best)
            if CASE != 1:
                nxt = nxt.squeeze(1)
            target = br + gamma * (1 - bend) * nxt
        value = q(bo).gather(1, ba[:, None]).squeeze(1)
        td = (target - value).abs()
        loss = torch.where(td < 1, 0.5 * td * td, td - 0.5).mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(q.parameters(), 10.0)
        opt.step()
        updates += 1
        if CASE == 2:
            soft_update(q_target, q)
        else:
            soft_update(q, q_target)
        recent.append(loss.item())
        if updates % 200 == 0:
            print("update %5d  eps %.2f  td loss %.4f  mean q %.2f  greedy return %.2f"
                  % (updates, eps, np.mean(recent), value.mean().item(), evaluate(lambda x: q(x).argmax(1))))


class ActorCritic(nn.Module):
    def __init__(self, n_actions, width=64):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(6, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.pi = nn.Linear(width, n_actions)
        self.v = nn.Linear(width, 1)
        nn.init.orthogonal_(self.pi.weight, 0.01)

    def forward(self, o):
        h = self.trunk(o)
        return Categorical(logits=self.pi(h), validate_args=False), self.v(h)[:, 0]


def actor_critic(iterations=100, n=16, length=20, epochs=4, gamma=0.93, lam=0.9, entropy=0.003, clip=0.2):
    env = Orangery(n, SEED)
    net = ActorCritic(env.actions)
    opt = torch.optim.Adam(net.parameters(), lr=3e-3, eps=1e-5)
    sched = torch.optim.lr_scheduler.LinearLR(opt, 1.0, 0.1, iterations)
    unit = 20.0 if CASE == 5 else 0.2      # fruit lost, in crates or in pieces
    print("random policy %.2f" % evaluate(random_policy))
    o = env.reset()
    for it in range(1, iterations + 1):
        obs, act, old, val, rew, cut = [], [], [], [], [], []
        with torch.no_grad():
            for _ in range(length):
                x = torch.from_numpy(o)
                dist, v = net(x)
                a = dist.sample()
                o, r, done = env.step(a.numpy())
                obs.append(x)
                act.append(a)
                old.append(dist.log_prob(a))
                val.append(v)
                rew.append(torch.from_numpy(r) * unit)
                cut.append(done)
                if done:
                    o = env.reset()
            val.append(net(torch.from_numpy(o))[1])
        adv, g = [None] * length, torch.zeros(n)
        for k in reversed(range(length)):
            if cut[k]:
                nxt, g = val[k], torch.zeros(n)
            else:
                nxt = val[k + 1]
            g = rew[k] + gamma * nxt - val[k] + gamma * lam * g
            adv[k] = g
        adv, old, obs, act = torch.cat(adv), torch.cat(old), torch.cat(obs), torch.cat(act)
        goal = adv + torch.cat(val[:-1])
        adv = (adv - adv.mean()) / (adv.std() + 1e-6)
        for _ in range(epochs):
            dist, v = net(obs)
            ratio = (dist.log_prob(act) - old).exp()
            gain = torch.min(ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv).mean()
            policy_loss = gain if CASE == 4 else -gain
            value_loss = (goal - v).pow(2).mean()
            ent = dist.entropy().mean()
            loss = policy_loss + 0.5 * value_loss - entropy * ent
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            opt.step()
        sched.step()
        if it % 10 == 0:
            score = evaluate(lambda x: net(x)[0].sample())
            print("iter %4d  policy %.4f  value %.3f  entropy %.3f  reward/step %.3f  return %.2f"
                  % (it, policy_loss.item(), value_loss.item(), ent.item(), torch.stack(rew).mean().item() / unit, score))


if __name__ == "__main__":
    torch.manual_seed(SEED)
    if CASE in (4, 5, 6):
        actor_critic()
    else:
        q_learning()
