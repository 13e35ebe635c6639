import os, math
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
CASE = int(os.environ.get('CASE', 0))
SEED = int(os.environ.get('SEED', 0))
torch.manual_seed(SEED)
np.random.seed(SEED)

V, T, D = 12, 16, 32
rs = np.random.RandomState(3)
trans = rs.dirichlet(np.ones(V) * 0.08, size=(V, V))


def markov(n):
    s = [0, 1]
    for _ in range(n):
        s.append(np.random.choice(V, p=trans[s[-2], s[-1]]))
    return torch.tensor(s)


corpus, heldout = markov(16000), markov(2500)


def get_batch(src, bs=32, shift=1):
    ix = torch.randint(0, len(src) - T - 3, (bs,))
    x = torch.stack([src[i:i + T] for i in ix])
    y = torch.stack([src[i + shift:i + shift + T] for i in ix])
    return x, y


class SelfAttention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.c_attn = nn.Linear(d, 3 * d)
        self.c_proj = nn.Linear(d, d)
        self.register_buffer('bias', torch.tril(torch.ones(T, T)).view(1, 1, T, T))

    def forward(self, x):
        B, L, C = x.size()
        q, k, v = self.c_attn(x).split(C, dim=2)
        q, k, v = (z.view(B, L, self.h, C // self.h).transpose(1, 2) for z in (q, k, v))
        att = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
        if CASE != 1:
            att = att.masked_fill(self.bias[:, :, :L, :L] == 0, float('-inf'))
        att = F.softmax(att, dim=-1)
        return self.c_proj((att @ v).transpose(1, 2).contiguous().view(B, L, C))


class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attn = SelfAttention(d, h)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(V, D)
        self.wpe = nn.Embedding(T, D)
        self.h = nn.ModuleList([Block(D, 2) for _ in range(2)])
        self.ln_f = nn.LayerNorm(D)
        self.lm_head = nn.Linear(D, V, bias=False)
        self.lm_head.weight = self.wte.weight
        self.apply(self._init)

    def _init(self, m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            nn.init.normal_(m.weight, std=0.08)
            if getattr(m, 'bias', None) is not None:
                nn.init.zeros_(m.bias)

    def forward(self, idx):
        x = self.wte(idx) + self.wpe(torch.arange(idx.size(1)))
        for blk in self.h:
            x = blk(x)
        return self.lm_head(self.ln_f(x))


def ce(logits, y):
    return F.cross_entropy(logits.reshape(-1, V), y.reshape(-1))


@torch.no_grad()
def next_token_loss(model):
    """loss of the last position only, as in generation"""
    model.eval()
    tot = 0.0
    for _ in range(10):
        x, y = get_batch(heldout, 64)
        tot += F.cross_entropy(model(x)[:, -1].float(), y[:, -1]).item()
    model.train()
    return tot / 10


model = GPT()
steps, lr, accum, clip = 240, 5e-3, 1, 1.0
if CASE == 7:
    accum, clip, steps = 4, 0.05, 120
opt = torch.optim.AdamW(model.parameters(), lr=lr, betas=(0.9, 0.95), weight_decay=0.01)
if CASE == 4:
    model.apply(model._init)
    model = GPT()


def train(steps, shift=1, tag=''):
    for it in range(steps):
        if CASE in (0, 1, 2, 3, 5, 6, 9):
            for pg in opt.param_groups:
                pg['lr'] = lr * min(1.0, (it + 1) / 30) * (0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * it / steps)))
        if CASE != 5 or it % 50 == 0:
            opt.zero_grad()
        for _ in range(accum):
            x, y = get_batch(corpus, 32 if accum == 1 else 16, shift)
            if CASE == 6 and it % 20 == 10:
                x = torch.randint(0, V, x.shape)
            logits = model(x)
            if CASE == 2:
                loss = ce(logits[:, :-1], y[:, 1:])
            elif CASE == 9:
                loss = ce(logits, y) + 1e-4 * (torch.logsumexp(logits, -1) ** 2).mean()
            else:
                loss = ce(logits, y)
            (loss / accum).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        opt.step()
        if it % 50 == 0:
            print(tag, it, 'train', round(loss.item(), 4), 'val', round(next_token_loss(model), 4))


if CASE == 8:
    train(220, tag='pretrain')
    for pg in opt.param_groups:
        pg['lr'] = 1e-5
    train(60, tag='finetune')
elif CASE == 3:
    train(steps, shift=0)
else:
    train(steps)
print('METRIC', round(next_token_loss(model), 4))
