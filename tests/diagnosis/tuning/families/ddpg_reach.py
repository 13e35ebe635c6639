import os
import copy
import random
from collections import deque, namedtuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

CASE = int(os.environ.get('CASE', '0'))
SEED = int(os.environ.get('SEED', '0'))
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)

LR_ACTOR = {2: 5e-4, 8: 5e-4}.get(CASE, 1e-3)
LR_CRITIC = {2: 2e-3}.get(CASE, 2e-3)
BATCH_SIZE = {2: 128, 10: 32}.get(CASE, 64)
GAMMA = 0.93
TAU = {10: 0.01, 7: 0.003, 6: 0.003}.get(CASE, 0.02)
HIDDEN = {4: 96, 10: 48}.get(CASE, 64)
TOTAL_STEPS = 1900
START_STEPS = 300
UNIT = 1000.0 if CASE in (1, 8) else 1.0        # metres, or millimetres
OBS_SCALE = np.float32(1000.0 if CASE == 8 else 1.0)
REWARD_SCALE = 1.0 / UNIT
MAX_FORCE = 2.0 if CASE == 4 else 1.0

Transition = namedtuple('Transition', 'state action reward next_state done')


class Slider:
    """A mass on a rail with friction; the target position changes every episode."""

    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)

    def _obs(self):
        o = np.array([self.x * UNIT, self.v * UNIT, self.goal * UNIT], dtype=np.float32)
        return o / OBS_SCALE

    def reset(self):
        self.x, self.goal = self.rng.uniform(-1, 1, 2)
        self.v = 0.0
        self.t = 0
        return self._obs()

    def step(self, force):
        force = float(np.clip(force, -MAX_FORCE, MAX_FORCE)) / MAX_FORCE
        self.x = float(np.clip(self.x + 0.5 * self.v, -1.5, 1.5))
        self.v = 0.7 * self.v + 0.3 * force
        self.t += 1
        reward = -abs(self.x - self.goal) * UNIT * REWARD_SCALE
        return self._obs(), reward, self.t >= 25


class Memory:
    def __init__(self, size):
        self.data = deque(maxlen=size)

    def push(self, *item):
        self.data.append(Transition(*item))

    def sample(self, n):
        batch = Transition(*zip(*random.sample(self.data, n)))
        s = torch.from_numpy(np.stack(batch.state))
        a = torch.from_numpy(np.stack(batch.action))
        r = torch.tensor(batch.reward, dtype=torch.float32).unsqueeze(1)
        s2 = torch.from_numpy(np.stack(batch.next_state))
        return s, a, r, s2


def fan_in_init(layer):
    fan_in = layer.weight.size(1)
    bound = np.sqrt(fan_in) if CASE == 3 else 1.0 / np.sqrt(fan_in)
    nn.init.uniform_(layer.weight, -bound, bound)
    nn.init.zeros_(layer.bias)


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(HIDDEN) if CASE == 8 else nn.Identity()
        self.l1 = nn.Linear(3, HIDDEN)
        self.l2 = nn.Linear(HIDDEN, HIDDEN)
        self.mu = nn.Linear(HIDDEN, 1)
        if CASE in (3, 10):
            fan_in_init(self.l1)
            fan_in_init(self.l2)
        self.mu.weight.data.uniform_(-3e-3, 3e-3)
        self.mu.bias.data.zero_()

    def forward(self, s):
        h = F.relu(self.norm(self.l1(s)))
        h = F.relu(self.l2(h))
        return MAX_FORCE * torch.tanh(self.mu(h))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(HIDDEN) if CASE == 8 else nn.Identity()
        self.l1 = nn.Linear(3 + 1, HIDDEN)
        self.l2 = nn.Linear(HIDDEN, HIDDEN)
        self.q = nn.Linear(HIDDEN, 1)
        if CASE in (3, 10):
            fan_in_init(self.l1)
            fan_in_init(self.l2)

    def forward(self, s, a):
        h = F.relu(self.norm(self.l1(torch.cat([s, a / MAX_FORCE], 1))))
        return self.q(F.relu(self.l2(h)))


def mix(net, target, tau):
    for p, t in zip(net.parameters(), target.parameters()):
        t.data.lerp_(p.data.to(t.dtype), tau)


