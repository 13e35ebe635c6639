# Masked autoencoder on patches of small synthetic images (crossing waves), pre-training only.
import math
import os
import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
torch.set_num_threads(1)

parser = argparse.ArgumentParser()
parser.add_argument("--side", type=int, default=16)
parser.add_argument("--patch", type=int, default=4)
parser.add_argument("--dim", type=int, default={3: 40, 6: 48, 9: 32, 8: 32}.get(CASE, 36))
parser.add_argument("--depth", type=int, default={6: 2, 4: 2, 10: 1, 7: 1}.get(CASE, 1))
parser.add_argument("--mask", type=float, default={6: 0.6}.get(CASE, 0.5))
parser.add_argument("--batch", type=int, default={6: 24, 9: 40, 8: 40, 3: 48}.get(CASE, 32))
parser.add_argument("--steps", type=int, default=700)
args = parser.parse_args([])
P, S = args.patch, args.side
N = (S // P) ** 2


def images(n):
    yy, xx = torch.meshgrid(torch.arange(S).float(), torch.arange(S).float(), indexing="ij")
    out = torch.zeros(n, S, S)
    for _ in range(1):
        k = 0.2 + 0.25 * torch.rand(n, 1, 1)
        a = torch.rand(n, 1, 1) * math.pi
        ph = torch.rand(n, 1, 1) * 2 * math.pi
        out += (0.5 + 0.5 * torch.rand(n, 1, 1)) * torch.sin(k * (xx * a.cos() + yy * a.sin()) + ph)
    return out + 0.05 * torch.randn(n, S, S)


def patchify(im):
    b = im.shape[0]
    return im.view(b, S // P, P, S // P, P).permute(0, 1, 3, 2, 4).reshape(b, N, P * P)


class Block(nn.Module):
    def __init__(self, d, heads=2):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attn = nn.MultiheadAttention(d, heads, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))

    def forward(self, x, pad=None):
        h = self.n1(x)
        x = x + self.attn(h, h, h, key_padding_mask=pad, need_weights=False)[0]
        return x + self.ff(self.n2(x))


class MAE(nn.Module):
    def __init__(self, d, depth):
        super().__init__()
        self.embed = nn.Linear(P * P, d)
        self.pos = nn.Parameter(0.02 * torch.randn(1, N, d))
        self.pos_dec = nn.Parameter(0.02 * torch.randn(1, N, d))
        self.mask_token = nn.Parameter(0.02 * torch.randn(1, 1, d))
        stages = {"enc": [Block(d) for _ in range(depth)], "dec": [Block(d) for _ in range(depth)]}
        if CASE == 4:
            self.stages = stages
        else:
            self.stages = nn.ModuleDict({k: nn.ModuleList(v) for k, v in stages.items()})
        self.norm = nn.LayerNorm(d)
        self.out = nn.Linear(d, P * P)

    def order(self, b):
        """A random order of the patches for every image; the first ones stay visible."""
        if CASE == 1:
            g = torch.Generator().manual_seed(42)
            noise = torch.rand(1, N, generator=g).expand(b, N)
        else:
            noise = torch.rand(b, N)
        return noise.argsort(1)

    def forward(self, patches, ratio, order=None, present=None):
        """present: (B, N) true where the image has a patch (images may be smaller than the canvas)."""
        b = patches.shape[0]
        if order is None:
            order = self.order(b)
        keep = N - int(N * ratio)
        back = order.argsort(1)
        mask = torch.ones(b, N)
        mask[:, :keep] = 0
        mask = mask.gather(1, back)

        x = self.embed(patches) + self.pos
        d = x.shape[-1]
        if CASE in (7, 10):
            # dense encoder: hidden patches become mask tokens instead of being dropped
            if CASE == 7:
                tokens = x + mask.unsqueeze(-1) * self.mask_token
            else:
                tokens = torch.where(mask.unsqueeze(-1).bool(), self.mask_token + self.pos, x)
            for blk in self.stages["enc"]:
                tokens = blk(tokens)
            y = tokens + self.pos_dec
            for blk in self.stages["dec"]:
                y = blk(y)
            return self.out(self.norm(y)), mask

        pad = None
        if present is not None:
            pad = present if CASE == 9 else ~present
        vis = order[:, :keep]
        tokens = x.gather(1, vis.unsqueeze(-1).expand(-1, -1, d))
        vpad = pad.gather(1, vis) if pad is not None else None
        for blk in self.stages["enc"]:
            tokens = blk(tokens, vpad)
        full = torch.cat([tokens, self.mask_token.expand(b, N - keep, d)], 1)
        full = full.gather(1, back.unsqueeze(-1).expand(-1, -1, d)) + self.pos_dec
        for blk in self.stages["dec"]:
            full = blk(full, pad)
        return self.out(self.norm(full)), mask


def masked_mse(pred, target, mask):
    loss = ((pred - target) ** 2).mean(-1)
    return (loss * mask).sum() / mask.sum()


def canvas(n):
    """Images of different heights on one canvas: the lower rows of patches may be missing."""
    rows = torch.randint(2, S // P, (n,))
    grid = torch.arange(N).view(1, N) // (S // P)
    return grid < rows.view(-1, 1)


train_x, test_x = patchify(images(3000)), patchify(images(400))
mean, std = train_x.mean(), train_x.std()
train_x, test_x = (train_x - mean) / std, (test_x - mean) / std
goal = (lambda z: 127.5 + 60.0 * z) if CASE == 2 else (lambda z: z)     # what the decoder draws
sizes = CASE in (8, 9)
if sizes:
    train_p, test_p = canvas(len(train_x)), canvas(len(test_x))
    train_x, test_x = train_x * train_p.unsqueeze(-1), test_x * test_p.unsqueeze(-1)

model = MAE(args.dim, args.depth)
dtype = torch.float32
lr = {0: 2e-3, 2: 1e-3, 3: 1e-3, 8: 1.5e-3, 9: 1.5e-3, 11: 3e-4, 5: 3e-4}.get(CASE, 2e-3)
scale = 1.0
if CASE == 5:
    dtype = torch.bfloat16
    model = model.to(dtype)
if CASE == 3:
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    scale = 256.0
elif CASE in (6, 11, 5):
    opt = torch.optim.AdamW(model.parameters(), lr=lr, betas=(0.9, 0.95), weight_decay=0.05)
else:
    opt = torch.optim.Adam(model.parameters(), lr=lr)
sched = None
if CASE in (0, 6, 10):
    sched = torch.optim.lr_scheduler.LambdaLR(
        opt, lambda k: min(k / 80, 1.0) * 0.5 * (1 + math.cos(math.pi * k / args.steps)))
if CASE == 11:
    args.steps = 800


def order_for(present):
    noise = torch.rand(len(present), N)
    noise[:, 0] = -1.0        # the corners are always visible
    noise[:, -1] = -1.0
    return noise.argsort(1)


@torch.no_grad()
def evaluate():
    model.eval()
    if sizes:
        pred, mask = model(test_x, args.mask, order_for(test_p), test_p)
        mask = mask * test_p
    else:
        pred, mask = model(test_x.to(dtype), args.mask, order=torch.rand(len(test_x), N).argsort(1))
        pred = pred.float()
    model.train()
    return masked_mse(pred, goal(test_x), mask).item()


print("parameters", sum(p.numel() for p in model.parameters()))
model.train()
for step in range(args.steps):
    idx = torch.randint(0, len(train_x), (args.batch,))
    x = train_x[idx]
    if sizes:
        present = train_p[idx]
        pred, mask = model(x, args.mask, order_for(present), present)
        loss = masked_mse(pred, x, mask * present)
    else:
        pred, mask = model(x.to(dtype), args.mask)
        loss = masked_mse(pred.float(), goal(x), mask)
    opt.zero_grad()
    (loss * scale).backward()
    if CASE == 3:
        for p in model.parameters():
            p.grad.div_(scale)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    if sched is not None:
        sched.step()
    if (step + 1) % 100 == 0:
        print(f"step {step + 1} loss {loss.item():.4f} test {evaluate():.4f} lr {opt.param_groups[0]['lr']:.1e}")
