# A very small GPT on shorthand ship-to-shore messages, one message a row.
import copy
import logging
import math
import os
import sys

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)s %(message)s")
log = logging.getLogger("ship_radio")
torch.set_num_threads(1)
torch.manual_seed(SEED)

CONF = dict(block=28, n_layer=2, n_head=4, n_embd=48, dropout=0.0, batch=24, steps=240, lr=3e-3, warmup=25,
            weight_decay=0.05, clip=1.0, accumulate=1, ema=0.0, eval_every=80)
if CASE == 5:
    CONF.update(dropout=0.1, batch=12, accumulate=2, ema=0.96, lr=4e-3, steps=189, eval_every=63)

SHIPS = ["anna", "borea", "cirrus", "delfin", "eider", "fulmar", "gannet", "havn"]
PORTS = ["oslo", "kiel", "gdansk", "riga", "turku", "malmo"]
GOODS = ["timber", "grain", "salt", "coal", "fish", "steel"]
WINDS = ["north", "east", "south", "west"]


def message(rng):
    k = rng.integers(len(SHIPS))
    # a ship mostly sails between two ports and carries two goods
    port = PORTS[(k + (0 if rng.random() < 0.7 else rng.integers(6))) % 6]
    good = GOODS[(k * 5 + rng.integers(2)) % 6]
    wind = rng.integers(4)
    force = int(np.clip(rng.poisson(3 + wind), 1, 9))
    words = ["here", SHIPS[k], "bound", "for", port]
    if rng.random() < 0.7:
        n = rng.integers(1, 10)
        words += ["with", str(n), "holds", "of", good]
    if rng.random() < 0.6:
        words += ["wind", WINDS[wind], "force", str(force)]
        words += ["seeking", "shelter"] if force >= 6 else ["sea", "calm"] if force <= 2 else []
    if rng.random() < 0.4:
        words += ["this", "is", SHIPS[k], "over"]
    else:
        words += ["out"]
    return words


rng = np.random.default_rng(7 + SEED)
texts = [message(rng) for _ in range(2600)]
vocab = ["<pad>", "<s>", "</s>"] + sorted({w for t in texts for w in t})
stoi = {w: i for i, w in enumerate(vocab)}
rows = np.zeros((len(texts), CONF["block"] + 2), dtype=np.int64)
for i, t in enumerate(texts):
    ids = [1] + [stoi[w] for w in t] + [2]
    rows[i, :len(ids)] = ids
rows = torch.from_numpy(rows)
train_rows, val_rows = rows[:2200], rows[2200:]


def get_batch(split, step):
    data = train_rows if split == "train" else val_rows
    if CASE == 4:
        torch.manual_seed(SEED)
    pick = torch.randint(len(data), (CONF["batch"],))
    b = data[pick]
    if CASE == 2:
        return b[:, :-2], b[:, 2:]
    return b[:, :-1], b[:, 1:]


class Attention(nn.Module):
    def __init__(self, d, heads, drop):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(d, 3 * d)
        self.proj = nn.Linear(d, d)
        self.drop = nn.Dropout(drop)
        ones = torch.ones(CONF["block"] + 2, CONF["block"] + 2)
        self.register_buffer("mask", torch.tril(ones) if CASE != 1 else torch.triu(ones))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (z.view(B, T, self.heads, -1).transpose(1, 2) for z in self.qkv(x).split(C, 2))
        w = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        w = w.masked_fill(self.mask[:T, :T] == 0, float("-inf")).softmax(-1)
        return self.proj((self.drop(w) @ v).transpose(1, 2).reshape(B, T, C))


