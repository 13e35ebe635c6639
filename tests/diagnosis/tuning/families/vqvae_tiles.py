"""VQ-VAE on procedurally drawn 16x16 tiles."""
import math
import os
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
np.random.seed(SEED)


@dataclass
class Config:
    steps: int = 320
    batch: int = 64
    hidden: int = 24
    dim: int = 16
    codes: int = 64
    beta: float = 0.25
    lr: float = 2e-3
    ema: bool = False
    restart_every: int = 0
    restart_below: float = 0.02
    code_init: str = "batch"
    norm: bool = False
    act: type = nn.ReLU
    head: str = "linear"
    loss: str = "mse"
    optim: str = "adam"
    warmup: int = 0
    cosine: bool = False
    accumulate: int = 1
    second_stage: int = 0
    noise: float = 0.0


CONFIGS = {
    0: Config(),
    1: Config(dim=12, beta=0.5),
    2: Config(ema=True, restart_every=40, codes=96),
    3: Config(code_init="normal", codes=128, dim=32),
    4: Config(optim="adamw", cosine=True, lr=3e-3, hidden=20),
    5: Config(optim="adamw", warmup=100, cosine=True, lr=3e-3, act=nn.SiLU),
    6: Config(head="sigmoid", steps=160, codes=48),
    7: Config(batch=12, accumulate=4, norm=True, act=nn.LeakyReLU, lr=2.5e-3),
    8: Config(ema=True, restart_every=1, restart_below=1.0, codes=24),
    9: Config(optim="split", lr=1e-3, codes=48),
    10: Config(steps=300, second_stage=100, lr=2e-3, dim=12),
    11: Config(head="sigmoid", loss="bce_sum", act=nn.GELU, beta=0.25, batch=48, lr=2e-3, optim="adamw"),
}
cfg = CONFIGS[CASE]


def draw(n, rng):
    yy, xx = np.mgrid[0:16, 0:16].astype(np.float32)
    out = np.zeros((n, 16, 16), np.float32)
    for i in range(n):
        a = rng.uniform(0, np.pi)
        off = rng.uniform(-4, 4)
        d = np.abs((xx - 7.5) * np.cos(a) + (yy - 7.5) * np.sin(a) - off)
        img = 0.8 * np.exp(-(d / 1.3) ** 2)
        cx, cy, r = rng.uniform(3, 13), rng.uniform(3, 13), rng.uniform(1.5, 3.0)
        blob = ((xx - cx) ** 2 + (yy - cy) ** 2) < r * r
        img = np.where(blob, rng.uniform(0.5, 1.0), img)
        out[i] = img
    return torch.from_numpy((np.clip(out, 0, 1) * 255).round()).unsqueeze(1)


rng = np.random.RandomState(SEED + 7)
train_u8 = draw(1500, rng)
test_u8 = draw(256, rng)

if cfg.loss == "bce_sum":
    def to_model(x): return x / 255.0
else:
    def to_model(x): return x / 127.5 - 1.0


