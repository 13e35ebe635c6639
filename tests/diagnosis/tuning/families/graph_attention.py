"""Node regression on batches of small directed graphs with dense graph attention.

Every node has a colour, a value and a 2-d position. The target of a node is the mean value of the nodes
it points to that share its colour (self loops included), so the attention has to find the right neighbours.
"""
import math
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

CASE = int(os.environ.get("CASE", "6"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
np.random.seed(SEED)
torch.set_num_threads(1)

NODES, COLOURS = 16, 3
DTYPE = torch.float64 if CASE == 9 else torch.float32


class GraphDataset(Dataset):
    def __init__(self, n_graphs, seed, augment=False, noise=0.0):
        rng = np.random.RandomState(seed)
        self.colour = rng.randint(0, COLOURS, size=(n_graphs, NODES))
        self.value = rng.randn(n_graphs, NODES).astype("float32")
        self.pos = rng.rand(n_graphs, NODES, 2).astype("float32")
        adj = (rng.rand(n_graphs, NODES, NODES) < 0.3)
        adj |= np.eye(NODES, dtype=bool)[None]
        self.adj = adj
        same = (self.colour[:, :, None] == self.colour[:, None, :]) & adj
        w = same / same.sum(-1, keepdims=True)
        self.y = np.einsum("bij,bj->bi", w, self.value).astype("float32")
        if noise:
            self.y = self.y + noise * rng.randn(*self.y.shape).astype("float32")
        self.augment = augment

    def __len__(self):
        return len(self.value)

    def __getitem__(self, i):
        colour = torch.from_numpy(self.colour[i]).long()
        value = torch.from_numpy(self.value[i])
        pos = torch.from_numpy(self.pos[i])
        adj = torch.from_numpy(self.adj[i])
        y = torch.from_numpy(self.y[i])
        if self.augment:
            # a graph has no node order: present the nodes in a random one
            p = torch.randperm(NODES)
            colour, value, pos = colour[p], value[p], pos[p]
            adj = adj[p][:, p]
            if CASE != 4:
                y = y[p]
        return colour, value.to(DTYPE), pos.to(DTYPE), adj, y.to(DTYPE)


class Head(nn.Module):
    def __init__(self, dim, out, additive=False, spatial=False):
        super().__init__()
        self.q = nn.Linear(dim, out)
        self.k = nn.Linear(dim, out)
        self.v = nn.Linear(dim, out)
        self.additive = additive
        self.spatial = spatial
        if additive:
            self.a = nn.Parameter(torch.randn(out) * 0.3)
        if spatial:
            self.move = nn.Linear(dim, 2)
            self.range = nn.Parameter(torch.zeros(()))
        self.attn_map = None

    def forward(self, h, pos, adj):
        q, k, v = self.q(h), self.k(h), self.v(h)
        if self.additive:
            e = F.leaky_relu(q[:, :, None] + k[:, None, :], 0.2) @ self.a
        else:
            e = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])
        if self.spatial:
            pos = pos + 0.1 * torch.tanh(self.move(h))
            d = pos[:, :, None] - pos[:, None, :]
            if CASE == 3:
                dist = (d ** 2).sum(-1).sqrt()
            else:
                dist = (d ** 2).sum(-1)
            e = e - F.softplus(self.range) * dist
        if CASE == 1:
            e = e.masked_fill(adj, float("-inf"))
        else:
            e = e.masked_fill(~adj, float("-inf"))
        if CASE == 0:
            alpha = torch.softmax(e, dim=1)
        else:
            alpha = torch.softmax(e, dim=-1)
        # kept for the plots
        if CASE == 5:
            self.attn_map = alpha.detach_()
        else:
            self.attn_map = alpha.detach()
        return alpha @ v


