"""Speaker embeddings from short synthetic recordings (sequences of cepstra): packed GRU, triplet or angular loss."""
import math
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset, Sampler

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
np.random.seed(SEED)
torch.manual_seed(SEED)
torch.set_num_threads(1)

CEPS, TRAIN_VOICES, NEW_VOICES, TAKES = 10, 24, 12, 16


class Voice:
    """A speaker: a vocal tract (offset), a way of moving (rotation speed) and a pitch pattern."""

    def __init__(self, rng):
        self.tract = rng.randn(CEPS) * 0.5
        self.speed = rng.uniform(0.15, 0.9)
        self.sway = rng.randn(CEPS) * 0.6

    def take(self, rng):
        n = rng.randint(8, 25)
        phase = rng.uniform(0, 2 * np.pi) + self.speed * np.arange(n)
        channel = rng.randn(CEPS) * 0.2
        x = self.tract + np.sin(phase)[:, None] * self.sway + channel + 0.4 * rng.randn(n, CEPS)
        return x.astype(np.float32)


class Recordings(Dataset):
    def __init__(self, voices, takes, rng, augment=False):
        self.items = [(torch.tensor(v.take(rng)), k) for k, v in enumerate(voices) for _ in range(takes)]
        self.augment = augment
        if CASE == 2:                                   # the archive holds a few takes twice
            for k in range(0, len(self.items), takes):
                self.items[k + 1] = self.items[k]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        x, k = self.items[i]
        if self.augment:
            x = x * (1 + 0.1 * torch.randn(1)) + 0.1 * torch.randn_like(x)
        return x, k


class VoicesTimesTakes(Sampler):
    def __init__(self, labels, p, k, rounds):
        self.p, self.k, self.rounds = p, k, rounds
        self.by_voice = {}
        for i, y in enumerate(labels):
            self.by_voice.setdefault(y, []).append(i)

    def __iter__(self):
        names = list(self.by_voice)
        for _ in range(self.rounds):
            batch = []
            for v in np.random.choice(len(names), self.p, replace=False):
                batch += list(np.random.choice(self.by_voice[names[v]], self.k, replace=False))
            yield batch

    def __len__(self):
        return self.rounds


def collate(batch):
    xs, ys = zip(*batch)
    lens = torch.tensor([len(x) for x in xs])
    ys = torch.tensor(ys)
    lens, order = lens.sort(descending=True)
    xs = pad_sequence(list(xs), batch_first=True)[order]
    return xs, lens, ys if CASE == 5 else ys[order]


class VoiceEncoder(nn.Module):
    def __init__(self, hidden=40, out=16, unit=True):
        super().__init__()
        self.gru = nn.GRU(CEPS, hidden, batch_first=True)
        self.proj = nn.Sequential(nn.Linear(hidden, 48), nn.ReLU(), nn.Linear(48, out))
        self.unit = unit

    def forward(self, x, lens):
        _, h = self.gru(pack_padded_sequence(x, lens, batch_first=True))
        e = self.proj(h[-1])
        return F.normalize(e, dim=1) if self.unit else e


def distances(e):
    sq = (e.unsqueeze(0) - e.unsqueeze(1)).pow(2).sum(2)
    if CASE == 2:
        return sq.sqrt()
    if CASE == 1:
        return sq
    return (sq + 1e-9).sqrt()


def batch_hard(e, y, margin=0.3):
    d = distances(e)
    same = y.unsqueeze(0) == y.unsqueeze(1)
    eye = torch.eye(len(y), dtype=torch.bool)
    far_pos = d.masked_fill(~same | eye, float("-inf")).max(1).values
    near_neg = d.masked_fill(same, float("inf")).min(1).values
    ok = torch.isfinite(far_pos) & torch.isfinite(near_neg)
    gap = far_pos - near_neg
    if CASE == 4:
        gap = near_neg - far_pos
    if CASE == 8:
        return F.softplus(4 * gap[ok]).mean()
    return F.relu(gap[ok] + margin).mean()


