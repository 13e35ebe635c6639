# Depth of bracket strings, shortest first. The loader is ordered by difficulty for the first passes, later mixed.
import os, random, time
import torch, torch.nn as nn, torch.nn.functional as F
CASE = int(os.environ.get("CASE", "0")); SEED = int(os.environ.get("SEED", "0"))
random.seed(SEED); torch.manual_seed(SEED)
VOC = {"<pad>": 0, "(": 1, ")": 2, "[": 3, "]": 4, "a": 5, "b": 6}

def sample(length):
    s, stack, depth = [], [], 0
    while len(s) < length:
        r = random.random()
        if r < 0.34 and len(stack) < 5:
            c = random.choice("(["); stack.append(c); s.append(c)
        elif r < 0.62 and stack:
            s.append(")" if stack.pop() == "(" else "]")
        else:
            s.append(random.choice("ab"))
        depth = max(depth, len(stack))
    return [VOC[c] for c in s], depth

data = [sample(random.randint(4, 24)) for _ in range(2600)]
train, test = data[:2200], data[2200:]

def collate(rows):
    n = max(len(r[0]) for r in rows)
    x = torch.zeros(len(rows), n, dtype=torch.long)
    for i, (s, _) in enumerate(rows): x[i, :len(s)] = torch.tensor(s)
    return x, torch.tensor([r[1] for r in rows])

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(7, 24, padding_idx=0)
        self.rnn = nn.GRU(24, 64, batch_first=True)
        self.out = nn.Linear(64, 6)
    def forward(self, x):
        h, _ = self.rnn(self.emb(x))
        h = h.masked_fill((x == 0).unsqueeze(2), float("-inf")).max(1).values
        return self.out(h)

net = Net(); opt = torch.optim.Adam(net.parameters(), 3e-3)
def evaluate(rows):
    net.eval(); ok = 0; by = {}
    with torch.no_grad():
        for i in range(0, len(rows), 200):
            x, y = collate(rows[i:i+200]); hit = net(x).argmax(1) == y
            ok += hit.sum().item()
            for d, h in zip(y.tolist(), hit.tolist()): by.setdefault(d, []).append(h)
    net.train()
    return ok / len(rows), {d: round(sum(v)/len(v), 2) for d, v in sorted(by.items())}

ordered = sorted(train, key=lambda r: (r[1], len(r[0])))
step = 0
stages = [(0.4, 1), (0.7, 1), (1.0, 4)]          # share of the easiest examples, passes
for share, passes in stages:
    pool = ordered[:int(share * len(ordered))]
    for p in range(passes):
        sequence = pool if share < 1.0 and p == 0 else random.sample(pool, len(pool))
        for i in range(0, len(sequence), 40):
            x, y = collate(sequence[i:i+40])
            loss = F.cross_entropy(net(x), y)
            opt.zero_grad(); loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step(); step += 1
            if step % 25 == 0: print(f"step {step} share {share} loss {loss.item():.4f}")
        acc, by = evaluate(test)
        print(f"-- share {share:.1f} pass {p}: test acc {acc:.3f} by depth {by}")
