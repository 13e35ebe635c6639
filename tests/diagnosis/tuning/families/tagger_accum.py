# Sequence tagger: small micro-batches, several of them per update, mixed or double precision, a schedule counted in updates.
import math
import os
import contextlib
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)

VOCAB, TAGS, PAD = 18, 7, 0


class HP:
    width, layers, drop, act = 48, 2, 0.0, "gelu"
    norm = "layer"            # layer | rms
    precision = "autocast"    # autocast | double | single | half | master
    optim, lr, wd, mom = "adamw", 3e-3, 0.01, 0.9
    micro, accum, updates, warmup = 8, 4, 400, 40
    schedule = "cosine"       # cosine | linear | constant
    clip = 1.0
    scale = 1.0
    norm_by = "mean"          # mean | tokens
    order = 0


hp = HP()
if CASE == 0:
    hp.precision, hp.optim, hp.lr, hp.scale, hp.accum, hp.schedule = "autocast", "sgd", 0.3, 256.0, 3, "linear"
    hp.order = 1
elif CASE == 1:
    hp.precision, hp.schedule = "autocast", "cosine"
elif CASE == 2:
    hp.precision, hp.clip, hp.lr, hp.accum, hp.warmup = "master", None, 2e-3, 2, 20
    hp.order = 2
elif CASE == 3:
    hp.precision, hp.optim, hp.lr, hp.micro, hp.accum, hp.act = "double", "sgd", 0.2, 2, 8, "relu"
elif CASE == 4:
    hp.precision, hp.clip, hp.lr, hp.accum, hp.updates, hp.schedule = "master", None, 2e-3, 2, 600, "linear"
elif CASE == 5:
    hp.precision, hp.optim, hp.lr, hp.accum, hp.updates, hp.schedule = "single", "sgd", 0.1, 8, 300, "cosine"
    hp.order = 3
elif CASE == 6:
    hp.precision, hp.optim, hp.lr, hp.scale, hp.accum, hp.act = "autocast", "sgd", 0.3, 1024.0, 3, "silu"
    hp.schedule = "linear"
elif CASE == 7:
    hp.precision, hp.accum, hp.updates, hp.schedule, hp.lr = "double", 5, 300, "linear", 2e-3
    hp.order = 4
elif CASE == 8:
    hp.precision, hp.norm_by, hp.drop, hp.micro, hp.accum, hp.updates = "single", "tokens", 0.15, 1, 12, 350
    hp.width, hp.clip = 72, 0.5
elif CASE == 9:
    hp.precision, hp.optim, hp.lr, hp.accum, hp.updates, hp.schedule = "half", "adamw", 1.8e-4, 2, 560, "constant"
    hp.micro = 12
elif CASE == 10:
    hp.precision, hp.norm, hp.schedule, hp.lr, hp.optim, hp.updates, hp.warmup = "double", "rms", "constant", 1.5e-3, "adam", 300, 0
    hp.accum = 3
elif CASE == 11:
    hp.precision, hp.norm, hp.schedule, hp.lr, hp.accum = "autocast", "rms", "cosine", 2e-3, 3
    hp.order = 5

g_task = torch.Generator().manual_seed(77 + SEED)
TABLE = torch.randint(0, TAGS, (VOCAB, VOCAB), generator=g_task)


def batch(n, gen):
    lengths = torch.randint(6, 25, (n,), generator=gen)
    x = torch.randint(1, VOCAB, (n, 24), generator=gen)
    prev = torch.cat([torch.ones(n, 1, dtype=torch.long), x[:, :-1]], 1)
    y = TABLE[prev, x]
    slip = torch.rand(n, 24, generator=gen) < 0.03
    y = torch.where(slip, torch.randint(0, TAGS, (n, 24), generator=gen), y)
    gone = torch.arange(24)[None] >= lengths[:, None]
    return x.masked_fill(gone, PAD), y.masked_fill(gone, -100)


class Rms(nn.Module):
    def __init__(self, d, eps):
        super().__init__()
        self.g, self.eps = nn.Parameter(torch.ones(d)), eps

    def forward(self, x):
        return x / (x.pow(2).mean(-1, keepdim=True) + self.eps).sqrt() * self.g


