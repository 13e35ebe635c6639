import os
import random
import copy
from collections import deque, namedtuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)


class BatteryEnv:
    """A home battery on an hourly market: 0 hold, 1 charge, 2 discharge. Two days an episode, reward in cents."""
    HOURS = 48

    def __init__(self, rng):
        self.rng = rng
        self.state = np.zeros(6, dtype=np.float32)

    def _observe(self):
        h = 2 * np.pi * (self.t % 24) / 24
        self.state[:] = [self.charge / 5 * 2 - 1, (self.price - 30) / 15, np.sin(h), np.cos(h), self.t / self.HOURS,
                         (self.level - 30) / 8]
        return self.state

    def _draw_price(self):
        hour = self.t % 24
        shape = 12 * np.exp(-((hour - 8) / 2.5) ** 2) + 20 * np.exp(-((hour - 19) / 3.0) ** 2) - 8 * np.exp(-((hour - 3) / 3.0) ** 2)
        self.dev = 0.6 * self.dev + self.rng.normal(0, 4)
        self.price = max(1.0, self.level + shape + self.dev)

    def reset(self):
        self.t, self.charge, self.dev = 0, int(self.rng.integers(0, 6)), 0.0
        self.level = self.rng.normal(30, 5)
        self._draw_price()
        return self._observe()

    def step(self, action):
        reward = 0.0
        if action == 1 and self.charge < 5:
            self.charge += 1
            reward = -self.price
        elif action == 2 and self.charge > 0:
            self.charge -= 1
            reward = 0.9 * self.price
        self.t += 1
        done = self.t >= self.HOURS
        if done:
            reward += 18.0 * self.charge
        self._draw_price()
        return self._observe(), reward, done


Transition = namedtuple("Transition", "s a r s2 done")


class Replay:
    def __init__(self, size):
        self.mem = deque(maxlen=size)

    def push(self, *x):
        self.mem.append(Transition(*x))

    def sample(self, n):
        b = Transition(*zip(*random.sample(self.mem, n)))
        return (torch.from_numpy(np.stack(b.s)), torch.tensor(b.a).unsqueeze(1), torch.tensor(b.r, dtype=torch.float32),
                torch.from_numpy(np.stack(b.s2)), torch.tensor(b.done, dtype=torch.float32))


class QNet(nn.Module):
    def __init__(self, n_obs=6, n_act=3, h=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_obs, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU())
        self.head = nn.Linear(h, n_act)

    def forward(self, x):
        return self.head(self.body(x))


class Dueling(QNet):
    def __init__(self):
        super().__init__()
        self.value = nn.Linear(64, 1)

    def forward(self, x):
        h = self.body(x)
        a = self.head(h)
        return self.value(h) + a - a.mean(1, keepdim=True)


class Agent:
    gamma = 0.99

    def __init__(self):
        self.q = Dueling() if CASE == 1 else QNet()
        self.target = copy.deepcopy(self.q)
        self.opt = torch.optim.Adam(self.q.parameters(), lr=1e-3)
        self.updates = 0
        self.avg = 0.0
        self.scale = 1.0 if CASE == 4 else 0.05

    def act(self, s, eps):
        if random.random() < eps:
            return random.randrange(3)
        with torch.no_grad():
            return int(self.q(torch.from_numpy(s).unsqueeze(0)).argmax(1))

    def learn(self, batch):
        s, a, r, s2, done = batch
        r = r * self.scale
        q = self.q(s).gather(1, a)
        with torch.no_grad():
            best = self.q(s2).argmax(1, keepdim=True)
            nxt = self.target(s2).gather(1, best).squeeze(1)
            y = r + self.gamma * (1 - done) * nxt
        loss = F.smooth_l1_loss(q, y) if CASE == 5 else F.smooth_l1_loss(q.squeeze(1), y)
        self.opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.q.parameters(), 10.0)
        self.opt.step()
        self.updates += 1
        if CASE == 1:
            for p, t in zip(self.q.parameters(), self.target.parameters()):
                t.data.lerp_(p.data, 0.01)
        elif self.updates % 100 == 0:
            if CASE == 3:
                self.target = self.q
                self.q = copy.deepcopy(self.q)
            else:
                self.target.load_state_dict(self.q.state_dict())
        if CASE == 6:
            self.avg = 0.99 * self.avg + 0.01 * loss
        else:
            self.avg = 0.99 * self.avg + 0.01 * loss.item()


def evaluate(agent, seed=999, n=8):
    env = BatteryEnv(np.random.default_rng(seed))
    out = []
    for _ in range(n):
        s, done, total = env.reset(), False, 0.0
        while not done:
            s, r, done = env.step(agent.act(s, 0.0))
            total += r
        out.append(total)
    return float(np.mean(out))


def main(episodes=60, batch=48):
    env = BatteryEnv(np.random.default_rng(SEED))
    agent, memory = Agent(), Replay(20000)
    frames = 0
    recent = deque(maxlen=10)
    for ep in range(1, episodes + 1):
        eps = max(0.05, 1.0 - ep / 30)
        s, done, total = env.reset(), False, 0.0
        if CASE != 2:
            s = s.copy()
        while not done:
            a = agent.act(s, eps)
            s2, r, done = env.step(a)
            if CASE != 2:
                s2 = s2.copy()
            memory.push(s, a, r, s2, done)
            s = s2
            total += r
            frames += 1
            if len(memory.mem) >= 300 and frames % 3 == 0:
                agent.learn(memory.sample(batch))
        recent.append(total)
        if ep % 15 == 0:
            print(f"episode {ep:3d} eps {eps:.2f} return(10) {np.mean(recent):8.1f} loss {float(agent.avg):.4f} "
                  f"eval {evaluate(agent):8.1f} updates {agent.updates}")


main()
