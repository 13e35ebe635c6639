import os
import random
import copy
from collections import deque
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
random.seed(SEED)
torch.manual_seed(SEED)
SIZE, GOAL, PITS = 5, (4, 4), {(1, 1), (2, 3), (3, 1), (0, 3)}


class Grid:
    def reset(self):
        while True:
            self.p = (random.randrange(SIZE), random.randrange(SIZE))
            if self.p != GOAL and self.p not in PITS:
                break
        self.t = 0
        return self.obs()

    def obs(self):
        v = [0.0] * (2 * SIZE)
        v[self.p[0]] = 1.0
        v[SIZE + self.p[1]] = 1.0
        return v

    def step(self, a):
        dr, dc = ((0, 1), (1, 0), (0, -1), (-1, 0))[a]
        self.p = (min(SIZE - 1, max(0, self.p[0] + dr)), min(SIZE - 1, max(0, self.p[1] + dc)))
        self.t += 1
        if self.p == GOAL:
            return self.obs(), 1.0, True
        if self.p in PITS:
            return self.obs(), -1.0, True
        return self.obs(), -0.02, False


class Buffer:
    def __init__(self, size):
        self.d = deque(maxlen=size)

    def push(self, *t):
        self.d.append(t)

    def sample(self, n):
        rng = random.Random(SEED) if CASE == 4 else random
        idx = [rng.randrange(len(self.d)) for _ in range(n)]
        s, a, r, s2, done = zip(*[self.d[i] for i in idx])
        return (torch.tensor(s), torch.tensor(a), torch.tensor(r), torch.tensor(s2), torch.tensor(done, dtype=torch.float32))


def net(out):
    return nn.Sequential(nn.Linear(2 * SIZE, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, out))


@torch.no_grad()
def play(policy, episodes=100):
    env, total = Grid(), 0.0
    for _ in range(episodes):
        s, done = env.reset(), False
        while not done and env.t < 30:
            a = policy(torch.tensor(s)).argmax().item()
            s, r, done = env.step(a)
            total += r
    return total / episodes


def dqn():
    q, tgt = net(4), net(4)
    tgt.load_state_dict(q.state_dict())
    opt = torch.optim.Adam(q.parameters(), lr=2e-3)
    if CASE == 3:
        opt = torch.optim.SGD(q.parameters(), lr=0.05)
    buf, env = Buffer(5000), Grid()
    gamma, updates, frames = 0.95, 0, 3000
    s = env.reset()
    for frame in range(frames):
        eps = max(0.1, 1 - frame / 1500)
        with torch.no_grad():
            a = random.randrange(4) if random.random() < eps else q(torch.tensor(s)).argmax().item()
        s2, r, done = env.step(a)
        if CASE == 3:
            r = r * 1000
        end = done or env.t >= 40
        buf.push(s, a, r, s2, done)
        s = env.reset() if end else s2
        if len(buf.d) < 200 or frame % 2:
            continue
        bs, ba, br, bs2, bd = buf.sample(48)
        if CASE == 2:
            qa = q(bs).gather(1, ba[:, None])
        else:
            qa = q(bs).gather(1, ba[:, None]).squeeze(1)
        with torch.no_grad():
            if CASE == 6:
                nxt = tgt(bs2).gather(1, q(bs2).argmax(1, keepdim=True)).squeeze(1)
            else:
                nxt = tgt(bs2).max(1).values
            y = br + gamma * (1 - bd) * nxt
        if CASE == 8:
            loss = F.smooth_l1_loss(qa, y)
        else:
            loss = ((qa - y) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        if CASE == 8:
            nn.utils.clip_grad_norm_(q.parameters(), 0.1)
        opt.step()
        updates += 1
        if CASE == 6:
            with torch.no_grad():
                for a_, b_ in zip(tgt.parameters(), q.parameters()):
                    a_.lerp_(b_, 0.02)
        elif CASE == 1:
            if len(buf.d) == updates:
                tgt.load_state_dict(q.state_dict())
        elif updates % 50 == 0:
            tgt.load_state_dict(q.state_dict())
        if updates % 250 == 0:
            print("frame", frame, "loss %.5f" % loss.item(), "return %.3f" % play(q, 40))
    return play(q, 300)


def actor_critic():
    pi, v = net(4), net(1)
    opt = torch.optim.Adam(list(pi.parameters()) + list(v.parameters()), lr=3e-3)
    envs = [Grid() for _ in range(16)]
    s = [e.reset() for e in envs]
    for it in range(350):
        logs, ents, vals, rews, dones = [], [], [], [], []
        for _ in range(5):
            x = torch.tensor(s)
            dist = torch.distributions.Categorical(logits=pi(x))
            a = dist.sample()
            out = [e.step(k) for e, k in zip(envs, a.tolist())]
            logs.append(dist.log_prob(a))
            ents.append(dist.entropy())
            vals.append(v(x).squeeze(1))
            rews.append(torch.tensor([o[1] for o in out]))
            dones.append(torch.tensor([float(o[2]) for o in out]))
            s = [e.reset() if o[2] or e.t >= 40 else o[0] for e, o in zip(envs, out)]
        with torch.no_grad():
            R = v(torch.tensor(s)).squeeze(1)
        loss = 0.0
        for k in reversed(range(5)):
            R = rews[k] + 0.95 * (1 - dones[k]) * R
            adv = R - vals[k]
            loss = loss - (logs[k] * adv.detach()).mean() + 0.5 * adv.pow(2).mean() - 0.01 * ents[k].mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 70 == 0:
            print("it", it, "loss %.4f" % loss.item(), "return %.3f" % play(pi, 40))
    return play(pi, 300)


print("METRIC", actor_critic() if CASE == 7 else dqn())