def make_norm(d):
    if hp.norm == "rms":
        return Rms(d, 1e-6 if hp.order != 5 else 0.0)
    return nn.LayerNorm(d)


class Mix(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = make_norm(d)
        self.conv = nn.Conv1d(d, 2 * d, 2)
        self.out = nn.Linear(2 * d, d)
        self.act = {"gelu": F.gelu, "relu": F.relu, "silu": F.silu}[hp.act]

    def forward(self, x):
        h = F.pad(self.norm(x).transpose(1, 2), (1, 0))
        h = self.act(self.conv(h).transpose(1, 2))
        return x + F.dropout(self.out(h), hp.drop, self.training)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, hp.width, padding_idx=PAD)
        self.mixes = nn.ModuleList([Mix(hp.width) for _ in range(hp.layers)])
        self.norm = make_norm(hp.width)
        self.tag = nn.Linear(hp.width, TAGS)

    def forward(self, x):
        h = self.emb(x)
        for m in self.mixes:
            h = m(h)
        return self.tag(self.norm(h))


def lr_at(step):
    if step < hp.warmup:
        return (step + 1) / hp.warmup
    t = min(1.0, (step - hp.warmup) / max(1, hp.updates - hp.warmup))
    return {"cosine": 0.5 * (1 + math.cos(math.pi * t)), "linear": 1 - t, "constant": 1.0}[hp.schedule]


model = Tagger()
if hp.precision == "double":
    model = model.double()
if hp.precision in ("half", "master"):
    model = model.bfloat16()
weights = list(model.parameters())
if hp.precision == "master":
    stepped = [nn.Parameter(p.detach().float()) for p in weights]
else:
    stepped = weights

if hp.optim == "sgd":
    opt = torch.optim.SGD(stepped, lr=hp.lr, momentum=hp.mom, nesterov=True)
elif hp.optim == "adam":
    opt = torch.optim.Adam(stepped, lr=hp.lr)
else:
    opt = torch.optim.AdamW(stepped, lr=hp.lr, weight_decay=hp.wd)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lr_at)


def context():
    if hp.precision == "autocast":
        return torch.autocast("cpu", dtype=torch.bfloat16)
    return contextlib.nullcontext()


def loss_of(x, y, reduction):
    with context():
        out = model(x)
    out = out if hp.precision == "double" else out.float()
    return F.cross_entropy(out.flatten(0, 1), y.flatten(), ignore_index=-100, reduction=reduction)


def clear():
    if hp.precision == "master" and hp.order != 2:
        for p in weights:
            p.grad = None
    opt.zero_grad()


def evaluate(gen):
    model.eval()
    with torch.no_grad(), context():
        x, y = batch(200, gen)
        hit = (model(x).argmax(-1) == y)[y != -100]
    model.train()
    return hit.float().mean().item()


train_gen = torch.Generator().manual_seed(SEED + 1)
for update in range(hp.updates):
    micros = [batch(hp.micro, train_gen) for _ in range(hp.accum)]
    tokens = sum(int((y != -100).sum()) for _, y in micros)
    clear()
    shown = 0.0
    for x, y in micros:
        if hp.order == 3:
            clear()
        if hp.norm_by == "tokens":
            loss = loss_of(x, y, "sum") / tokens
        else:
            loss = loss_of(x, y, "mean") / hp.accum
        (loss * hp.scale).backward()
        shown += loss.item()
        if hp.order == 4:
            sched.step()

    if hp.precision == "master":
        for m, p in zip(stepped, weights):
            m.grad = p.grad.float()
    if hp.scale != 1.0 and hp.order != 1:
        for p in stepped:
            p.grad.div_(hp.scale)
    if hp.clip:
        nn.utils.clip_grad_norm_(stepped, hp.clip)
    if hp.scale != 1.0 and hp.order == 1:
        for p in stepped:
            p.grad.div_(hp.scale)
    opt.step()
    if hp.precision == "master":
        with torch.no_grad():
            for m, p in zip(stepped, weights):
                p.copy_(m)
    if hp.order != 4:
        sched.step()
    if update % 50 == 0 or update == hp.updates - 1:
        print(f"update {update:4d} loss {shown:.4f} lr {opt.param_groups[0]['lr']:.2e}")

print("tag accuracy: %.3f" % evaluate(torch.Generator().manual_seed(999)))