class AngularHead(nn.Module):
    def __init__(self, dim, n, s=16.0, m=0.2):
        super().__init__()
        self.centres = nn.Parameter(torch.randn(n, dim))
        self.s, self.m = s, m

    def forward(self, e, y):
        cos = F.linear(e, F.normalize(self.centres, dim=1)).clamp(-1 + 1e-6, 1 - 1e-6)
        hot = F.one_hot(y, cos.size(1)).bool()
        return F.cross_entropy(self.s * torch.where(hot, torch.cos(torch.acos(cos) + self.m), cos), y)


@torch.no_grad()
def recall_at_1(net, loader):
    net.eval()
    es, ys = [], []
    for x, lens, y in loader:
        es.append(net(x, lens))
        ys.append(y)
    net.train()
    e, y = torch.cat(es), torch.cat(ys)
    d = torch.cdist(e, e)
    d.fill_diagonal_(float("inf"))
    spread = (e - e.mean(0)).norm(dim=1).mean().item()
    return (y[d.argmin(1)] == y).float().mean().item(), spread


def main():
    rng = np.random.RandomState(SEED + 3)
    train = Recordings([Voice(rng) for _ in range(TRAIN_VOICES)], TAKES, rng, augment=CASE != 2)
    fresh = Recordings([Voice(rng) for _ in range(NEW_VOICES)], 12, rng)
    rounds, epochs = 24, 7
    if CASE == 6:
        loader = DataLoader(train, batch_size=32, shuffle=False, collate_fn=collate)
        epochs = 14
    elif CASE in (3, 9, 10):
        loader = DataLoader(train, batch_size=8 if CASE == 10 else 32, shuffle=True, collate_fn=collate)
        epochs = 12
    else:
        labels = [k for _, k in train.items]
        loader = DataLoader(train, batch_sampler=VoicesTimesTakes(labels, 8, 4, rounds), collate_fn=collate)
    check = DataLoader(fresh, batch_size=64, collate_fn=collate)

    net = VoiceEncoder(unit=CASE != 1)
    head = AngularHead(16, TRAIN_VOICES) if CASE in (3, 9, 10) else None
    params = list(net.parameters())
    if head is not None and CASE != 3:
        params += list(head.parameters())
    rate = {1: 3e-2, 7: 1e-4, 10: 6e-3, 11: 1e-3}.get(CASE, 3e-3)
    opt = torch.optim.SGD(params, lr=rate) if CASE == 7 else torch.optim.Adam(params, lr=rate)
    if CASE == 11:                                      # start from a body trained on the classes, then tune its projection
        warm = AngularHead(16, TRAIN_VOICES)
        first = torch.optim.Adam(list(net.parameters()) + list(warm.parameters()), lr=3e-3)
        for _ in range(3):
            for x, lens, y in loader:
                loss = warm(net(x, lens), y)
                first.zero_grad(); loss.backward(); first.step()
        for p in net.gru.parameters():
            p.requires_grad_(False)
        opt = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=rate)
    r, s = recall_at_1(net, check)
    print(f"untrained: recall@1 on new voices {r:.3f}")
    for epoch in range(epochs):
        log = []
        opt.zero_grad()
        for i, (x, lens, y) in enumerate(loader):
            e = net(x, lens)
            loss = head(e, y) if head is not None else batch_hard(e, y)
            if CASE == 10:
                (loss / 4).backward()
                if i % 4 == 3:
                    opt.step()
                    opt.zero_grad()
            else:
                opt.zero_grad()
                loss.backward()
                opt.step()
            log.append(loss.item())
        r, s = recall_at_1(net, check)
        print(f"epoch {epoch}: loss {np.mean(log):.4f} (last {log[-1]:.4f}) recall@1 new voices {r:.3f} spread {s:.3f}")


if __name__ == "__main__":
    main()
