import os
import random
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
random.seed(SEED)
torch.manual_seed(SEED)

WORDS = "the cat dog sat ran on mat with red blue hat and then saw a big small tree house under over".split()


def text(n):
    out = []
    for _ in range(n):
        out.append(" ".join(random.choice(WORDS) for _ in range(random.randint(3, 7))) + ".")
    return " ".join(out)


corpus = text(1500)
held = text(120)
chars = sorted(set(corpus))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in corpus])
test = torch.tensor([stoi[c] for c in held])
V, B, T = len(chars), 16, 32


class CharGRU(nn.Module):
    def __init__(self, d=48, h=96):
        super().__init__()
        self.emb = nn.Embedding(V, d)
        self.gru = nn.GRU(d, h, batch_first=True)
        self.out = nn.Linear(h, V)
        if CASE == 7:
            self.emb = nn.Embedding(V, h)
            self.gru = nn.GRU(h, h, batch_first=True)
            self.out.weight = self.emb.weight

    def forward(self, ids, state=None):
        z, state = self.gru(self.emb(ids), state)
        if CASE == 2:
            z = z.detach()
        return self.out(z), state


def rows(seq):
    m = len(seq) // B
    return seq[:m * B].view(B, m)


def bits(net):
    r = rows(test)
    with torch.no_grad():
        logits, _ = net(r[:, :-1])
        return F.cross_entropy(logits.reshape(-1, V), r[:, 1:].reshape(-1)).item()


net = CharGRU()
lr = 5e-3
opt = torch.optim.Adam(net.parameters(), lr=lr)
if CASE == 5:
    opt = torch.optim.SGD(net.parameters(), lr=2.0, momentum=0.9)
if CASE == 8:
    opt = torch.optim.RMSprop(net.parameters(), lr=3e-3)
stream = rows(data)
pos, state, step = 0, None, 0
history = []
STEPS = 120 if CASE == 1 else 250
while step < STEPS:
    if pos + T + 1 > stream.shape[1]:
        pos, state = 0, None
    x, y = stream[:, pos:pos + T], stream[:, pos + 1:pos + T + 1]
    if CASE == 3:
        y = x
    if CASE == 6:
        y = stream[:, pos + T // 2:pos + T // 2 + T] if pos + T // 2 + T < stream.shape[1] else y
    pos += T
    if state is not None:
        state = state.detach()
    logits, state = net(x, state)
    if CASE == 4:
        loss = F.nll_loss(F.log_softmax(logits, dim=1).reshape(-1, V), y.reshape(-1))
    else:
        loss = F.cross_entropy(logits.reshape(-1, V), y.reshape(-1))
    opt.zero_grad()
    loss.backward()
    if CASE == 9:
        nn.utils.clip_grad_value_(net.parameters(), 0.01)
    opt.step()
    if CASE == 10:
        history.append(loss.item())
    step += 1
    if CASE == 1 and step % 4 == 0:
        r = rows(test)
        logits, _ = net(r[:, :-1])
        history.append(F.cross_entropy(logits.reshape(-1, V), r[:, 1:].reshape(-1)))
    if step % 50 == 0:
        print(step, "loss", loss.item(), "held out", bits(net))
print("METRIC", bits(net))
