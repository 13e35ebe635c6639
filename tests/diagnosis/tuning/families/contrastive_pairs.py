import math
import os
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))


@dataclass
class Config:
    task: str = "clip"
    classes: int = 24
    batch: int = 64
    steps: int = 300
    lr: float = 2e-3
    optimizer: str = "adam"
    weight_decay: float = 0.0
    momentum: float = 0.9
    temperature: float = 0.1
    learn_temperature: bool = False
    dim: int = 16
    loss: str = "infonce"
    warmup: int = 0
    accumulate: int = 1
    norm: bool = True
    freeze_image: bool = False


class World:
    """Objects with hidden attributes; an object is seen as an image vector or as a caption."""

    def __init__(self, rng, attributes=5, values=6, image_dim=40):
        self.rng = rng
        self.attributes, self.values = attributes, values
        self.mix1 = rng.normal(size=(attributes * values, 48)) / math.sqrt(attributes)
        self.mix2 = rng.normal(size=(48, image_dim)) / 4.0

    def objects(self, n):
        return self.rng.randint(0, self.values, size=(n, self.attributes))

    def image(self, obj, noise=0.15):
        onehot = np.eye(self.values)[obj].reshape(len(obj), -1)
        x = np.tanh(onehot @ self.mix1) @ self.mix2
        return torch.tensor(x + noise * self.rng.normal(size=x.shape), dtype=torch.float32)

    def caption(self, obj):
        """A caption names all attributes in any order."""
        words = obj + np.arange(self.attributes) * self.values
        order = np.argsort(self.rng.rand(*words.shape), axis=1)
        return torch.from_numpy(np.take_along_axis(words, order, 1))


class ImageTower(nn.Module):
    def __init__(self, cfg, d_in=40, hidden=96):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(d_in, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.proj = nn.Linear(hidden, cfg.dim)

    def forward(self, x):
        return self.proj(self.body(x))


class TextTower(nn.Module):
    def __init__(self, cfg, vocab=30, hidden=64):
        super().__init__()
        self.emb = nn.Embedding(vocab, hidden)
        self.mlp = nn.Sequential(nn.Linear(hidden, hidden), nn.GELU(), nn.Linear(hidden, cfg.dim))

    def forward(self, tokens):
        return self.mlp(self.emb(tokens).mean(1))


class DualEncoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.image = ImageTower(cfg)
        self.text = TextTower(cfg) if cfg.task == "clip" else None
        t = torch.tensor(math.log(1 / cfg.temperature))
        if cfg.learn_temperature:
            self.log_scale = nn.Parameter(t)
        else:
            self.register_buffer("log_scale", t)

    def embed_image(self, x):
        z = self.image(x)
        return F.normalize(z, dim=-1) if self.cfg.norm else z

    def embed_text(self, t):
        z = self.text(t)
        return F.normalize(z, dim=-1) if self.cfg.norm else z


def clip_loss(model, a, b):
    logits = a @ b.t() * model.log_scale.exp().clamp(max=100)
    target = torch.arange(len(a))
    return 0.5 * (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target))


def ntxent(model, a, b):
    z = torch.cat([a, b])
    sim = z @ z.t() * model.log_scale.exp()
    sim = sim.masked_fill(torch.eye(len(z), dtype=torch.bool), -1e9)
    target = torch.cat([torch.arange(len(a), len(z)), torch.arange(len(a))])
    return F.cross_entropy(sim, target)


def margin_loss(a, b, margin=0.5):
    d = torch.cdist(a, b)
    pos = d.diagonal()
    neg = d + 10.0 * torch.eye(len(a))
    return F.relu(pos - neg.min(1)[0] + margin).mean()


def sigmoid_loss(model, a, b):
    logits = a @ b.t() * model.log_scale.exp() - 5.0
    sign = 2 * torch.eye(len(a)) - 1
    return -F.logsigmoid(sign * logits).sum() / len(a)


