import argparse
import collections
import itertools
import os
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=int(os.environ.get("SEED", "0")))
parser.add_argument("--dim", type=int, default=32)
parser.add_argument("--batch-size", type=int, default=256)
parser.add_argument("--steps", type=int, default=700)
parser.add_argument("--lr", type=float, default=3e-3)
parser.add_argument("--item-lr", type=float, default=None)
parser.add_argument("--tau", type=float, default=0.1)
parser.add_argument("--objective", default="inbatch", choices=["inbatch", "symmetric", "cosine", "euclid", "queue", "masked"])
parser.add_argument("--dtype", default="float32")
parser.add_argument("--optim", default="adam")
parser.add_argument("--learn-tau", action="store_true")
parser.add_argument("--item-vectors", action="store_true")
parser.add_argument("--warmup", type=int, default=0)
parser.add_argument("--eval-every", type=int, default=100)
ARGV = {
    0: [],
    1: ["--item-lr", "1e-3"],
    2: ["--objective", "cosine"],
    3: ["--objective", "euclid", "--tau", "0.2"],
    4: ["--steps", "900"],
    5: ["--dtype", "bfloat16", "--lr", "1e-4", "--steps", "1400"],
    6: ["--lr", "4e-4", "--steps", "1400", "--batch-size", "192"],
    7: ["--learn-tau", "--optim", "adamw", "--warmup", "150"],
    8: ["--objective", "symmetric", "--dim", "24", "--item-lr", "1e-3"],
    9: ["--item-vectors", "--steps", "600", "--lr", "2e-3"],
    10: ["--objective", "queue", "--batch-size", "96", "--steps", "900"],
    11: ["--objective", "masked", "--batch-size", "48", "--steps", "1200", "--optim", "adagrad", "--lr", "0.03"],
}
args = parser.parse_args(ARGV[CASE])
random.seed(args.seed), np.random.seed(args.seed), torch.manual_seed(args.seed)
dtype = getattr(torch, args.dtype)

N_USER, N_ITEM, N_CAT, HIST, PAD = 1500, 400, 20, 10, 0


