import copy
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
np.random.seed(SEED)
torch.manual_seed(SEED)

D, C, G = 12, 5, 8


class Domains:
    """Points from several domains; every domain has its own rule."""

    def __init__(self, seed):
        r = np.random.RandomState(seed + 100)
        self.centres = r.randn(G, D) * 2.0
        self.rules = r.randn(G, D, C)
        self.p = np.array([0.55] + [0.45 / (G - 1)] * (G - 1)) if CASE == 1 else np.ones(G) / G

    def sample(self, n, r):
        g = r.choice(G, size=n, p=self.p)
        e = r.randn(n, D)
        y = np.einsum("nd,ndc->nc", e, self.rules[g]).argmax(1)
        return (torch.tensor(self.centres[g] + e, dtype=torch.float32), torch.tensor(y))


class Expert(nn.Module):
    def __init__(self, d_in, d_out, hidden=12):
        super().__init__()
        self.fc1 = nn.Linear(d_in, hidden)
        self.fc2 = nn.Linear(hidden, d_out)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


class MoE(nn.Module):
    def __init__(self, n_experts=8, k=2):
        super().__init__()
        self.k, self.n = k, n_experts
        d_in = D
        self.proj = None
        if CASE == 3:
            self.proj = nn.Linear(D, 64)
            for p in self.proj.parameters():
                p.requires_grad = False
            d_in = 64
        self.gate = nn.Linear(d_in, n_experts)
        if CASE == 7:
            nn.init.zeros_(self.gate.weight)
            nn.init.zeros_(self.gate.bias)
            proto = Expert(d_in, C)
            self.experts = nn.ModuleList([copy.deepcopy(proto) for _ in range(n_experts)])
        else:
            self.experts = nn.ModuleList([Expert(d_in, C) for _ in range(n_experts)])

    def forward(self, x):
        if self.proj is not None:
            x = torch.relu(self.proj(x))
        logits = self.gate(x)
        probs = logits.softmax(-1)
        if self.k == 0:
            every = torch.stack([e(x) for e in self.experts], 1)
            self.usage = probs.mean(0).detach()
            self.aux = self.n * (probs.mean(0) ** 2).sum()
            return (probs.unsqueeze(-1) * every).sum(1)
        top, idx = probs.topk(self.k, dim=-1)
        if CASE == 4:
            w = logits.gather(1, idx).softmax(-1)
        elif self.k > 1:
            w = top / top.sum(-1, keepdim=True)
        else:
            w = top
        load = F.one_hot(idx, self.n).float().sum(1).mean(0) / self.k
        self.usage = load
        self.aux = self.n * (load * probs.mean(0)).sum()
        if CASE == 10:
            parts = []
            for i, expert in enumerate(self.experts):
                where, slot = (idx == i).nonzero(as_tuple=True)
                parts.append(expert(x[where]) * w[where, slot].unsqueeze(1))
            return torch.cat(parts, 0)
        out = x.new_zeros(x.shape[0], C)
        for i, expert in enumerate(self.experts):
            where, slot = (idx == i).nonzero(as_tuple=True)
            if len(where):
                out = out.index_add(0, where, expert(x[where]) * w[where, slot].unsqueeze(1))
        return out


class Trainer:
    def __init__(self):
        self.data = Domains(SEED)
        self.rng = np.random.RandomState(SEED)
        k = {2: 0, 7: 0, 4: 1, 5: 1, 9: 1, 10: 1}.get(CASE, 2)
        self.model = MoE(k=k)
        if CASE == 2:
            self.opt = torch.optim.SGD(self.model.parameters(), lr=0.2, momentum=0.9, nesterov=True)
        elif CASE == 6:
            self.opt = torch.optim.Adam(self.model.experts.parameters(), lr=4e-3)
        else:
            self.opt = torch.optim.Adam([p for p in self.model.parameters() if p.requires_grad], lr=4e-3)
        self.balance = {4: 0.0, 5: 0.2}.get(CASE, 0.02)

    def test(self):
        x, y = self.data.sample(4000, np.random.RandomState(SEED + 7))
        self.model.eval()
        with torch.no_grad():
            acc = (self.model(x).argmax(1) == y).float().mean().item()
        self.model.train()
        return acc

    def fit(self, steps):
        for step in range(steps):
            if CASE == 8 and step == 60:
                best = self.model.usage.argmax().item()
                self.model.experts = nn.ModuleList(
                    [copy.deepcopy(self.model.experts[best]) for _ in range(self.model.n)])
            x, y = self.data.sample(256, self.rng)
            task = F.cross_entropy(self.model(x), y)
            if CASE == 5:
                loss = task - self.balance * self.model.aux
            else:
                loss = task + self.balance * self.model.aux
            self.opt.zero_grad()
            loss.backward()
            if CASE == 9:
                nn.utils.clip_grad_norm_(self.model.parameters(), 0.1)
            self.opt.step()
            if step % 200 == 0:
                used = " ".join(f"{u:.2f}" for u in self.model.usage.tolist())
                print(f"{step} task {task.item():.3f} aux {self.model.aux.item():.3f} usage {used}")
        print("test accuracy", round(self.test(), 4))


Trainer().fit(650)