def pair_batch(cfg, world, obj):
    if cfg.task == "clip":
        captions = world.caption(obj)
        if CASE == 8:
            captions = torch.stack([captions[0] for _ in range(len(obj))])
        return world.image(obj), captions
    return world.image(obj, 0.3), world.image(obj, 0.3)


def embed_pair(model, cfg, x, t):
    if cfg.task == "clip":
        return model.embed_image(x), model.embed_text(t)
    return model.embed_image(x), model.embed_image(t)


def compute_loss(model, cfg, a, b):
    if cfg.loss == "ntxent":
        return ntxent(model, a, b)
    if cfg.loss == "margin":
        return margin_loss(a, b)
    if cfg.loss == "sigmoid":
        return sigmoid_loss(model, a, b)
    if cfg.loss == "align":
        return (a - b).pow(2).sum(1).mean()
    return clip_loss(model, a, b)


@torch.no_grad()
def retrieval(model, cfg, world, obj):
    model.eval()
    x, t = pair_batch(cfg, world, obj)
    a, b = embed_pair(model, cfg, x, t)
    hit = ((a @ b.t() if cfg.norm else -torch.cdist(a, b)).argmax(1) == torch.arange(len(a))).float().mean().item()
    an = F.normalize(a, dim=-1)
    spread = 1 - (an @ an.t()).mean().item()
    model.train()
    return hit, spread


def train(cfg):
    torch.manual_seed(SEED)
    rng = np.random.RandomState(SEED)
    world = World(rng)
    model = DualEncoder(cfg)
    if cfg.freeze_image:
        for p in model.image.body.parameters():
            p.requires_grad_(False)
    if CASE == 10:
        for p in list(model.image.parameters()) + list(model.text.emb.parameters()):
            p.requires_grad = False
    params = [p for p in model.parameters() if p.requires_grad]
    if cfg.optimizer == "sgd":
        opt = torch.optim.SGD(params, lr=cfg.lr, momentum=cfg.momentum, weight_decay=cfg.weight_decay)
    elif cfg.optimizer == "adamw":
        opt = torch.optim.AdamW(params, lr=cfg.lr, weight_decay=cfg.weight_decay)
    else:
        opt = torch.optim.Adam(params, lr=cfg.lr, weight_decay=cfg.weight_decay)
    pool, test = world.objects(4000), np.unique(world.objects(220), axis=0)[:200]
    losses = []
    for step in range(cfg.steps):
        for group in opt.param_groups:
            group["lr"] = cfg.lr * min(1.0, (step + 1) / max(1, cfg.warmup))
        obj = pool[rng.randint(0, len(pool), size=cfg.batch)]
        x, t = pair_batch(cfg, world, obj)
        a, b = embed_pair(model, cfg, x, t)
        loss = compute_loss(model, cfg, a, b)
        opt.zero_grad()
        loss.backward()
        if CASE != 7:
            opt.step()
        losses.append(loss.item())
        if (step + 1) % (cfg.steps // 5) == 0:
            hit, spread = retrieval(model, cfg, world, test)
            print("step %d loss %.4f retrieval of %d: %.3f spread %.3f"
                  % (step + 1, np.mean(losses[-50:]), len(test), hit, spread))


CONFIGS = {
    0: Config(learn_temperature=True),
    1: Config(task="simclr", loss="ntxent", temperature=0.2, optimizer="adamw", weight_decay=0.01, warmup=60),
    2: Config(loss="margin", lr=2e-3, steps=500),
    3: Config(loss="sigmoid", batch=48, steps=500),
    4: Config(freeze_image=True, optimizer="adam", lr=4e-3, dim=24, steps=400),
    5: Config(task="simclr", loss="align", norm=True, lr=3e-3),
    6: Config(weight_decay=5.0),
    7: Config(),
    8: Config(),
    9: Config(batch=2, steps=300, learn_temperature=True),
    10: Config(),
}

if __name__ == "__main__":
    train(CONFIGS[CASE])
