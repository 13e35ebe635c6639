# REINFORCE with a learned baseline on a small cart-pole
import math
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
np.random.seed(SEED)

MAX_STEPS = 100
EPISODES = 400
GAMMA = 0.98
dtype = torch.float64 if CASE == 4 else torch.float32


class CartPole:
    """gravity 9.8, cart 1 kg, pole .1 kg, half length .5 m, 20 ms a step"""

    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)
        self.state = np.zeros(4)
        self.t = 0

    def seed(self, seed):
        self.rng = np.random.RandomState(seed)

    def observe(self):
        return self.state if CASE == 3 else self.state.copy()

    def reset(self):
        self.state[:] = self.rng.uniform(-0.05, 0.05, size=4)
        self.t = 0
        return self.observe()

    def step(self, action):
        x, xd, th, thd = self.state
        force = 10.0 if action == 1 else -10.0
        c, s = math.cos(th), math.sin(th)
        tmp = (force + 0.05 * thd * thd * s) / 1.1
        thacc = (9.8 * s - c * tmp) / (0.5 * (4.0 / 3.0 - 0.1 * c * c / 1.1))
        xacc = tmp - 0.05 * thacc * c / 1.1
        self.state[:] = (x + 0.02 * xd, xd + 0.02 * xacc, th + 0.02 * thd, thd + 0.02 * thacc)
        self.t += 1
        fell = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 12 * math.pi / 180
        return self.observe(), 1.0, fell or self.t >= MAX_STEPS


class PolicyNet(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.fc1 = nn.Linear(4, hidden)
        self.pi = nn.Linear(hidden, 2)
        self.v = nn.Linear(hidden, 1)
        self.softmax = nn.Softmax(dim=0 if CASE == 1 else -1)
        if CASE == 6:
            nn.init.zeros_(self.pi.weight)
            nn.init.zeros_(self.pi.bias)

    def forward(self, s):
        h = F.relu(self.fc1(s)) if CASE in (2, 8) else torch.tanh(self.fc1(s))
        return self.softmax(self.pi(h)), self.v(h).squeeze(-1)


env = CartPole(SEED + 1)
rng = np.random.RandomState(SEED + 2)
net = PolicyNet(128 if CASE in (2, 4) else 64).to(dtype)

base_lr = {1: 4e-3, 2: 2e-3, 6: 7e-3, 4: 4e-3, 8: 1e-2, 10: 1.2e-2}.get(CASE, 1e-2)
if CASE == 4:
    optimizer = torch.optim.RMSprop(net.parameters(), lr=base_lr)
else:
    optimizer = torch.optim.Adam(net.parameters(), lr=base_lr)
if CASE in (6, 11):
    optimizer = torch.optim.Adam(list(net.fc1.parameters()) + list(net.pi.parameters()), lr=base_lr)
    optimizer_v = torch.optim.Adam(net.v.parameters(), lr=2e-2)

scheduler = None
if CASE == 4:
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda e: min(1.0, e / 40))
elif CASE == 10:
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPISODES)


def choose(state):
    with torch.set_grad_enabled(CASE in (0, 2, 6, 9)):
        p, _ = net(torch.as_tensor(state, dtype=dtype))
    a = int(env.rng.uniform() < p[1].item()) if CASE in (0, 5) else int(rng.uniform() < p[1].item())
    return a, torch.log(p[a])


def discounted(rewards):
    out, g = [], 0.0
    for r in reversed(rewards):
        g = r + GAMMA * g
        out.append(g)
    return out[::-1]


lengths = []
for ep in range(EPISODES):
    if CASE == 5:
        env.seed(SEED + 1)
    state = env.reset()
    states, actions, rewards, logps = [], [], [], []
    done = False
    while not done:
        action, logp = choose(state)
        nxt, r, done = env.step(action)
        states.append(state)
        actions.append(action)
        rewards.append(r)
        logps.append(logp)
        state = nxt
    lengths.append(len(rewards))

    G = torch.tensor(discounted(rewards), dtype=dtype)
    if CASE != 10:
        G = G / 25.0
    if CASE in (0, 2, 6):
        # log probabilities of the moment of sampling
        logp = torch.stack(logps)
        v = net(torch.as_tensor(np.array(states), dtype=dtype))[1]
        probs = None
    elif CASE == 9:
        logp = torch.tensor(logps, dtype=dtype, requires_grad=True)
        v = net(torch.as_tensor(np.array(states), dtype=dtype))[1]
        probs = None
    else:
        probs, v = net(torch.as_tensor(np.array(states), dtype=dtype))
        logp = torch.log(probs.gather(1, torch.tensor(actions).unsqueeze(1)).squeeze(1) + 1e-9)

    if CASE == 7:
        adv = v.detach() - G
    else:
        adv = G - v.detach()
    if CASE in (4, 8, 10):
        adv = (adv - adv.mean()) / (adv.std() + 1e-6)

    if CASE == 2:
        policy_loss = -(logp * adv).sum()
        value_loss = F.smooth_l1_loss(v, G, reduction="sum")
    else:
        policy_loss = -(logp * adv).mean()
        value_loss = F.mse_loss(v, G)

    if CASE in (6, 11):
        net.zero_grad()
        policy_loss.backward(retain_graph=True)
        if CASE == 11:
            net.zero_grad()
        value_loss.backward()
        optimizer.step()
        optimizer_v.step()
    elif CASE == 8:
        # two episodes an update
        loss = (policy_loss + 0.5 * value_loss) / 2
        loss.backward()
        if ep % 2 == 1:
            optimizer.step()
            optimizer.zero_grad()
    else:
        loss = policy_loss + (0.01 if CASE == 10 else 0.5) * value_loss
        optimizer.zero_grad()
        loss.backward()
        if CASE == 10:
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
    if scheduler is not None:
        scheduler.step()

    if (ep + 1) % 40 == 0:
        print("episode %4d  length (last 40) %6.1f  policy loss %8.4f  value loss %8.4f"
              % (ep + 1, np.mean(lengths[-40:]), policy_loss.item(), value_loss.item()))



def play(pick, n=8):
    test_env, scores = CartPole(12345), []
    with torch.no_grad():
        for _ in range(n):
            s, done, steps = test_env.reset(), False, 0
            while not done:
                s, _, done = test_env.step(pick(net(torch.as_tensor(s, dtype=dtype))[0]))
                steps += 1
            scores.append(steps)
    return np.mean(scores)


print("mean length of %d: greedy %.1f, sampled %.1f"
      % (MAX_STEPS, play(lambda p: int(p.argmax())), play(lambda p: int(torch.rand(()) < p[1]))))
