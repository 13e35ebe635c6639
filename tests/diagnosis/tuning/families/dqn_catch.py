import copy
import os
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)

ROWS, COLS = (8, 6) if CASE == 2 else (7, 5)
GAMMA = 0.97


class Catch:
    """A ball falls, a paddle in the last row has to be below it."""

    def __init__(self, rng):
        self.rng = rng
        self.board = np.zeros(ROWS * COLS + COLS, dtype=np.float32)

    def reset(self):
        self.ball = [0, self.rng.randint(COLS)]
        self.paddle = self.rng.randint(COLS)
        return self.obs()

    def obs(self):
        if CASE == 9:
            b = self.board
            b[:] = 0
        else:
            b = np.zeros(ROWS * COLS + COLS, dtype=np.float32)
        b[self.ball[0] * COLS + self.ball[1]] = 1
        b[ROWS * COLS + self.paddle] = 1
        return b

    def step(self, a):
        self.paddle = min(COLS - 1, max(0, self.paddle + a - 1))
        self.ball[0] += 1
        done = self.ball[0] == ROWS - 1
        reward = 0.0
        if done:
            reward = 1.0 if self.paddle == self.ball[1] else -1.0
        return self.obs(), reward, done


class QNet(nn.Module):
    def __init__(self, n_in, n_act, hidden=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_in, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.adv = nn.Linear(hidden, n_act)
        self.val = nn.Linear(hidden, 1) if CASE == 3 else None

    def forward(self, x):
        h = self.body(x)
        if self.val is None:
            return self.adv(h)
        a = self.adv(h)
        return self.val(h) + a - a.mean(1, keepdim=True)


class Replay:
    def __init__(self, size):
        self.mem = deque(maxlen=size)

    def push(self, *t):
        self.mem.append(t)

    def sample(self, n):
        if CASE == 10:
            rng = random.Random(SEED)
            batch = rng.sample(range(len(self.mem)), n)
        else:
            batch = random.sample(range(len(self.mem)), n)
        s, a, r, s2, d = zip(*[self.mem[i] for i in batch])
        return (torch.from_numpy(np.stack(s)), torch.tensor(a), torch.tensor(r, dtype=torch.float32),
                torch.from_numpy(np.stack(s2)), torch.tensor(d, dtype=torch.float32))


def evaluate(net, episodes=200):
    env = Catch(np.random.RandomState(SEED + 999))
    total = 0.0
    for _ in range(episodes):
        s, done = env.reset(), False
        while not done:
            with torch.no_grad():
                a = net(torch.from_numpy(s).unsqueeze(0)).argmax(1).item()
            s, r, done = env.step(a)
        total += r
    return total / episodes


env = Catch(np.random.RandomState(SEED))
n_in = ROWS * COLS + COLS
policy_net = QNet(n_in, 3)
target_net = copy.deepcopy(policy_net)
if CASE == 8:
    optimizer = torch.optim.Adam(target_net.parameters(), lr=1e-3)
elif CASE == 4:
    optimizer = torch.optim.RMSprop(policy_net.parameters(), lr=5e-4, alpha=0.95, eps=1e-5)
elif CASE == 7:
    optimizer = torch.optim.Adam(policy_net.parameters(), lr=0.1)
else:
    optimizer = torch.optim.Adam(policy_net.parameters(), lr=1e-3)
if CASE == 10:
    memory = Replay(20000)
    for_steps = 4000
else:
    memory = Replay(5000)
    for_steps = 5500 if CASE == 2 else 4000

state = env.reset()
recent = deque(maxlen=100)
updates = 0
for t in range(for_steps):
    eps = max(0.05, 1.0 - t / (0.4 * for_steps))
    if random.random() < eps:
        action = random.randrange(3)
    else:
        with torch.no_grad():
            action = policy_net(torch.from_numpy(state).unsqueeze(0)).argmax(1).item()
    nxt, reward, done = env.step(action)
    if done:
        recent.append(reward)
        final, nxt = nxt, env.reset()
        memory.push(state, action, reward, final, float(done))
    else:
        memory.push(state, action, reward, nxt, float(done))
    state = nxt

    if len(memory.mem) < 300 or t % 2:
        continue
    s, a, r, s2, d = memory.sample(64)
    q = policy_net(s).gather(1, a.unsqueeze(1))
    with torch.no_grad():
        if CASE == 1:
            best = policy_net(s2).argmax(1, keepdim=True)
            q2 = target_net(s2).gather(1, best).squeeze(1)
        else:
            q2 = target_net(s2).max(1)[0]
        y = r + GAMMA * q2 * (1 - d)
    if CASE == 6:
        loss = ((q - y) ** 2).mean()
    elif CASE == 3:
        loss = F.mse_loss(q.squeeze(1), y)
    else:
        loss = F.smooth_l1_loss(q.squeeze(1), y)
    optimizer.zero_grad()
    loss.backward()
    if CASE == 3:
        nn.utils.clip_grad_norm_(policy_net.parameters(), 0.1)
    optimizer.step()
    updates += 1
    if CASE == 1:
        with torch.no_grad():
            for pt, pp in zip(target_net.parameters(), policy_net.parameters()):
                pt.mul_(0.98).add_(pp, alpha=0.02)
    elif updates % 100 == 0:
        if CASE == 5:
            target_net.load_state_dict(target_net.state_dict())
        else:
            target_net.load_state_dict(policy_net.state_dict())
    if updates % 500 == 0:
        print(f"step {t} eps {eps:.2f} loss {loss.item():.5f} q {q.mean().item():.3f} return {np.mean(recent):.2f}")

print("mean return of the greedy policy", round(evaluate(policy_net), 3))
