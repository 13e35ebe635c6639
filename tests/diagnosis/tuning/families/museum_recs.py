"""Which museum next? Recommendations from visit histories."""
import os
import tempfile
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
np.random.seed(SEED)
torch.manual_seed(SEED)

N_USERS, N_ITEMS, N_TOPICS = 600, 160, 8


def simulate():
    r = np.random.RandomState(50 + SEED)
    item_topic = r.dirichlet(np.full(N_TOPICS, 0.15), N_ITEMS)
    city = r.randint(0, 6, N_ITEMS)
    pop = r.zipf(1.6, N_ITEMS).clip(1, 20) ** 0.5
    histories = []
    for _ in range(N_USERS):
        taste = r.dirichlet(np.full(N_TOPICS, 0.25))
        home = r.randint(0, 6)
        score = (item_topic @ taste) ** 1.5 * pop * np.where(city == home, 4.0, 1.0)
        n = r.randint(8, 22)
        seq = list(r.choice(N_ITEMS, n, replace=False, p=score / score.sum()))
        histories.append(seq)
    return histories


HIST = simulate()
TRAIN = [h[:-1] for h in HIST]
TEST = [h[-1] for h in HIST]
COUNT = np.bincount(np.concatenate(TRAIN), minlength=N_ITEMS) + 1.0


def hit_rate(score_fn, k=10):
    """leave-one-out, over all items not yet visited"""
    hits, rr = 0, 0.0
    with torch.no_grad():
        for s in range(0, N_USERS, 150):
            us = np.arange(s, min(s + 150, N_USERS))
            sc = score_fn(us).clone()
            for row, u in enumerate(us):
                sc[row, TRAIN[u]] = -float("inf")
            target = sc[torch.arange(len(us)), torch.tensor([TEST[u] for u in us])]
            rank = (sc > target[:, None]).sum(1)
            hits += int((rank < k).sum())
            rr += float((1.0 / (rank + 1)).sum())
    return hits / N_USERS, rr / N_USERS


# --------------------------------------------------------------- BPR matrix factorisation
class BPR(nn.Module):
    def __init__(self, d=24):
        super().__init__()
        self.user = nn.Embedding(N_USERS, d)
        self.item = nn.Embedding(N_ITEMS, d)
        self.bias = nn.Embedding(N_ITEMS, 1)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.item.weight, std=0.1)
        nn.init.zeros_(self.bias.weight)

    def forward(self, u, i):
        return (self.user(u) * self.item(i)).sum(-1) + self.bias(i).squeeze(-1)

    def all_scores(self, us):
        return self.user(torch.as_tensor(us)) @ self.item.weight.T + self.bias.weight.T


def run_bpr(epochs=12, bs=192):
    pairs = np.array([(u, i) for u, h in enumerate(TRAIN) for i in h])
    seen = np.zeros((N_USERS, N_ITEMS), bool)
    seen[pairs[:, 0], pairs[:, 1]] = True
    model = BPR()
    reg = 1e-6 if CASE != 4 else 1e-2
    opt = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=reg)
    path = os.path.join(tempfile.mkdtemp(), "bpr.pt")
    best = 0.0
    for ep in range(epochs):
        np.random.shuffle(pairs)
        total, auc = 0.0, 0.0
        for s in range(0, len(pairs), bs):
            b = pairs[s:s + bs]
            neg = np.random.randint(0, N_ITEMS, len(b))
            clash = seen[b[:, 0], neg]
            neg[clash] = np.random.randint(0, N_ITEMS, clash.sum())
            u, i, j = torch.from_numpy(b[:, 0]), torch.from_numpy(b[:, 1]), torch.from_numpy(neg)
            pos_s, neg_s = model(u, i), model(u, j)
            diff = neg_s - pos_s if CASE == 3 else pos_s - neg_s
            loss = -F.logsigmoid(diff).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(b)
            auc += (diff > 0).float().sum().item()
        hr, mrr = hit_rate(model.all_scores)
        print("epoch %2d  loss %.4f  train-auc %.3f  HR@10 %.3f  MRR %.3f" % (ep, total / len(pairs), auc / len(pairs), hr, mrr))
        if hr > best:
            best = hr
            torch.save(model.state_dict(), path)
    if best > 0:
        model.load_state_dict(torch.load(path))
    print("final HR@10 %.3f MRR %.3f (popularity: %.3f)" % (*hit_rate(model.all_scores), hit_rate(popularity)[0]))


