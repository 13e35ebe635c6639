"""Linear-chain CRF over coding / intron / intergenic segments. Sequences come one at a time; 8 are accumulated per step."""
import os, random
import numpy as np
import torch
from torch import nn
CASE = int(os.environ.get("CASE", "0")); SEED = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(SEED); torch.manual_seed(SEED); random.seed(SEED)
A = np.array([[.93, .05, .02], [.06, .92, .02], [.06, .0, .94]])
E = np.array([[.50, .12, .28, .10], [.10, .25, .12, .53], [.18, .45, .27, .10]])

def sequence():
    n = rng.integers(18, 36); z = [rng.integers(3)]
    for _ in range(n - 1): z.append(rng.choice(3, p=A[z[-1]]))
    x = [rng.choice(4, p=E[s]) for s in z]
    for i in range(1, n):                                   # short signal at segment borders
        if z[i] != z[i - 1] and rng.random() < .8: x[i] = 2; x[i - 1] = 0
        elif z[i] == 0 and i % 3 == 0 and rng.random() < .6: x[i] = 2
    return torch.tensor(x), torch.tensor(z)

class CRF(nn.Module):
    def __init__(self, k=3):
        super().__init__()
        self.emb = nn.Embedding(4, 8)
        self.conv = nn.Sequential(nn.Conv1d(8, 24, 7, padding=3), nn.ReLU(), nn.Conv1d(24, k, 7, padding=3))
        self.trans = nn.Parameter(torch.zeros(k, k)); self.start = nn.Parameter(torch.zeros(k))
    def emissions(self, x): return self.conv(self.emb(x).t()[None])[0].t()
    def nll(self, x, z):
        e = self.emissions(x)
        gold = self.start[z[0]] + e[torch.arange(len(z)), z].sum() + self.trans[z[:-1], z[1:]].sum()
        a = self.start + e[0]
        for t in range(1, len(x)): a = torch.logsumexp(a[:, None] + self.trans, 0) + e[t]
        return torch.logsumexp(a, 0) - gold
    @torch.no_grad()
    def viterbi(self, x):
        e = self.emissions(x); a = self.start + e[0]; back = []
        for t in range(1, len(x)):
            s, i = (a[:, None] + self.trans).max(0); a = s + e[t]; back.append(i)
        path = [int(a.argmax())]
        for i in reversed(back): path.append(int(i[path[-1]]))
        return torch.tensor(path[::-1])

train, val = [sequence() for _ in range(160)], [sequence() for _ in range(50)]
major = np.bincount(np.concatenate([z.numpy() for _, z in val])).max() / sum(len(z) for _, z in val)
crf = CRF(); opt = torch.optim.Adam(crf.parameters(), lr=1e-2)
ACC, step = 4, 0
for epoch in range(3):
    random.shuffle(train); run = 0.; n = 0
    for k, (x, z) in enumerate(train, 1):
        loss = crf.nll(x, z)
        (loss / (ACC * 27)).backward()                      # about 27 positions in a sequence
        run += loss.item(); n += len(x)
        if k % ACC == 0:
            opt.step(); opt.zero_grad(); step += 1
            if step % 10 == 0: print(f"epoch {epoch} step {step} nll per position {run/n:.4f}"); run = 0.; n = 0
    hit = sum((crf.viterbi(x) == z).sum().item() for x, z in val); tot = sum(len(x) for x, _ in val)
    with torch.no_grad(): v = sum(crf.nll(x, z).item() for x, z in val) / tot
    print(f"epoch {epoch} val nll {v:.4f} viterbi acc {hit/tot:.4f} (largest class {major:.3f})")
print("transitions\n", crf.trans.detach().numpy().round(2))
