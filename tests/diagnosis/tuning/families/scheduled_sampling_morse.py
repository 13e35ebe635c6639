"""Noisy signals -> letters, decoder fed with its own output more and more (scheduled sampling)."""
import os, random
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED); random.seed(SEED)
V, T, SOS = 12, 7, 12
code = torch.randn(V, 6)


def messages(n):
    s = torch.randint(V, (n, T))
    for t in range(1, T):                                   # some letters follow others
        s[:, t] = torch.where(torch.rand(n) < 0.6, (s[:, t - 1] * 5 + 1) % V, s[:, t])
    return code[s] + 0.9 * torch.randn(n, T, 6), s


class Model(nn.Module):
    def __init__(self, h=64):
        super().__init__()
        self.enc = nn.GRU(6, h // 2, batch_first=True, bidirectional=True)
        self.emb = nn.Embedding(V + 1, 16)
        self.cell = nn.GRUCell(16 + h, h)
        self.out = nn.Linear(h, V)

    def forward(self, x, target=None, p_teacher=0.0):
        e, _ = self.enc(x)
        h = e.mean(1)
        prev = torch.full((len(x),), SOS)
        outs = []
        for t in range(T):
            h = self.cell(torch.cat([self.emb(prev), e[:, t]], 1), h)
            o = self.out(h)
            outs.append(o)
            prev = o.argmax(1)                              # no gradient through the choice
            if target is not None:
                use = torch.rand(len(x)) < p_teacher
                prev = torch.where(use, target[:, t], prev)
        return torch.stack(outs, 1)


x, s = messages(3000)
xv, sv = messages(500)
net = Model()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
STEPS = 260
for step in range(1, STEPS + 1):
    p = max(0.0, 1 - step / 200)
    i = torch.randint(3000, (64,))
    loss = F.cross_entropy(net(x[i], s[i], p).flatten(0, 1), s[i].flatten())
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    if step % 26 == 0:
        with torch.no_grad():
            o = net(xv)
        print(f"step {step} teacher {p:.2f} loss {loss.item():.4f} | free running val loss {F.cross_entropy(o.flatten(0,1), sv.flatten()).item():.4f} letter acc {(o.argmax(2)==sv).float().mean():.3f}")