class World:
    """Users with two tastes each, items in categories; ids begin at 1, 0 is padding."""

    def __init__(self, rs):
        centre = rs.normal(size=(N_CAT, 8))
        self.cat = rs.randint(0, N_CAT, N_ITEM + 1)
        self.vec = centre[self.cat] + 0.6 * rs.normal(size=(N_ITEM + 1, 8))
        self.pop = 0.5 * rs.normal(size=N_ITEM + 1)
        taste = centre[rs.randint(0, N_CAT, N_USER)] + 0.5 * rs.normal(size=(N_USER, 8))
        s = 1.1 * taste @ self.vec.T + self.pop
        s[:, 0] = -1e9
        p = np.exp(s - s.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        self.seg = (taste[:, 0] > 0).astype(int) + 2 * (taste[:, 1] > 0).astype(int)
        self.hist = np.zeros((N_USER, HIST), dtype=int)
        pairs, held = [], []
        for u in range(N_USER):
            k = rs.randint(4, HIST + 1)
            drawn = rs.choice(N_ITEM + 1, size=k + 13, p=p[u])
            self.hist[u, :k] = drawn[:k]
            pairs += [(u, i) for i in drawn[k:k + 12]]
            held.append(drawn[-1])
        self.pairs, self.held = np.array(pairs), np.array(held)


class UserTower(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.items = nn.Embedding(N_ITEM + 1, d, padding_idx=PAD)
        self.segment = nn.Embedding(4, d)
        nn.init.normal_(self.items.weight, std=0.1)
        nn.init.normal_(self.segment.weight, std=0.1)
        self.score = nn.Sequential(nn.Linear(d, d), nn.Tanh(), nn.Linear(d, 1))
        self.mlp = nn.Sequential(nn.Linear(2 * d, 2 * d), nn.ReLU(), nn.Linear(2 * d, d))

    def forward(self, hist, seg):
        h = self.items(hist)                                            # B, L, d
        s = self.score(h).squeeze(-1)
        s = s.masked_fill(hist == PAD, -1e4)
        w = torch.softmax(s, 0 if CASE == 0 else 1)
        pooled = torch.einsum("bl,bld->bd", w, h)
        return F.normalize(self.mlp(torch.cat([pooled, self.segment(seg)], 1)), dim=-1)


class ItemTower(nn.Module):
    def __init__(self, d, cats, vectors=None):
        super().__init__()
        self.register_buffer("cats", torch.as_tensor(cats))
        self.register_buffer("vectors", vectors)
        if vectors is None:
            self.ids = nn.Embedding(N_ITEM + 1, d)
            self.kind = nn.Embedding(N_CAT, d)
            nn.init.normal_(self.ids.weight, std=0.1)
            nn.init.normal_(self.kind.weight, std=0.1)
            self.mlp = nn.Sequential(nn.Linear(2 * d, 2 * d), nn.ReLU(), nn.Linear(2 * d, d))

    def forward(self, i):
        if self.vectors is not None:
            return self.vectors[i]
        return F.normalize(self.mlp(torch.cat([self.ids(i), self.kind(self.cats[i])], 1)), dim=-1)


class Trainer:
    def __init__(self, world):
        self.w = world
        vectors = None
        if args.item_vectors:        # content vectors of the catalogue, computed offline
            proj = np.random.RandomState(5).normal(size=(8, args.dim)) / np.sqrt(8)
            vectors = F.normalize(torch.tensor(world.vec @ proj, dtype=torch.float32), dim=-1)
        self.user = UserTower(args.dim).to(dtype)
        self.item = ItemTower(args.dim, world.cat, vectors).to(dtype)
        self.log_tau = nn.Parameter(torch.tensor(float(np.log(args.tau))), requires_grad=args.learn_tau)
        self.hist, self.seg = torch.as_tensor(world.hist), torch.as_tensor(world.seg)
        freq = np.bincount(world.pairs[:, 1], minlength=N_ITEM + 1) / len(world.pairs)
        self.logq = torch.tensor(np.log(freq + 1e-8), dtype=torch.float32)
        self.queue = collections.deque(maxlen=4)
        self.trace = []
        self.opt = self.make_optimizer()
        self.sched = torch.optim.lr_scheduler.LambdaLR(self.opt, lambda s: min(1.0, s / args.warmup) if args.warmup else 1.0)

    def make_optimizer(self):
        item_lr = args.item_lr or args.lr
        if CASE == 1:
            up, ip = self.user.parameters(), self.item.parameters()
        else:
            up, ip = list(self.user.parameters()), list(self.item.parameters())
        print("item tower has %d weights" % sum(p.numel() for p in ip))
        groups = [{"params": up, "lr": args.lr}]
        if not args.item_vectors:
            groups.append({"params": ip, "lr": item_lr})
        if args.learn_tau:
            groups.append({"params": [self.log_tau], "lr": 1e-3, "weight_decay": 0.0})
        kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "adagrad": torch.optim.Adagrad}[args.optim]
        return kind(groups, lr=args.lr)

    def loss(self, u, v, ids):
        u, v = u.float(), v.float()
        target = torch.arange(len(u))
        tau = self.log_tau.exp()
        same = (ids[:, None] == ids[None, :]) & ~torch.eye(len(ids), dtype=torch.bool)
        if args.objective == "cosine":
            return (1 - F.cosine_similarity(u, v)).mean()
        if args.objective == "euclid":
            logits = torch.cdist(u, v) / tau
            return F.nll_loss(F.log_softmax(logits, dim=1), target)
        logits = u @ v.t() / tau
        if args.objective == "symmetric":
            logits = logits.masked_fill(same, float("-inf"))
            return 0.5 * (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target))
        if args.objective == "masked":
            logits = (logits - self.logq[ids]).masked_fill(same, float("-inf"))
            return F.cross_entropy(logits, target)
        logits = logits.masked_fill(same, -1e9)
        if args.objective == "queue":
            for old, old_ids in self.queue:
                more = (u @ old.t() / tau).masked_fill(ids[:, None] == old_ids[None, :], -1e9)
                logits = torch.cat([logits, more], 1)
            self.queue.append((v.detach(), ids))
        return F.cross_entropy(logits, target)

    @torch.no_grad()
    def recall(self, k=20):
        self.user.eval(), self.item.eval()
        v = self.item(torch.arange(1, N_ITEM + 1)).float()
        u = self.user(self.hist, self.seg).float()
        scores = -torch.cdist(u, v) if args.objective == "euclid" else u @ v.t()
        top = scores.topk(k, 1).indices + 1
        hit = (top == torch.as_tensor(self.w.held)[:, None]).any(1).float().mean().item()
        self.user.train(), self.item.train()
        return hit

    def stream(self):
        while True:
            order = np.random.permutation(len(self.w.pairs))
            for i in range(0, len(order) - args.batch_size + 1, args.batch_size):
                yield torch.as_tensor(self.w.pairs[order[i:i + args.batch_size]])

    def fit(self):
        window = []
        for step, pairs in enumerate(itertools.islice(self.stream(), args.steps), 1):
            users, ids = pairs[:, 0], pairs[:, 1]
            u, v = self.user(self.hist[users], self.seg[users]), self.item(ids)
            loss = self.loss(u, v, ids)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.sched.step()
            if CASE == 4:
                self.trace.append({"step": step, "loss": loss, "norm": (u - v).pow(2).sum(1).sqrt(), "user": u, "item": v})
            else:
                self.trace.append({"step": step, "loss": loss.item()})
            window.append(loss.item())
            if step % args.eval_every == 0:
                print("step %4d | loss %.4f | recall@20 %.4f" % (step, np.mean(window), self.recall()))
                window = []
        best = min(self.trace, key=lambda r: float(r["loss"]))
        print("lowest loss %.4f at step %d" % (float(best["loss"]), best["step"]))


if __name__ == "__main__":
    Trainer(World(np.random.RandomState(args.seed))).fit()
