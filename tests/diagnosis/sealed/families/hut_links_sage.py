"""Which mountain huts share a path?  Link prediction with mean-aggregating graph layers, dense adjacency, full batch."""
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
rng = np.random.RandomState(SEED)
torch.manual_seed(SEED)
torch.set_num_threads(1)

N_HUTS, EPOCHS = 360, 120


def build_world():
    """Huts lie in valleys; huts that lie close together and in the same valley are mostly linked by a path."""
    valley = rng.randint(0, 6, N_HUTS)
    centre = rng.uniform(0, 10, (6, 2))
    pos = centre[valley] + rng.randn(N_HUTS, 2) * 1.1
    height = rng.uniform(800, 3000, N_HUTS)
    dist = np.linalg.norm(pos[:, None] - pos[None], axis=2)
    score = -0.5 - 1.3 * dist - 0.0012 * np.abs(height[:, None] - height[None]) + 0.8 * (valley[:, None] == valley[None])
    linked = rng.rand(N_HUTS, N_HUTS) < 1 / (1 + np.exp(-score))
    linked = np.triu(linked, 1)
    feats = np.concatenate([
        pos + rng.randn(N_HUTS, 2) * 3.0,
        (height[:, None] - 1900) / 600,
        np.eye(6)[np.where(rng.rand(N_HUTS) < 0.5, valley, rng.randint(0, 6, N_HUTS))],
        rng.randn(N_HUTS, 4),
    ], axis=1)
    feats[:, :2] = (feats[:, :2] - feats[:, :2].mean(0)) / feats[:, :2].std(0)
    return torch.tensor(feats, dtype=torch.float32), np.argwhere(linked)


def split_links(pairs):
    if CASE == 2:
        pairs = np.concatenate([pairs, pairs[:, ::-1]])
    pairs = pairs[rng.permutation(len(pairs))]
    n_test = int(0.2 * len(pairs))
    return torch.tensor(pairs[n_test:].copy()), torch.tensor(pairs[:n_test].copy())


def neighbour_matrix(pairs, n):
    a = torch.zeros(n, n)
    a[pairs[:, 0], pairs[:, 1]] = 1
    a[pairs[:, 1], pairs[:, 0]] = 1
    return a


def mean_operator(a):
    degree = a.sum(1, keepdim=True)
    if CASE != 4:
        degree = degree.clamp(min=1)
    return a / degree


class SageLayer(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.own = nn.Linear(d_in, d_out)
        self.around = nn.Linear(d_in, d_out, bias=False)

    def forward(self, x, op):
        return self.own(x) + self.around(op @ x)


class SmoothLayer(nn.Module):
    """Neighbourhood average with self loop, as in a plain GCN."""

    def __init__(self, d_in, d_out):
        super().__init__()
        self.lin = nn.Linear(d_in, d_out)

    def forward(self, x, op):
        return self.lin(0.5 * (x + op @ x))


class HutNet(nn.Module):
    def __init__(self, d_in, width=32, depth=2, layer=SageLayer, residual=False, ids=24):
        super().__init__()
        self.ids = nn.Embedding(N_HUTS, ids)
        nn.init.normal_(self.ids.weight, std=1.0)
        dims = [d_in + ids] + [width] * depth
        layers = [layer(a, b) for a, b in zip(dims[:-1], dims[1:])]
        self.layers = layers if CASE == 3 else nn.ModuleList(layers)
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(depth)]) if residual else None
        self.drop = nn.Dropout(0.3)
        self.scale = nn.Parameter(torch.tensor(1.0))
        self.shift = nn.Parameter(torch.tensor(0.0))

    def embed(self, x, op):
        h = self.drop(torch.cat([x, self.ids.weight], 1))
        for i, layer in enumerate(self.layers):
            new = layer(h, op)
            if self.norms is not None:
                new = F.relu(self.norms[i](new))
                h = new + h if new.shape == h.shape else new
            else:
                h = F.relu(new) if i < len(self.layers) - 1 else new
        return h

    def forward(self, x, op, pairs):
        h = self.embed(x, op)
        dot = (h[pairs[:, 0]] * h[pairs[:, 1]]).sum(1)
        out = self.scale * dot / h.size(1) ** 0.5 + self.shift
        return torch.sigmoid(out) if CASE == 5 else out


def auc(pos, neg):
    diff = pos[:, None] - neg[None]
    if torch.isnan(diff).any():
        return float("nan")
    return ((diff > 0).float() + 0.5 * (diff == 0).float()).mean().item()


feats, pairs = build_world()
train_links, test_links = split_links(pairs)
known = neighbour_matrix(torch.tensor(pairs), N_HUTS)
non_links = torch.nonzero(torch.triu(1 - known, 1))
shuffle = torch.tensor(rng.permutation(len(non_links)))
test_non = non_links[shuffle[: len(test_links)]]
spare = non_links[shuffle[len(test_links):]]
adj = known if CASE == 1 else neighbour_matrix(train_links, N_HUTS)
op = mean_operator(adj)
print(f"{len(train_links)} training links, {len(test_links)} test links, {len(spare)} non-links, mean degree {adj.sum(1).mean():.1f}")

if CASE == 7:
    net = HutNet(feats.size(1), depth=20, layer=SmoothLayer)
elif CASE == 8:
    net = HutNet(feats.size(1), depth=4, layer=SageLayer, residual=True)
else:
    net = HutNet(feats.size(1))
if CASE == 9:
    net.ids.weight.requires_grad_(False)
    net.ids.weight.zero_()
lr = 1.5e-3 if CASE == 10 else 1e-2
optimizer = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], lr=lr, weight_decay=1e-3)


def draw_negatives(n):
    if CASE in (6, 11):
        return spare
    return spare[torch.randint(0, len(spare), (n,))]


def objective():
    """A third of the training links is asked for, the others carry the messages."""
    order = torch.randperm(len(train_links))
    third = len(order) // 3
    asked, given = train_links[order[:third]], train_links[order[third:]]
    negatives = draw_negatives(third)
    if CASE == 1:
        current = op
    elif CASE == 10:                                    # thinned graph for every step
        current = mean_operator(neighbour_matrix(given[torch.rand(len(given)) > 0.3], N_HUTS))
    else:
        current = mean_operator(neighbour_matrix(given, N_HUTS))
    logits = net(feats, current, torch.cat([asked, negatives]))
    target = torch.cat([torch.ones(len(asked)), torch.zeros(len(negatives))])
    weight = torch.tensor(len(negatives) / len(asked)) if CASE == 11 else None
    return F.binary_cross_entropy_with_logits(logits, target, pos_weight=weight)


@torch.no_grad()
def report():
    net.eval()
    p, n = net(feats, op, test_links), net(feats, op, test_non)
    cut = 0.5 if CASE == 5 else 0.0
    h = net.embed(feats, op)
    spread = (h - h.mean(0)).norm() / h.norm()
    net.train()
    return auc(p, n), (p > cut).float().mean().item(), (n > cut).float().mean().item(), spread.item()


steps = EPOCHS * 2 if CASE in (8, 10) else EPOCHS
for epoch in range(steps):
    optimizer.zero_grad()
    loss = objective()
    loss.backward()
    optimizer.step()
    if (epoch + 1) % 20 == 0:
        a, tp, fp, spread = report()
        print(f"epoch {epoch + 1:3d} loss {loss.item():.4f} | test AUC {a:.3f} found {tp:.2f} false alarms {fp:.2f} spread {spread:.3f}")