class Res(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.body = nn.Sequential(cfg.act(), nn.Conv2d(c, c, 3, 1, 1), cfg.act(), nn.Conv2d(c, c, 1))

    def forward(self, x):
        return x + self.body(x)


def norm(c):
    return nn.GroupNorm(4, c) if cfg.norm else nn.Identity()


class Quantizer(nn.Module):
    def __init__(self, k, d):
        super().__init__()
        self.k, self.d = k, d
        e = torch.randn(k, d)
        if cfg.ema:
            self.register_buffer("codes", e)
            self.register_buffer("count", torch.ones(k))
            self.register_buffer("total", self.codes.clone())
        else:
            self.codes = nn.Parameter(e)
        self.seen = 0

    def update(self, flat, idx):
        hot = F.one_hot(idx, self.k).float()
        if CASE == 8:
            n = hot.mean(0)
            s = hot.t() @ flat / flat.shape[0]
        else:
            n = hot.sum(0)
            s = hot.t() @ flat
        self.count.mul_(0.95).add_(n, alpha=0.05)
        self.total.mul_(0.95).add_(s, alpha=0.05)
        self.codes.copy_(self.total / (self.count + 1e-5).unsqueeze(1))
        self.seen += 1
        if cfg.restart_every and self.seen % cfg.restart_every == 0:
            idle = self.count < cfg.restart_below
            pick = flat[torch.randint(0, flat.shape[0], (self.k,))]
            self.codes[idle] = pick[idle]
            self.total[idle] = (pick * self.count.unsqueeze(1))[idle]
            if CASE != 8:
                self.count[idle] = 1.0
                self.total[idle] = pick[idle]

    def forward(self, z):
        b, d, h, w = z.shape
        flat = z.permute(0, 2, 3, 1).reshape(-1, d)
        dist = flat.pow(2).sum(1, keepdim=True) - 2 * flat @ self.codes.t() + self.codes.pow(2).sum(1)
        idx = dist.argmin(1)
        q = F.embedding(idx, self.codes).view(b, h, w, d).permute(0, 3, 1, 2)
        if cfg.ema:
            if self.training and torch.is_grad_enabled():
                with torch.no_grad():
                    self.update(flat.detach(), idx)
            loss = cfg.beta * F.mse_loss(z, q.detach())
            out = z + (q - z).detach()
        elif CASE == 1:
            out = z + (q - z).detach()
            loss = F.mse_loss(out.detach(), z) + cfg.beta * F.mse_loss(z, q.detach())
        else:
            loss = F.mse_loss(q, z.detach()) + cfg.beta * F.mse_loss(z, q.detach())
            out = z + (q - z).detach()
        usage = torch.bincount(idx, minlength=self.k).float() / idx.numel()
        ppl = torch.exp(-(usage * (usage + 1e-10).log()).sum())
        return out, loss, ppl


class VQVAE(nn.Module):
    def __init__(self):
        super().__init__()
        c = cfg.hidden
        self.encoder = nn.Sequential(
            nn.Conv2d(1, c, 4, 2, 1), norm(c), cfg.act(),
            nn.Conv2d(c, c, 4, 2, 1), norm(c), Res(c), cfg.act(), nn.Conv2d(c, cfg.dim, 1))
        self.vq = Quantizer(cfg.codes, cfg.dim)
        self.decoder = nn.Sequential(
            nn.Conv2d(cfg.dim, c, 3, 1, 1), Res(c), cfg.act(),
            nn.ConvTranspose2d(c, c, 4, 2, 1), norm(c), cfg.act(),
            nn.ConvTranspose2d(c, 1, 4, 2, 1))

    def forward(self, x):
        q, vq_loss, ppl = self.vq(self.encoder(x))
        y = self.decoder(q)
        if cfg.head == "sigmoid" and cfg.loss != "bce_sum":
            y = torch.sigmoid(y)
        return y, vq_loss, ppl


def recon_loss(y, x):
    if cfg.loss == "bce_sum":
        return F.binary_cross_entropy_with_logits(y, x, reduction="sum") / x.shape[0] / 64
    return F.mse_loss(y, x)


@torch.no_grad()
def evaluate(model):
    model.eval()
    raw = test_u8
    if CASE == 4:
        x = raw / 255.0
    else:
        x = to_model(raw)
    y, _, ppl = model(x)
    if cfg.loss == "bce_sum":
        y = torch.sigmoid(y)
    err = (y - x).pow(2).mean() / x.var(0, unbiased=False).mean()
    model.train()
    return err.item(), ppl.item()


model = VQVAE()
if cfg.code_init == "batch":
    with torch.no_grad():
        z = model.encoder(to_model(train_u8[:128])).permute(0, 2, 3, 1).reshape(-1, cfg.dim)
        model.vq.codes.copy_(z[torch.randperm(z.shape[0])[:cfg.codes]])
        if cfg.ema:
            model.vq.total.copy_(model.vq.codes)
if cfg.optim == "split":
    opts = [torch.optim.Adam(list(model.encoder.parameters()) + list(model.decoder.parameters()), lr=cfg.lr),
            torch.optim.Adam(model.vq.parameters(), lr=cfg.lr)]
elif cfg.optim == "adamw":
    opts = [torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=0.01)]
else:
    opts = [torch.optim.Adam(model.parameters(), lr=cfg.lr)]


def factor(step):
    f = min(1.0, step / cfg.warmup) if cfg.warmup else 1.0
    if cfg.cosine:
        f *= 0.5 * (1 + math.cos(math.pi * min(1.0, step / cfg.steps)))
    return f


scheds = [torch.optim.lr_scheduler.LambdaLR(o, factor) for o in opts]

for step in range(cfg.steps):
    for k in range(cfg.accumulate):
        idx = torch.randint(0, train_u8.shape[0], (cfg.batch,))
        x = to_model(train_u8[idx])
        y, vq_loss, ppl = model(x)
        rec = recon_loss(y, x)
        loss = rec + vq_loss
        if k == 0:
            if cfg.optim == "split":
                opts[1].zero_grad()
            else:
                opts[0].zero_grad()
        (loss / cfg.accumulate).backward()
    for o, s in zip(opts, scheds):
        o.step()
        s.step()
    if step % 100 == 0 or step == cfg.steps - 1:
        err, p = evaluate(model)
        print(f"step {step:4d}  recon {rec.item():.4f}  vq {vq_loss.item():.4f}  "
              f"ppl {ppl.item():.1f}  | test rel.err {err:.3f} ppl {p:.1f}")

if cfg.second_stage:
    for p in list(model.encoder.parameters()) + list(model.vq.parameters()):
        p.requires_grad_(False)
    opt = torch.optim.Adam(model.decoder.parameters(), lr=4e-4)
    for step in range(cfg.second_stage):
        x = to_model(train_u8[torch.randint(0, train_u8.shape[0], (cfg.batch,))])
        y, _, _ = model(x)
        rec = recon_loss(y, x)
        opt.zero_grad()
        rec.backward()
        opt.step()
        if step % 50 == 0:
            print(f"decoder stage {step:4d}  recon {rec.item():.4f}")

print("final test rel.err %.3f  perplexity %.1f" % evaluate(model))
