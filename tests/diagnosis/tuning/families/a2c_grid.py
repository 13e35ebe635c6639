"""Advantage actor-critic, many small grid worlds side by side.

Each world is a 6 x 6 room with a goal tile and a few blocked tiles (the same in all worlds); the agent
moves up/down/left/right or waits. Reward 1 on the goal, -0.02 a step, episodes of 24 steps at most.
"""
import copy
import os

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

SIZE = 6
BLOCKED = {(1, 1), (1, 2), (3, 4), (4, 1), (4, 2)}
MOVES = np.array([[-1, 0], [1, 0], [0, -1], [0, 1], [0, 0]])


class VecGrid:
    def __init__(self, n, seed):
        self.n = n
        self.rng = np.random.RandomState(seed)
        self.free = np.array([(i, j) for i in range(SIZE) for j in range(SIZE) if (i, j) not in BLOCKED])
        self.wall = np.ones((SIZE + 2, SIZE + 2), dtype=bool)
        for i, j in self.free:
            self.wall[i + 1, j + 1] = False
        self.pos = np.zeros((n, 2), dtype=int)
        self.goal = np.zeros((n, 2), dtype=int)
        self.t = np.zeros(n, dtype=int)
        self.restart(np.ones(n, dtype=bool))

    def restart(self, which):
        for i in np.nonzero(which)[0]:
            a, b = self.rng.choice(len(self.free), 2, replace=False)
            self.pos[i], self.goal[i], self.t[i] = self.free[a], self.free[b], 0

    def obs(self):
        eye = np.eye(SIZE, dtype=np.float32)
        return np.concatenate([eye[self.pos[:, 0]], eye[self.pos[:, 1]], eye[self.goal[:, 0]], eye[self.goal[:, 1]]], 1)

    def legal(self):
        q = self.pos[:, None, :] + MOVES[None] + 1
        return ~self.wall[q[..., 0], q[..., 1]]

    def step(self, a):
        new = self.pos + MOVES[a]
        ok = ~self.wall[new[:, 0] + 1, new[:, 1] + 1]
        self.pos[ok] = new[ok]
        self.t += 1
        hit = (self.pos == self.goal).all(1)
        done = hit | (self.t >= 24)
        reward = hit.astype(np.float32) - 0.02
        self.restart(done)
        return self.obs(), reward, done, hit


class ActorCritic(nn.Module):
    def __init__(self, hidden=96, act=nn.Tanh):
        super().__init__()
        self.feature = nn.Sequential(nn.Linear(4 * SIZE, hidden), act(), nn.Linear(hidden, hidden), act())
        self.actor = nn.Linear(hidden, len(MOVES))
        self.critic = nn.Linear(hidden, 1)
        if CASE in (4, 7):
            for m in self.feature:
                if isinstance(m, nn.Linear):
                    nn.init.orthogonal_(m.weight, 2 ** 0.5)
                    nn.init.zeros_(m.bias)
            nn.init.orthogonal_(self.actor.weight, 0.01)

    def forward(self, x):
        h = self.feature(x)
        return self.actor(h), self.critic(h)