class Agent:
    def __init__(self):
        self.actor, self.critic = Actor(), Critic()
        if CASE == 4:
            self.critic2 = Critic()
        self.actor_target = copy.deepcopy(self.actor)
        self.critic_target = copy.deepcopy(self.critic)
        if CASE == 4:
            self.critic2_target = copy.deepcopy(self.critic2)
        if CASE == 7:
            self.actor_target.to(torch.bfloat16)
            self.critic_target.to(torch.bfloat16)
        critic_params = list(self.critic.parameters()) + (list(self.critic2.parameters()) if CASE == 4 else [])
        self.opt_actor = optim.Adam(self.actor.parameters(), lr=LR_ACTOR)
        self.opt_critic = optim.Adam(critic_params, lr=LR_CRITIC, weight_decay=1e-2 if CASE == 2 else 0.0)
        self.memory = Memory(20000)
        self.n = 0
        self.log = (0.0, 0.0)

    def act(self, state, noise):
        with torch.no_grad():
            a = self.actor(torch.from_numpy(state).unsqueeze(0)).numpy()[0]
        a = a + noise * MAX_FORCE * np.random.randn(1)
        return np.clip(a, -MAX_FORCE, MAX_FORCE).astype(np.float32)

    def targets(self, r, s2):
        with torch.no_grad():
            if CASE == 7:
                s2 = s2.bfloat16()
            a2 = self.actor_target(s2)
            if CASE == 4:
                a2 = (a2 + 0.1 * torch.randn_like(a2).clamp(-0.3, 0.3)).clamp(-MAX_FORCE, MAX_FORCE)
                q2 = torch.min(self.critic_target(s2, a2), self.critic2_target(s2, a2))
            else:
                q2 = self.critic_target(s2, a2)
            # the time limit is not a terminal state
            return r + GAMMA * q2.float()

    def learn(self):
        s, a, r, s2 = self.memory.sample(BATCH_SIZE)
        y = self.targets(r, s2)
        self.n += 1

        if CASE == 10:
            q_loss = F.smooth_l1_loss(self.critic(s, a), y)
        elif CASE == 4:
            q_loss = F.mse_loss(self.critic(s, a), y) + F.mse_loss(self.critic2(s, a), y)
        else:
            q_loss = F.mse_loss(self.critic(s, a), y)
        if CASE == 9:
            self.opt_actor.zero_grad()
        else:
            self.opt_critic.zero_grad()
        q_loss.backward()
        self.opt_critic.step()

        if CASE == 4 and self.n % 2:
            return
        action = self.actor(s)
        if CASE == 11:
            action = torch.as_tensor(action.detach().numpy())
        actor_loss = -self.critic(s, action).mean()
        self.opt_actor.zero_grad()
        actor_loss.backward()
        self.opt_actor.step()

        if CASE == 5:
            mix(self.actor_target, self.actor, TAU)
            mix(self.critic_target, self.critic, TAU)
        else:
            mix(self.actor, self.actor_target, TAU)
            mix(self.critic, self.critic_target, TAU)
            if CASE == 4:
                mix(self.critic2, self.critic2_target, TAU)
        self.log = (q_loss.item(), actor_loss.item())


def evaluate(agent, episodes=20):
    env = Slider(4321)
    total, miss = 0.0, 0.0
    for _ in range(episodes):
        s, done = env.reset(), False
        while not done:
            s, r, done = env.step(agent.act(s, 0.0)[0])
            total += r / (UNIT * REWARD_SCALE)
        miss += abs(env.x - env.goal)
    return total / episodes, miss / episodes


agent = Agent()
env = Slider(SEED)
state = env.reset()
ep_return, recent = 0.0, deque(maxlen=10)
for step in range(1, TOTAL_STEPS + 1):
    if step <= START_STEPS:
        a = np.random.uniform(-MAX_FORCE, MAX_FORCE, 1).astype(np.float32)
    else:
        a = agent.act(state, noise=0.2)
    nxt, reward, done = env.step(a[0])
    agent.memory.push(state, a, reward, nxt, done)
    state = nxt
    ep_return += reward
    if done:
        recent.append(ep_return)
        ep_return, state = 0.0, env.reset()
    if step > START_STEPS:
        agent.learn()
    if step % 200 == 0 and step > START_STEPS:
        print('step %5d | return %7.2f | critic %.4f | actor %.4f' % (step, np.mean(recent), *agent.log))
print('evaluation: return %.2f, distance at the end %.3f' % evaluate(agent))
