import argparse
import math
import os
import random
import torch
import torch.nn as nn
import torch.nn.functional as F

ap = argparse.ArgumentParser()
ap.add_argument("--case", type=int, default=int(os.environ.get("CASE", 0)))
ap.add_argument("--seed", type=int, default=int(os.environ.get("SEED", 0)))
ap.add_argument("--steps", type=int, default=400)
ap.add_argument("--block", type=int, default=32)
ap.add_argument("--dim", type=int, default=48)
args = ap.parse_args()
C = args.case
torch.set_num_threads(1)
torch.manual_seed(args.seed)
rnd = random.Random(args.seed)

NOUN = "cat dog bird fox crow".split()
VERB = {"cat": "sees", "dog": "bites", "bird": "sings", "fox": "runs", "crow": "flies"}


def sentence():
    a, b = rnd.choice(NOUN), rnd.choice(NOUN)
    k = rnd.randint(1, 4)
    return "%s and %s %s %s." % (a, b, VERB[a], "x" * k + " " + "y" * k)


text = " ".join(sentence() for _ in range(1600))
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])
cut = int(0.9 * len(data))
train_data, val_data = data[:cut], data[cut:]


def get_batch(src, n=16):
    if C == 9 and src is train_data:
        ix = torch.arange(n) * args.block
    else:
        ix = torch.randint(len(src) - args.block - 1, (n,))
    x = torch.stack([src[i:i + args.block] for i in ix])
    if C == 8:
        y = torch.stack([src[i:i + args.block] for i in ix])
    else:
        y = torch.stack([src[i + 1:i + 1 + args.block] for i in ix])
    return x, y


class Attention(nn.Module):
    def __init__(self, dim, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)
        self.register_buffer("mask", torch.tril(torch.ones(args.block, args.block)).bool())

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = [t.view(B, T, self.heads, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1)]
        a = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if C != 5:
            a = a.masked_fill(~self.mask[:T, :T], -1e9)
        a = a.softmax(0 if C == 6 else -1)
        return self.proj((a @ v).transpose(1, 2).reshape(B, T, D))


class Layer(nn.Module):
    def __init__(self, dim, p):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.att = Attention(dim)
        self.ff = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim), nn.Dropout(p))

    def forward(self, x):
        x = x + self.att(self.n1(x))
        return x + self.ff(self.n2(x))


class CharModel(nn.Module):
    def __init__(self, dim, p):
        super().__init__()
        self.tok = nn.Embedding(len(chars), dim)
        self.pos = nn.Embedding(args.block, dim)
        self.drop = nn.Dropout(p)
        self.layers = nn.Sequential(Layer(dim, p), Layer(dim, p))
        self.norm = nn.LayerNorm(dim)
        self.out = nn.Linear(dim, len(chars))
        std = 1.0 if C == 10 else 0.05
        for m in self.modules():
            if isinstance(m, (nn.Linear, nn.Embedding)):
                nn.init.normal_(m.weight, std=std)

    def forward(self, x):
        h = self.drop(self.tok(x) + self.pos(torch.arange(x.shape[1])))
        return self.out(self.norm(self.layers(h)))

    @torch.no_grad()
    def generate(self, start, n):
        self.eval()
        idx = start
        for _ in range(n):
            logits = self(idx[:, -args.block:])[:, -1]
            idx = torch.cat([idx, torch.multinomial(F.softmax(logits, -1), 1)], 1)
        return "".join(chars[i] for i in idx[0].tolist())


@torch.no_grad()
def val_loss(model):
    model.eval()
    tot = 0
    for _ in range(6):
        x, y = get_batch(val_data, 32)
        tot += F.cross_entropy(model(x).flatten(0, 1), y.flatten()).item() / 6
    model.train()
    return tot


model = CharModel(args.dim, {2: 0.3, 11: 0.9}.get(C, 0.0))
lr = {1: 1e-3, 3: 3e-4, 7: 0.1}.get(C, 3e-3)
if C == 4:
    opt = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9)
else:
    opt = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 40)) if C in (1, 4) else None
for step in range(args.steps):
    x, y = get_batch(train_data)
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    if sched:
        sched.step()
    if step % 50 == 0 or step == args.steps - 1:
        print("step %d train loss %.3f val loss %.3f" % (step, loss.item(), val_loss(model)))
sample = model.generate(torch.tensor([[stoi["c"]]]), 240)
words = [w.strip(".") for w in sample.split(" ")[1:-1]]
known = set(w.strip(".") for w in text.split(" "))
print(sample)
print("known words in the sample: %.2f" % (sum(w in known for w in words) / max(1, len(words))))