class Learner:
    gamma = 0.95

    def __init__(self):
        torch.manual_seed(SEED)
        self.n_envs = {1: 48, 2: 32, 4: 16, 8: 8}.get(CASE, 24)
        self.horizon = {1: 2, 2: 5, 8: 12}.get(CASE, 6)
        self.updates = 800
        self.use_mask = CASE in (6, 9)
        self.env = VecGrid(self.n_envs, SEED + 10)
        self.net = ActorCritic(128 if CASE == 2 else 96, nn.ReLU if CASE in (2, 6, 9) else nn.Tanh)
        self.max_norm = 0.5
        self.entropy_weight = 0.02 if CASE in (6, 9) else 0.01
        self.make_optimizers()
        if CASE in (10, 11):
            self.warm_start()

    def make_optimizers(self):
        ac = self.net
        self.scheduler = None
        if CASE in (0, 3):
            if CASE == 0:
                actor_params = list(ac.feature.parameters()) + list(ac.actor.parameters())
            else:
                actor_params = list(ac.actor.parameters())
            self.opts = [torch.optim.Adam(actor_params, lr=3e-3), torch.optim.Adam(ac.critic.parameters(), lr=5e-3)]
        elif CASE in (8, 1):
            self.opts = [torch.optim.RMSprop(ac.parameters(), lr=2e-3, alpha=0.99, eps=1e-5)]
        elif CASE in (4, 7):
            self.opts = [torch.optim.SGD(ac.parameters(), lr=0.25, momentum=0.9)]
            if CASE == 7:
                # clip for a mean over the batch
                self.max_norm = self.max_norm / (self.n_envs * self.horizon)
        else:
            self.opts = [torch.optim.Adam(ac.parameters(), lr=3e-3)]
        if CASE in (2, 5):
            # linear to zero
            per_update = self.horizon if CASE == 5 else 1
            self.scheduler = torch.optim.lr_scheduler.LambdaLR(
                self.opts[0], lambda k: max(0.0, 1.0 - k * per_update / float(self.updates)))

    def warm_start(self):
        """a few imitation steps towards the straight line to the goal, then reinforcement learning"""
        env = VecGrid(64, 77)
        opt = torch.optim.Adam(self.net.parameters(), lr=2e-3)
        for _ in range(20):
            x = torch.from_numpy(env.obs())
            d = env.goal - env.pos
            a = np.where(np.abs(d[:, 0]) >= np.abs(d[:, 1]), np.where(d[:, 0] < 0, 0, 1), np.where(d[:, 1] < 0, 2, 3))
            loss = F.cross_entropy(self.net(x)[0], torch.from_numpy(a))
            opt.zero_grad()
            loss.backward()
            opt.step()
            env.step(env.rng.randint(0, 5, 64))
        stored = copy.deepcopy(self.net)
        if CASE == 11:
            self.net = stored
        else:
            self.net.load_state_dict(stored.state_dict())

    def distribution(self, logits, legal):
        if not self.use_mask:
            return torch.log_softmax(logits, -1)
        return torch.log_softmax(logits.masked_fill(~legal, float("-inf")), -1)

    def entropy(self, logp):
        p = logp.exp()
        if CASE == 9:
            return -torch.where(p > 0, p * logp, torch.zeros_like(p)).sum(-1)
        if CASE == 6:
            return -(p * logp.clamp(min=-1e4)).sum(-1)
        return -(p * logp).sum(-1)

    @staticmethod
    def pick(logp):
        gumbel = -torch.log(-torch.log(torch.rand_like(logp).clamp(1e-6, 1 - 1e-6)))
        return (logp + gumbel).argmax(-1)

    def rollout(self, obs):
        out = {k: [] for k in ("obs", "act", "rew", "done", "legal")}
        hits = ends = 0
        for _ in range(self.horizon):
            x = torch.from_numpy(obs)
            legal = torch.from_numpy(self.env.legal())
            with torch.no_grad():
                a = self.pick(self.distribution(self.net(x)[0], legal))
            nobs, r, d, hit = self.env.step(a.numpy())
            for k, v in zip(("obs", "act", "rew", "done", "legal"),
                            (x, a, torch.from_numpy(r), torch.from_numpy(d.astype(np.float32)), legal)):
                out[k].append(v)
            hits, ends = hits + hit.sum(), ends + d.sum()
            obs = nobs
        return obs, out, hits, ends

    def update(self, last_obs, out):
        with torch.no_grad():
            R = self.net(torch.from_numpy(last_obs))[1].squeeze(-1)
        returns = []
        for r, d in zip(reversed(out["rew"]), reversed(out["done"])):
            R = r + self.gamma * (1 - d) * R
            returns.append(R)
        returns = torch.cat(returns[::-1])
        obs, act, legal = torch.cat(out["obs"]), torch.cat(out["act"]), torch.cat(out["legal"])

        logits, value = self.net(obs)
        logp = self.distribution(logits, legal)
        chosen = logp.gather(1, act[:, None]).squeeze(1)
        if CASE != 1:
            value = value.squeeze(-1)
        td = returns - value
        value_loss = td.pow(2).mean()
        advantage = td.detach()
        if CASE == 8:
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-5)
        policy_loss = -(advantage * chosen).mean()
        entropy = self.entropy(logp).mean()
        loss = policy_loss + 0.5 * value_loss - self.entropy_weight * entropy

        for o in self.opts:
            o.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), self.max_norm)
        for o in self.opts:
            o.step()
        if self.scheduler is not None:
            self.scheduler.step()
        return policy_loss.item(), value_loss.item(), entropy.item()

    def test(self):
        env = VecGrid(200, 999)
        solved = np.zeros(200, dtype=bool)
        over = np.zeros(200, dtype=bool)
        with torch.no_grad():
            for _ in range(24):
                lp = self.distribution(self.net(torch.from_numpy(env.obs()))[0], torch.from_numpy(env.legal()))
                _, _, d, hit = env.step(self.pick(lp).numpy())
                solved |= hit & ~over
                over |= d
        return solved.mean()

    def train(self):
        obs = self.env.obs()
        hits = ends = 0
        for k in range(1, self.updates + 1):
            obs, out, h, e = self.rollout(obs)
            hits, ends = hits + h, ends + e
            pl, vl, ent = self.update(obs, out)
            if k % 100 == 0:
                print(f"update {k:5d}  success {hits / max(ends, 1):.3f}  policy {pl:+.4f}  value {vl:.4f}  entropy {ent:.3f}")
                hits = ends = 0
        print(f"test: {self.test():.3f} of the goals reached")


if __name__ == "__main__":
    Learner().train()
