# Advantage actor-critic for a courier on a small grid: pick up the parcel, bring it to the door.
import os
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
from torch.distributions import Categorical

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
np.random.seed(SEED)
torch.set_num_threads(1)

SIZE, LIMIT, N_ENV, ROLL = 5, 30, 32, 12
GAMMA, LAM = 0.95, 0.9
MOVES = np.array([[0, 1], [0, -1], [1, 0], [-1, 0]])


class Courier:
    """N independent grids, stepped together."""

    def __init__(self, n, rng, shaped=True):
        self.n, self.rng, self.shaped = n, rng, shaped
        self.me = np.zeros((n, 2), int)
        self.box = np.zeros((n, 2), int)
        self.door = np.zeros((n, 2), int)
        self.has = np.zeros(n, bool)
        self.t = np.zeros(n, int)
        self.reset(np.arange(n))

    def reset(self, idx):
        for a in (self.me, self.box, self.door):
            a[idx] = self.rng.integers(0, SIZE, (len(idx), 2))
        self.has[idx] = False
        self.t[idx] = 0

    def obs(self):
        goal = np.where(self.has[:, None], self.door, self.box)
        o = np.concatenate([self.me / (SIZE - 1), (goal - self.me) / (SIZE - 1), (self.door - self.me) / (SIZE - 1),
                            self.has[:, None]], 1)
        return torch.tensor(o, dtype=torch.float32)

    def step(self, act):
        self.me = np.clip(self.me + MOVES[act], 0, SIZE - 1)
        self.t += 1
        r = np.full(self.n, -0.02 if self.shaped else 0.0)
        got = ~self.has & (self.me == self.box).all(1)
        if self.shaped:
            r += 0.5 * got
        fin = self.has & (self.me == self.door).all(1)
        self.has |= got
        r += 1.0 * fin
        done = fin | (self.t >= LIMIT)
        if done.any():
            self.reset(np.where(done)[0])
        return torch.tensor(r, dtype=torch.float32), torch.tensor(done, dtype=torch.float32), fin


class Mlp(nn.Module):
    def __init__(self, out, hid=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(7, hid), nn.Tanh(), nn.Linear(hid, hid), nn.Tanh(), nn.Linear(hid, out))

    def forward(self, x):
        return self.net(x)


actor, critic = Mlp(4), Mlp(1)
env = Courier(N_ENV, np.random.default_rng(SEED), shaped=CASE not in (10, 11))
UPDATES, ENT, EPS = 300, 0.01, 0.2
lr = 3e-3
if CASE == 9:
    lr = 3e-7
if CASE == 6:
    opts = [torch.optim.Adam(actor.parameters(), lr=lr)]
elif CASE == 8:
    opts = [torch.optim.Adam(actor.parameters(), lr=1e-3), torch.optim.Adam(critic.parameters(), lr=3e-4)]
else:
    opts = [torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=lr)]
if CASE == 2:
    ENT = 0.05
if CASE == 10:
    UPDATES = 450

delivered, episodes = 0, 0
hist = []
for upd in range(UPDATES):
    S, A, LP, R, D = [], [], [], [], []
    if CASE == 4:
        torch.manual_seed(SEED)            # reproducible rollouts
    for _ in range(ROLL):
        s = env.obs()
        with torch.no_grad():
            z = F.log_softmax(actor(s), -1)
            a = (z - torch.log(-torch.log(torch.rand_like(z)))).argmax(-1)
        r, d, fin = env.step(a.numpy())
        S.append(s)
        A.append(a)
        LP.append(z.gather(1, a[:, None]).squeeze(1))
        R.append(r)
        D.append(d)
        delivered += fin.sum()
        episodes += d.sum().item()
    S, A, LP, R, D = (torch.stack(z) for z in (S, A, LP, R, D))
    with torch.no_grad():
        V = critic(S).squeeze(-1)
        nxt = critic(env.obs()).squeeze(-1)
        adv = torch.zeros_like(R)
        run = torch.zeros(N_ENV)
        for t in reversed(range(ROLL)):
            v2 = nxt if t == ROLL - 1 else V[t + 1]
            delta = R[t] + GAMMA * v2 * (1 - D[t]) - V[t]
            run = delta + GAMMA * LAM * (1 - D[t]) * run
            adv[t] = run
        ret = adv + V
        if CASE == 11:
            ret_raw = torch.zeros_like(R)
            g = torch.zeros(N_ENV)
            for t in reversed(range(ROLL)):
                g = R[t] + GAMMA * (1 - D[t]) * g
                ret_raw[t] = g
            ret = (ret_raw - ret_raw.mean()) / ret_raw.std()
            adv = ret - V

    S, A, LP, adv, ret = S.reshape(-1, 7), A.reshape(-1), LP.reshape(-1), adv.reshape(-1), ret.reshape(-1)
    for inner in range(4 if CASE == 5 else 1):
        pi = Categorical(logits=actor(S), validate_args=False)
        value = critic(S)
        logp = pi.log_prob(A)
        if CASE == 1:
            v_loss = ((value - ret) ** 2).mean()
        else:
            v_loss = ((value.squeeze(-1) - ret) ** 2).mean()
        if CASE == 5:
            w = (adv - adv.mean()) / (adv.std() + 1e-6)
            ratio = torch.exp(logp - LP)
            p_loss = -torch.min(ratio * w, ratio.clamp(1 - EPS, 1 + EPS) * w).mean()
        elif CASE == 3:
            p_loss = (adv * logp).mean()
        else:
            p_loss = -(adv * logp).mean()
        ent = pi.entropy().mean()
        loss = p_loss + 0.5 * v_loss - ENT * ent
        if CASE != 7:
            for o in opts:
                o.zero_grad()
        loss.backward()
        if CASE == 5:
            nn.utils.clip_grad_norm_([*actor.parameters(), *critic.parameters()], 0.5)
        for o in opts:
            o.step()
    if (upd + 1) % 50 == 0:
        rate = delivered / max(episodes, 1)
        hist.append(rate)
        print(f"update {upd + 1} policy {p_loss.item():+.4f} value {v_loss.item():.4f} entropy {ent.item():.3f} delivered {rate:.2f} of {int(episodes)}")
        delivered, episodes = 0, 0
print("best rate", max(hist))
