import math
import os

import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)
torch.set_num_threads(1)

# token 0 = pad, 1 = bos, 2..4 step symbols, 5..15 the ring of 11 digits, 16 = mask
VOCAB, PAD, BOS, MASK, RING = 17, 0, 1, 16, 11
T = 16
NOISE = 0.3 if CASE == 1 else 0.05


def sample(n, gen):
    x = torch.full((n, T), PAD)
    x[:, 0] = BOS
    d = torch.randint(0, 3, (n,), generator=gen)
    x[:, 1] = 2 + d
    cur = torch.randint(0, RING, (n,), generator=gen)
    lens = torch.randint(5 if CASE == 5 else 9, 8 if CASE == 5 else T + 1, (n,), generator=gen)
    if CASE == 5:
        lens[torch.rand(n, generator=gen) < 0.05] = T
    for t in range(2, T):
        wild = torch.rand(n, generator=gen) < NOISE
        x[:, t] = 5 + torch.where(wild, torch.randint(0, RING, (n,), generator=gen), cur)
        # step of 1, 3 or 4 on the ring, counted from the symbol that stands there
        cur = (x[:, t] - 5 + torch.tensor([1, 3, 4])[d]) % RING
    return x.masked_fill(torch.arange(T)[None] >= lens[:, None], PAD)


class Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.h = heads
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
        self.o = nn.Linear(d, d)

    def split(self, x):
        B, L, D = x.shape
        if CASE == 6:
            return x.view(B, self.h, L, D // self.h)
        return x.view(B, L, self.h, D // self.h).transpose(1, 2)

    def forward(self, x, mask):
        B, L, D = x.shape
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        score = q @ k.transpose(-2, -1) / math.sqrt(D // self.h)
        score = score.masked_fill(mask, -1e9)
        w = F.softmax(score, dim=-2 if CASE == 4 else -1)
        y = (w @ v).transpose(1, 2).reshape(B, L, D)
        return self.o(y)


class Block(nn.Module):
    def __init__(self, d, heads, post, drop):
        super().__init__()
        self.att = Attention(d, heads)
        self.ff = nn.Sequential(nn.Linear(d, 3 * d), nn.GELU(), nn.Linear(3 * d, d))
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.post, self.drop = post, nn.Dropout(drop)

    def forward(self, x, mask):
        if self.post:
            x = self.n1(x + self.drop(self.att(x, mask)))
            return self.n2(x + self.drop(self.ff(x)))
        x = x + self.drop(self.att(self.n1(x), mask))
        return x + self.drop(self.ff(self.n2(x)))


class GPT(nn.Module):
    def __init__(self, d=40, heads=4, layers=2, post=False, tie=False, drop=0.0, bidirectional=False):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, d)
        self.pos = nn.Parameter(torch.randn(T, d) * 0.02)
        self.blocks = nn.ModuleList([Block(d, heads, post, drop) for _ in range(layers)])
        self.norm = nn.LayerNorm(d)
        self.out = nn.Linear(d, VOCAB, bias=not tie)
        if tie:
            nn.init.normal_(self.tok.weight, std=d ** -0.5)
            self.out.weight = self.tok.weight
        self.tie, self.bidirectional, self.d = tie, bidirectional, d

    def mask(self, x):
        L = x.size(1)
        if CASE == 3:
            pad = (x != PAD)[:, None, None, :]
        else:
            pad = (x == PAD)[:, None, None, :]
        if self.bidirectional:
            return pad
        causal = torch.triu(torch.ones(L, L, dtype=torch.bool), diagonal=2 if CASE == 2 else 1)
        return pad | causal

    def forward(self, x):
        m = self.mask(x)
        h = self.tok(x) * (math.sqrt(self.d) if self.tie else 1.0) + self.pos[:x.size(1)]
        for b in self.blocks:
            h = b(h, m)
        return self.out(self.norm(h))


def lm_loss(logits, target):
    if CASE == 5:
        return F.cross_entropy(logits.reshape(-1, VOCAB), target.reshape(-1))
    return F.cross_entropy(logits.reshape(-1, VOCAB), target.reshape(-1), ignore_index=PAD)


def mlm_batch(x, gen):
    pick = (torch.rand(x.shape, generator=gen) < 0.15) & (x >= 5)
    target = torch.where(pick, x, torch.full_like(x, PAD))
    return torch.where(pick, torch.full_like(x, MASK), x), target


@torch.no_grad()
def evaluate(model, gen):
    model.eval()
    x = sample(256, gen)
    if CASE == 9:
        inp, tgt = mlm_batch(x, gen)
    else:
        inp, tgt = x[:, :-1], x[:, 1:]
    logits = model(inp)
    use = (tgt != PAD)
    if CASE != 9:
        use[:, :2] = False
    acc = (logits.argmax(-1) == tgt)[use].float().mean().item()
    loss = F.cross_entropy(logits[use], tgt[use]).item()
    model.train()
    return loss, acc


@torch.no_grad()
def continue_sequences(model, gen, n=128, start=6, length=6):
    model.eval()
    x = sample(n * 4, gen)
    x = x[(x[:, :start + length] != PAD).all(1)][:n]
    cur = x[:, :start].clone()
    good = []
    for t in range(length):
        nxt = model(cur)[:, -1].argmax(-1)
        step = torch.tensor([1, 3, 4])[(cur[:, 1] - 2)]
        good.append(((cur[:, -1] - 5 + step) % RING + 5 == nxt).float().mean().item())
        cur = torch.cat([cur, nxt[:, None]], 1)
    return sum(good) / len(good)


def main():
    gen = torch.Generator().manual_seed(77 + SEED)
    vgen = torch.Generator().manual_seed(7000 + SEED)
    steps, warm, clip = 320, 40, 1.0
    if CASE in (1, 7):
        model = GPT(post=True)
        steps = 400
    elif CASE == 8:
        model = GPT(tie=True, drop=0.1)
        clip = 0.1
    elif CASE == 9:
        model = GPT(bidirectional=True)
        steps = 480
    else:
        model = GPT()
    opt = torch.optim.Adam(model.parameters(), lr=1.0 if CASE in (1, 7) else 3e-3, betas=(0.9, 0.98), eps=1e-9)
    if CASE in (1, 7):
        factor = 12.0 if CASE == 7 else 0.25
        def rate(s):
            s = s + 1
            return factor * model.d ** -0.5 * min(s ** -0.5, s * 100 ** -1.5)
    else:
        def rate(s):
            return min(1.0, (s + 1) / warm) * (0.5 * (1 + math.cos(math.pi * s / steps)) * 0.9 + 0.1)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, rate)
    for step in range(steps):
        x = sample(32, gen)
        if CASE == 9:
            inp, tgt = mlm_batch(x, gen)
        else:
            inp, tgt = x[:, :-1], x[:, 1:]
        loss = lm_loss(model(inp), tgt)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        opt.step()
        sched.step()
        if step % 80 == 79:
            vl, va = evaluate(model, vgen)
            print(f"step {step + 1}: train {loss.item():.4f} val {vl:.4f} accuracy {va:.4f}")
    if CASE != 9:
        print("continuation accuracy", round(continue_sequences(model, vgen), 4))


if __name__ == "__main__":
    main()
