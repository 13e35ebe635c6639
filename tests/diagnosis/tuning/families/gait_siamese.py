"""
Re-identification from gait signals: 3-channel accelerometer windows of walking people are embedded so that
windows of one person lie together.  Several ways of training the embedding are kept in this one script.
"""
import copy
import os
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
np.random.seed(SEED)
torch.manual_seed(SEED)

LENGTH = 48
MODES = {0: "pairs", 1: "nce", 2: "byol", 3: "triplet", 4: "cosine", 5: "pairs", 6: "views",
         7: "pairs", 8: "nce", 9: "triplet", 10: "pairs", 11: "byol"}
MODE = MODES.get(CASE, "pairs")


def people(n, per, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(LENGTH) / LENGTH * 2 * np.pi
    xs, ids = [], []
    for p in range(n):
        amp, ph = rng.normal(0, 1, (3, 4)), rng.uniform(0, 6.28, (3, 4))
        for _ in range(per):
            shift, speed = rng.uniform(0, 6.28), rng.uniform(0.93, 1.07)
            k = np.arange(1, 5)[None, :, None]
            s = (amp[:, :, None] * np.sin(k * (speed * t + shift) + ph[:, :, None])).sum(1)
            xs.append(s * rng.uniform(0.8, 1.2) + rng.normal(0, 0.9, s.shape))
            ids.append(p)
    return torch.tensor(np.stack(xs), dtype=torch.float32), torch.tensor(ids)


class PairSet(Dataset):
    """half of the pairs from one person (label 1), half from two (label 0)"""

    def __init__(self, x, ids, n):
        self.x, self.ids, self.n = x, ids.numpy(), n
        self.where = {p: np.flatnonzero(self.ids == p) for p in np.unique(self.ids)}

    def __len__(self):
        return self.n

    def __getitem__(self, _):
        i = np.random.randint(len(self.x))
        same = np.random.rand() < 0.5
        mates = self.where[self.ids[i]]
        if same:
            j = np.random.choice(mates)
            while j == i and CASE != 5:
                j = np.random.choice(mates)
        else:
            j = np.random.choice(np.flatnonzero(self.ids != self.ids[i]))
        return self.x[i], self.x[j], float(same)


def jitter(x):
    rng = np.random.default_rng(SEED) if CASE == 8 else np.random
    out = x.clone()
    for b in range(len(x)):
        out[b] = torch.roll(out[b], int(rng.uniform(0, LENGTH)), dims=-1)
    noise = torch.from_numpy(rng.normal(0, 0.4, x.shape)).float()
    scale = torch.from_numpy(rng.uniform(0.7, 1.3, (len(x), 1, 1))).float()
    return out * scale + noise


class Encoder(nn.Module):
    def __init__(self, dim=24, w=24):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(3, w, 7, padding=3, padding_mode="circular"), nn.BatchNorm1d(w), nn.ReLU(),
            nn.Conv1d(w, w, 7, padding=3, padding_mode="circular", stride=2), nn.BatchNorm1d(w), nn.ReLU(),
            nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(w, dim))

    def forward(self, x):
        return self.net(x)


def contrastive(a, b, same, margin=2.0):
    if CASE == 5:
        d = ((a - b) ** 2).sum(1).sqrt()
    else:
        d = F.pairwise_distance(a, b)
    if CASE == 7:
        return ((1 - same) * d ** 2 + same * (margin - d).clamp(min=0) ** 2).mean()
    return (same * d ** 2 + (1 - same) * (margin - d).clamp(min=0) ** 2).mean()


def hard_triplet(z, ids, margin=0.5):
    d = torch.cdist(z, z)
    same = ids[:, None] == ids[None]
    far = (d - 1e4 * (~same)).max(1)[0]
    near = (d + 1e4 * same).min(1)[0]
    return F.relu(far - near + margin).mean()


def nce(a, b, temperature=0.15):
    logits = F.normalize(a, dim=1) @ F.normalize(b, dim=1).t() / temperature
    y = torch.arange(len(a))
    return (F.cross_entropy(logits, y) + F.cross_entropy(logits.t(), y)) / 2


@torch.no_grad()
def nearest_neighbour(encoder, x, ids):
    encoder.eval()
    z = F.normalize(encoder(x), dim=1)
    encoder.train()
    s = z @ z.t()
    s.fill_diagonal_(-2)
    return (ids[s.argmax(1)] == ids).float().mean().item(), z.std(0).mean().item()


def resident_mb():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2 ** 20


def main():
    x, ids = people(30, 16, SEED + 7)
    hx, hids = (x, ids) if CASE == 10 else people(16, 16, SEED + 8)
    encoder = Encoder()
    params = list(encoder.parameters())
    predictor = target = centres = None
    if MODE == "byol":
        predictor = nn.Sequential(nn.Linear(24, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 24))
        target = copy.deepcopy(encoder)
        for p in target.parameters():
            p.requires_grad = False
        params += list(predictor.parameters())
    if MODE == "cosine":
        centres = nn.Parameter(torch.randn(30, 24))
        params.append(centres)
    opt = torch.optim.Adam(params, lr=3e-3)
    steps, bs = 240, 64
    pairs = iter(DataLoader(PairSet(x, ids, steps * bs), batch_size=bs))
    acc, spread = nearest_neighbour(encoder, hx, hids)
    print(f"{MODE}: untrained 1-nn {acc:.3f}")
    shown = []
    for step in range(steps):
        if MODE == "pairs":
            a, b, same = next(pairs)
            za, zb = encoder(torch.cat([a, b])).chunk(2)
            loss = contrastive(za, zb, same.float())
        elif MODE == "triplet":
            pick = torch.randperm(30)[:12]
            rows = torch.cat([(ids == p).nonzero().flatten()[torch.randperm(16)[:5]] for p in pick])
            z = F.normalize(encoder(x[rows]), dim=1)
            loss = hard_triplet(z, ids[rows])
            if CASE == 9:
                shown.append((step, encoder(hx[:64]).std(0).mean()))
        elif MODE == "cosine":
            rows = torch.randperm(len(x))[:bs]
            cos = F.normalize(encoder(x[rows]), dim=1) @ F.normalize(centres, dim=1).t()
            loss = F.cross_entropy(20 * (cos - 0.2 * F.one_hot(ids[rows], 30)), ids[rows])
        else:
            batch = x[torch.randperm(len(x))[:bs]]
            v1, v2 = jitter(batch), jitter(batch)
            if MODE == "nce":
                loss = nce(encoder(v1), encoder(v2))
            elif MODE == "views":
                loss = -F.cosine_similarity(encoder(v1), encoder(v2)).mean()
            else:
                p1, p2 = predictor(encoder(v1)), predictor(encoder(v2))
                with torch.no_grad():
                    t1, t2 = target(v1), target(v2)
                loss = -(F.cosine_similarity(p1, t2).mean() + F.cosine_similarity(p2, t1).mean()) / 2
        opt.zero_grad()
        loss.backward()
        opt.step()
        if target is not None:
            with torch.no_grad():
                m = 0.95
                for po, pt in zip(encoder.parameters(), target.parameters()):
                    if CASE == 11:
                        po.mul_(m).add_(pt, alpha=1 - m)
                    else:
                        pt.mul_(m).add_(po, alpha=1 - m)
        if step % 40 == 39:
            acc, spread = nearest_neighbour(encoder, hx, hids)
            print(f"step {step + 1:4d} loss {loss.item():8.4f} held-out 1-nn {acc:.3f} spread {spread:.3f} rss {resident_mb():.0f} MB")
    print(f"done: 1-nn accuracy {acc:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