class Layer(nn.Module):
    def __init__(self, d, heads, drop):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.att = Attention(d, heads, drop)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d), nn.Dropout(drop))

    def forward(self, x):
        x = x + self.att(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, n_vocab, d):
        super().__init__()
        self.tok = nn.Embedding(n_vocab, d)
        self.pos = nn.Parameter(torch.zeros(1, CONF["block"] + 2, d))
        self.layers = nn.ModuleList(Layer(d, CONF["n_head"], CONF["dropout"]) for _ in range(CONF["n_layer"]))
        self.ln = nn.LayerNorm(d)
        self.head = nn.Linear(d, n_vocab, bias=False)
        self.head.weight = self.tok.weight
        self.apply(self._init)

    def _init(self, m):
        std = 0.02 if CASE != 6 else 1.0
        if isinstance(m, (nn.Linear, nn.Embedding)):
            nn.init.normal_(m.weight, 0.0, std)
        if isinstance(m, nn.Linear) and m.bias is not None:
            nn.init.zeros_(m.bias)

    def forward(self, idx, targets=None):
        x = self.tok(idx) + self.pos[:, :idx.size(1)]
        for layer in self.layers:
            x = layer(x)
        logits = self.head(self.ln(x))
        if targets is None:
            return logits, None
        flat, tgt = logits.reshape(-1, logits.size(-1)), targets.reshape(-1)
        if CASE == 3:
            return logits, F.cross_entropy(flat, tgt)
        return logits, F.cross_entropy(flat, tgt, ignore_index=0)


@torch.no_grad()
def estimate(net, n=8):
    net.eval()
    out = np.mean([net(*get_batch("val", 0))[1].item() for _ in range(n)])
    net.train()
    return out


@torch.no_grad()
def sample(net):
    net.eval()
    ids = torch.tensor([[1]])
    for _ in range(CONF["block"] - 2):
        logits, _ = net(ids)
        nxt = torch.multinomial(logits[:, -1].softmax(-1), 1)
        ids = torch.cat([ids, nxt], 1)
        if nxt.item() == 2:
            break
    net.train()
    return " ".join(vocab[i] for i in ids[0].tolist()[1:])


def lr_at(step):
    if step < CONF["warmup"]:
        return CONF["lr"] * (step + 1) / CONF["warmup"]
    p = (step - CONF["warmup"]) / (CONF["steps"] - CONF["warmup"])
    return CONF["lr"] * (0.1 + 0.45 * (1 + math.cos(math.pi * p)))


net = GPT(len(vocab), CONF["n_embd"])
ema_net = copy.deepcopy(net) if CONF["ema"] else None
decay = [p for p in net.parameters() if p.dim() >= 2]
rest = [p for p in net.parameters() if p.dim() < 2]
opt = torch.optim.AdamW([{"params": decay, "weight_decay": CONF["weight_decay"]}, {"params": rest, "weight_decay": 0.0}],
                        lr=CONF["lr"], betas=(0.9, 0.95))
log.info("vocabulary %d, parameters %d", len(vocab), sum(p.numel() for p in net.parameters()))

for step in range(CONF["steps"]):
    for group in opt.param_groups:
        group["lr"] = lr_at(step)
    opt.zero_grad(set_to_none=True)
    total = 0.0
    for _ in range(CONF["accumulate"]):
        x, y = get_batch("train", step)
        _, loss = net(x, y)
        (loss / CONF["accumulate"]).backward()
        total += loss.item() / CONF["accumulate"]
    nn.utils.clip_grad_norm_(net.parameters(), CONF["clip"])
    opt.step()
    if ema_net is not None:
        with torch.no_grad():
            for a, b in zip(ema_net.parameters(), net.parameters()):
                a.lerp_(b, 1 - CONF["ema"])
    if step % 20 == 0:
        log.info("step %d loss %.4f lr %.2e", step, total, lr_at(step))
    if (step + 1) % CONF["eval_every"] == 0:
        shown = ema_net if ema_net is not None else net
        v = estimate(shown)
        log.info("step %d validation %.4f perplexity %.2f", step + 1, v, math.exp(min(v, 20)))
        log.info("sample: %s", sample(shown))
