"""Node classification on a random community graph, message passing by hand with index_add_ (no PyG here)."""
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
np.random.seed(SEED)
torch.manual_seed(SEED)
torch.set_num_threads(1)

N, C, FEAT, HID = 900, 5, 24, 32


def make_graph(imbalance=False):
    p = np.array([0.72, 0.07, 0.07, 0.07, 0.07]) if imbalance else np.ones(C) / C
    y = np.random.choice(C, N, p=p)
    centres = np.random.randn(C, FEAT) * 0.45
    x = centres[y] + np.random.randn(N, FEAT)
    same = y[:, None] == y[None, :]
    prob = np.where(same, 0.028, 0.004)
    a = np.triu(np.random.rand(N, N) < prob, 1)
    s, d = np.nonzero(a)
    edge = np.stack([np.r_[s, d], np.r_[d, s]])
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y), torch.tensor(edge)


def gcn_norm(edge_index, n, self_loops=True):
    if self_loops:
        loop = torch.arange(n)
        edge_index = torch.cat([edge_index, torch.stack([loop, loop])], 1)
    row, col = edge_index
    deg = torch.zeros(n).index_add_(0, row, torch.ones(row.numel()))
    inv = deg.pow(-0.5)
    inv[torch.isinf(inv)] = 0.0
    return edge_index, inv[row] * inv[col]


class GCNConv(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.lin = nn.Linear(i, o, bias=False)
        self.bias = nn.Parameter(torch.zeros(o))
        nn.init.xavier_uniform_(self.lin.weight)

    def forward(self, x, edge_index, w):
        h = self.lin(x)
        row, col = edge_index
        out = torch.zeros(x.size(0), h.size(1)).index_add(0, col, h[row] * w.unsqueeze(1))
        return out + self.bias


class GATConv(nn.Module):
    """single head"""

    def __init__(self, i, o):
        super().__init__()
        self.lin = nn.Linear(i, o, bias=False)
        self.a_src = nn.Parameter(torch.randn(o) * 0.1)
        self.a_dst = nn.Parameter(torch.randn(o) * 0.1)
        self.bias = nn.Parameter(torch.zeros(o))

    def forward(self, x, edge_index, w):
        h = self.lin(x)
        row, col = edge_index
        e = F.leaky_relu((h * self.a_src).sum(1)[row] + (h * self.a_dst).sum(1)[col], 0.2)
        if CASE == 9:
            alpha = F.softmax(e, dim=0)
        else:
            e = (e - e.max()).exp()
            z = torch.zeros(x.size(0)).index_add(0, col, e)
            alpha = e / (z[col] + 1e-16)
        out = torch.zeros(x.size(0), h.size(1)).index_add(0, col, h[row] * alpha.unsqueeze(1))
        return out + self.bias


class SAGEConv(nn.Module):
    """mean over the neighbours, own features apart"""

    def __init__(self, i, o):
        super().__init__()
        self.neigh = nn.Linear(i, o, bias=False)
        self.own = nn.Linear(i, o)

    def forward(self, x, edge_index, w):
        row, col = edge_index
        deg = torch.zeros(x.size(0)).index_add(0, col, torch.ones(col.numel()))
        if CASE != 1:
            deg = deg.clamp(min=1)
        total = torch.zeros_like(x).index_add(0, col, x[row])
        return self.own(x) + self.neigh(total / deg.unsqueeze(1))


class Net(nn.Module):
    def __init__(self, conv, depth=2, dropout=0.5, residual=False):
        super().__init__()
        sizes = [FEAT] + [HID] * (depth - 1) + [C]
        layers = [conv(a, b) for a, b in zip(sizes[:-1], sizes[1:])]
        if CASE == 3:
            self.convs = layers
            self.skip = nn.Linear(FEAT, C)
        else:
            self.convs = nn.ModuleList(layers)
        self.dropout = dropout
        self.residual = residual

    def forward(self, x, edge_index, w):
        h = x
        for k, conv in enumerate(self.convs):
            h2 = F.dropout(h, self.dropout, self.training)
            h2 = conv(h2, edge_index, w)
            if k < len(self.convs) - 1:
                h2 = F.relu(h2)
            h = h + h2 if self.residual and h.shape == h2.shape else h2
        if CASE == 3:
            h = h + 0.1 * self.skip(x)
        if CASE == 4:
            return F.log_softmax(h, dim=0)
        return F.log_softmax(h, dim=1)


x, y, edge_index = make_graph(imbalance=CASE == 10)
if CASE in (1, 12):
    keep = (edge_index[0] > 8) & (edge_index[1] > 8)
    edge_index, ew = gcn_norm(edge_index[:, keep], N, self_loops=False)
else:
    edge_index, ew = gcn_norm(edge_index, N)

perm = torch.randperm(N)
train_mask = torch.zeros(N, dtype=torch.bool)
train_mask[perm[:200]] = True
test_mask = torch.zeros(N, dtype=torch.bool)
test_mask[perm[400:]] = True

epochs, lr, wd, clip, warm = 220, 0.01, 5e-4, None, 0
conv, depth, dropout, residual = GCNConv, 2, 0.5, False
if CASE == 5:
    depth, dropout, lr, wd, epochs = 14, 0.0, 0.005, 5e-4, 160
elif CASE == 6:
    wd = 0.5
elif CASE == 7:
    depth, residual, dropout, warm, epochs = 5, True, 0.3, 30, 150
elif CASE in (8, 9):
    conv = GATConv
elif CASE in (1, 12):
    conv = SAGEConv
elif CASE == 11:
    dropout = 0.7
    lr, epochs = 0.003, 300

model = Net(conv, depth, dropout, residual)
optimizer = torch.optim.Adam(model.parameters(), lr=lr, weight_decay=wd)
sched = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda e: min(1.0, (e + 1) / warm) if warm else 1.0)
weight = None
if CASE == 10:
    cnt = torch.bincount(y[train_mask], minlength=C).float()
    weight = cnt.sum() / (C * cnt)

labels = y.clone()
if CASE == 2:
    labels = y[torch.randperm(N)]


@torch.no_grad()
def test():
    model.eval()
    pred = model(x, edge_index, ew).argmax(1)
    accs = [(pred[m] == (labels if m is train_mask else y)[m]).float().mean().item() for m in (train_mask, test_mask)]
    rec = [(pred[test_mask & (y == c)] == c).float().mean().item() for c in range(C)]
    return accs[0], accs[1], sum(rec) / C


for epoch in range(1, epochs + 1):
    model.train()
    optimizer.zero_grad()
    out = model(x, edge_index, ew)
    loss = F.nll_loss(out[train_mask], labels[train_mask], weight=weight)
    loss.backward()
    optimizer.step()
    sched.step()
    if epoch % 20 == 0:
        tr, te, bal = test()
        print(f"Epoch {epoch:03d} loss {loss.item():.4f} train {tr:.3f} test {te:.3f} balanced {bal:.3f}")
