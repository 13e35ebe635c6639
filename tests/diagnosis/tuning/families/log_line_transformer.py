"""Log windows: does a request that was opened stay without a close? Small transformer encoder with padding mask and warm-up."""
import os
import random
from dataclasses import dataclass
import torch
import torch.nn as nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))


@dataclass
class Cfg:
    d: int = 24
    heads: int = 4
    layers: int = 2
    lr: float = 3e-3
    warmup: int = 60
    steps: int = 320
    batch: int = 32
    max_len: int = 16


def window(rnd):
    """tokens 1..5 open request k, 6..10 close request k, 11..20 other lines"""
    n = rnd.randint(8, 16)
    t = [rnd.randint(11, 20) for _ in range(n)]
    reqs = rnd.sample(range(5), rnd.randint(1, 3))
    slots = sorted(rnd.sample(range(n), 2 * len(reqs)))
    rnd.shuffle(slots)
    lost = rnd.random() < 0.5
    bad = rnd.choice(reqs)
    for i, r in enumerate(reqs):
        a, b = sorted(slots[2 * i:2 * i + 2])
        t[a] = 1 + r
        if not (lost and r == bad):
            t[b] = 6 + r
        elif rnd.random() < 0.5:
            t[b] = 6 + rnd.choice([q for q in range(5) if q not in reqs])   # a close of something else
    y = int(lost)
    if rnd.random() < 0.03:
        y = 1 - y
    return t, y


def tensors(items, L):
    x = torch.zeros(len(items), L, dtype=torch.long)
    for i, (t, _) in enumerate(items):
        x[i, :len(t)] = torch.tensor(t)
    return x, torch.tensor([y for _, y in items])


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.tok, self.pos = nn.Embedding(21, c.d, padding_idx=0), nn.Parameter(0.02 * torch.randn(c.max_len, c.d))
        layer = nn.TransformerEncoderLayer(c.d, c.heads, 2 * c.d, dropout=0.05, batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, c.layers, enable_nested_tensor=False)
        self.norm, self.fc = nn.LayerNorm(c.d), nn.Linear(c.d, 2)

    def forward(self, x):
        pad = x == 0
        h = self.norm(self.enc(self.tok(x) + self.pos, src_key_padding_mask=pad))
        return self.fc(h.masked_fill(pad[..., None], -1e4).amax(1))


def main(c):
    rnd = random.Random(SEED)
    torch.manual_seed(SEED)
    xtr, ytr = tensors([window(rnd) for _ in range(6000)], c.max_len)
    xva, yva = tensors([window(rnd) for _ in range(500)], c.max_len)
    net = Model(c)
    opt = torch.optim.AdamW(net.parameters(), lr=c.lr, weight_decay=0.01)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1, (s + 1) / c.warmup) * max(0.03, 1 - max(0, s - c.warmup) / (c.steps - c.warmup)))
    for step in range(1, c.steps + 1):
        net.train()
        j = torch.randint(len(xtr), (c.batch,))
        loss = nn.functional.cross_entropy(net(xtr[j]), ytr[j])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        sched.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f} lr {sched.get_last_lr()[0]:.5f}")
        if step % 40 == 0:
            net.eval()
            with torch.no_grad():
                z = net(xva)
                print(f"   valid loss {nn.functional.cross_entropy(z, yva):.4f} acc {(z.argmax(1) == yva).float().mean():.4f}")


if __name__ == "__main__":
    main(Cfg())
