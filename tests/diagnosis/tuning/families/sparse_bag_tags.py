"""Tag prediction from bags of hashed words: a sparse EmbeddingBag with SparseAdam next to Adam for the dense part."""
import os
import numpy as np
import torch
import torch.nn as nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
BUCKETS, TOPICS = 20000, 12


def corpus(n, rng, probs):
    flat, off, y = [], [], []
    for _ in range(n):
        k = rng.choice(TOPICS, size=rng.integers(1, 4), replace=False)
        words = []
        for _ in range(rng.integers(8, 30)):
            words.append(rng.choice(probs.shape[1], p=probs[rng.choice(k)]) if rng.random() < 0.6 else rng.integers(0, 5000))
        off.append(len(flat)); flat.extend((w * 2654435761) % BUCKETS for w in words)
        lab = np.zeros(TOPICS, "f4"); lab[k] = 1; y.append(lab)
    return np.array(flat), np.array(off), np.stack(y)


class Bag(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.bag = nn.EmbeddingBag(BUCKETS, dim, mode="mean", sparse=True)
        nn.init.normal_(self.bag.weight, std=0.1)
        self.mlp = nn.Sequential(nn.Linear(dim, 64), nn.ReLU(), nn.Linear(64, TOPICS))

    def forward(self, flat, off):
        return self.mlp(self.bag(flat, off))


def slices(data, order, bs):
    flat, off, y = data
    ends = np.append(off[1:], len(flat))
    for i in range(0, len(order), bs):
        idx = order[i:i + bs]
        pieces = [flat[off[j]:ends[j]] for j in idx]
        o = np.concatenate([[0], np.cumsum([len(p) for p in pieces])[:-1]])
        yield torch.from_numpy(np.concatenate(pieces)), torch.from_numpy(o), torch.from_numpy(y[idx])


def run():
    torch.manual_seed(SEED); rng = np.random.default_rng(SEED)
    probs = rng.dirichlet(np.full(1500, 0.04), size=TOPICS)
    tr, va = corpus(2000, rng, probs), corpus(500, rng, probs)
    net = Bag()
    opts = [torch.optim.SparseAdam(list(net.bag.parameters()), lr=2e-2), torch.optim.Adam(net.mlp.parameters(), lr=1e-3)]
    crit = nn.BCEWithLogitsLoss()
    for epoch in range(8):
        net.train(); seen = []
        for flat, off, y in slices(tr, rng.permutation(2000), 32):
            for o in opts: o.zero_grad()
            loss = crit(net(flat, off), y)
            loss.backward()
            for o in opts: o.step()
            seen.append(loss.item())
        net.eval(); tp = fp = fn = 0; vl = []
        with torch.no_grad():
            for flat, off, y in slices(va, np.arange(500), 250):
                out = net(flat, off); vl.append(crit(out, y).item()); p = out > 0
                tp += (p & (y > 0)).sum().item(); fp += (p & (y == 0)).sum().item(); fn += (~p & (y > 0)).sum().item()
        print(f"epoch {epoch} train {np.mean(seen):.4f} val {np.mean(vl):.4f} micro-F1 {2 * tp / (2 * tp + fp + fn + 1e-9):.3f}")


if __name__ == "__main__":
    run()