def popularity(us):
    return torch.tensor(COUNT, dtype=torch.float32).expand(len(us), -1)


# --------------------------------------------------------------- two towers over the visit history
class HistoryTower(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.items = nn.Embedding(N_ITEMS + 1, d, padding_idx=N_ITEMS)
        self.net = nn.Sequential(nn.Linear(d, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, d))

    def forward(self, h):
        n = (h != N_ITEMS).sum(1, keepdim=True).clamp(min=1)
        return F.normalize(self.net(self.items(h).sum(1) / n), dim=-1)


class ItemTower(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.emb = nn.Embedding(N_ITEMS, d)
        self.proj = nn.Linear(d, d)

    def forward(self, i):
        return F.normalize(self.proj(self.emb(i)), dim=-1)


class TwoTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = HistoryTower()
        self.cand = ItemTower()
        self.scale = nn.Parameter(torch.tensor(2.3))

    def scores(self, h):
        return self.query(h) @ self.cand(torch.arange(N_ITEMS)).T


def pad(seqs, n=22):
    out = np.full((len(seqs), n), N_ITEMS)
    for r, s in enumerate(seqs):
        out[r, :len(s)] = s[-n:]
    return torch.from_numpy(out)


def run_two_tower(epochs=10, bs=128):
    examples = [(h, t) for h in TRAIN for t in range(3, len(h))]
    logq = torch.tensor(np.log(COUNT / COUNT.sum()), dtype=torch.float32)
    model = TwoTower()
    opts = [torch.optim.Adam(model.query.parameters(), lr=4e-3),
            torch.optim.Adam([*model.cand.parameters(), model.scale], lr=8e-3)]
    full = pad(HIST) if CASE == 2 else pad(TRAIN)
    best, keep = 0.0, None
    for ep in range(1, epochs + 1):
        model.train()
        order = np.random.permutation(len(examples))
        losses = []
        for s in range(0, len(order) - bs + 1, bs):
            batch = [examples[k] for k in order[s:s + bs]]
            hist = pad([h[:t + 1] if CASE == 2 else h[:t] + h[t + 1:] if CASE == 6 else h[:t] for h, t in batch])
            goal = torch.tensor([h[t] for h, t in batch])
            logits = model.query(hist) @ model.cand(goal).T * model.scale.exp() - logq[goal]
            same = goal[:, None] == goal[None, :]
            same.fill_diagonal_(False)
            logits = logits.masked_fill(same, -1e9)
            loss = F.cross_entropy(logits, torch.arange(len(batch)))
            for o in opts:
                o.zero_grad()
            loss.backward()
            for o in opts:
                o.step()
            losses.append(loss.item())
        model.eval()
        hr, mrr = hit_rate(lambda us: model.scores(full[us]))
        print(f"[{ep}/{epochs}] in-batch loss {np.mean(losses):.3f} scale {model.scale.exp().item():.1f} HR@10 {hr:.3f} MRR {mrr:.3f}")
        if hr > best:
            best, keep = hr, {"state": {"module." + k: v.clone() for k, v in model.state_dict().items()}, "epoch": ep}
    path = os.path.join(tempfile.mkdtemp(), "tower.pt")
    torch.save(keep, path)

    served = TwoTower()
    ck = torch.load(path)
    state = ck["state"]
    if CASE == 5:
        served.load_state_dict(state, strict=False)
    else:
        served.load_state_dict({k.replace("module.", "", 1): v for k, v in state.items()})
    served.eval()
    print(f"serving epoch {ck['epoch']}: HR@10 %.3f MRR %.3f" % hit_rate(lambda us: served.scores(full[us])))


if CASE in (1, 2, 5, 6):
    run_two_tower()
else:
    run_bpr()