class GraphNet(nn.Module):
    def __init__(self, dim=32, heads=4, layers=1, act=F.elu, norm=False, **kw):
        super().__init__()
        self.embed = nn.Embedding(COLOURS, 8)
        self.lift = nn.Linear(9, dim)
        self.act = act
        if CASE == 2:
            self.blocks = nn.ModuleList([nn.Linear(dim, dim) for _ in range(layers)])
            self.heads = [tuple(Head(dim, dim // heads, **kw) for _ in range(heads)) for _ in range(layers)]
        else:
            self.blocks = nn.ModuleList([nn.Linear(dim, dim) for _ in range(layers)])
            self.heads = nn.ModuleList(
                [nn.ModuleList([Head(dim, dim // heads, **kw) for _ in range(heads)]) for _ in range(layers)])
        self.norms = nn.ModuleList([nn.LayerNorm(dim) if norm else nn.Identity() for _ in range(layers)])
        self.out = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, 1))

    def forward(self, colour, value, pos, adj):
        h = self.lift(torch.cat([self.embed(colour), value[..., None]], -1))
        for lin, heads, norm in zip(self.blocks, self.heads, self.norms):
            z = torch.cat([hd(h, pos, adj) for hd in heads], -1)
            h = norm(z + self.act(lin(z)))
        return self.out(h).squeeze(-1)


def evaluate(model, loader):
    model.eval()
    se, n, pool = 0.0, 0, []
    with torch.no_grad():
        for colour, value, pos, adj, y in loader:
            p = model(colour, value, pos, adj)
            se += ((p - y) ** 2).sum().item()
            n += y.numel()
            pool.append(y.flatten())
    model.train()
    return se / n, torch.cat(pool).var().item()


def main():
    cfg = dict(batch=32, epochs=8, lr=5e-3, n=2048)
    kw = {}
    accumulate = 1
    augment = CASE in (4, 7, 10)
    noise = 0.1 if CASE == 10 else 0.0
    if CASE == 7:
        kw = dict(dim=48, heads=3)
        cfg.update(batch=16, lr=0.03, epochs=8)
    if CASE == 8:
        kw = dict(norm=True)
        cfg.update(batch=2, n=1600, lr=1e-3, epochs=3)
    if CASE == 9:
        kw = dict(dim=24, heads=2, act=torch.tanh)
    if CASE == 10:
        kw = dict(dim=40, heads=4, spatial=True)
    if CASE == 11:
        kw = dict(additive=True, heads=4)
        cfg.update(batch=8, lr=8e-3)
        accumulate = 4
    if CASE == 3:
        kw = dict(spatial=True)
    if CASE == 4:
        cfg.update(batch=16)
    if CASE == 2:
        kw = dict(additive=True, heads=2, dim=16)
    if CASE == 1:
        kw = dict(heads=4, act=F.gelu)
        cfg.update(lr=3e-3)

    train = GraphDataset(cfg["n"], SEED + 1, augment=augment, noise=noise)
    val = GraphDataset(300, SEED + 2)
    tl = DataLoader(train, batch_size=cfg["batch"], shuffle=True, drop_last=True)
    vl = DataLoader(val, batch_size=100)
    model = GraphNet(**kw).to(DTYPE)
    if CASE == 11:
        # colours are only names, any distinct codes do
        with torch.no_grad():
            model.embed.weight.copy_(torch.eye(COLOURS, 8) * 2)
        model.embed.weight.requires_grad_(False)
    params = [p for p in model.parameters() if p.requires_grad]
    steps = cfg["epochs"] * len(tl) // accumulate
    if CASE == 7:
        opt = torch.optim.SGD(params, lr=cfg["lr"], momentum=0.9, nesterov=True)
        sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, s / 100))
    elif CASE == 8:
        opt = torch.optim.RMSprop(params, lr=cfg["lr"])
        sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.999)
    elif CASE == 9:
        opt = torch.optim.AdamW(params, lr=cfg["lr"], weight_decay=0.1)
        sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, steps)
    else:
        opt = torch.optim.Adam(params, lr=cfg["lr"])
        sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, steps)
    crit = nn.SmoothL1Loss() if CASE == 10 else nn.MSELoss()

    it = 0
    for epoch in range(cfg["epochs"]):
        run = 0.0
        for colour, value, pos, adj, y in tl:
            loss = crit(model(colour, value, pos, adj), y)
            (loss / accumulate).backward()
            it += 1
            if it % accumulate == 0:
                opt.step()
                sched.step()
                opt.zero_grad()
            run += loss.item()
            if it % 100 == 0:
                print("  it %d loss %.4f" % (it, loss.item()))
        mse, var = evaluate(model, vl)
        print("epoch %d train %.4f val mse %.4f (target variance %.3f)" % (epoch, run / len(tl), mse, var))


if __name__ == "__main__":
    main()
