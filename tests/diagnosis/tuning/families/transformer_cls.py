import math
import os
import random
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
random.seed(SEED)
torch.manual_seed(SEED)

TOPICS = ["Sport Goal Team Match".split(), "Stock Bond Trade Bank".split(),
          "Atom Cell Gene Laser".split(), "Film Song Actor Dance".split()]
FILL = "The A Of And In It Was On With For".split()
PAD, UNK, CLS = 0, 1, 2


def sentence():
    label = random.randrange(4)
    n = random.randint(5, 24)
    words = [random.choice(FILL) for _ in range(n)]
    spots = random.sample(range(n), min(n, 5))
    for s in spots[:3]:
        words[s] = random.choice(TOPICS[label])
    other = random.choice([t for t in range(4) if t != label])
    for s in spots[3:]:
        words[s] = random.choice(TOPICS[other])
    return " ".join(words), label


class Texts(Dataset):
    def __init__(self, n, vocab):
        self.items = [sentence() for _ in range(n)]
        self.vocab = vocab

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        text, label = self.items[i]
        ids = [CLS] + [self.vocab.get(w, UNK) for w in text.split()]
        return torch.tensor(ids), label


def build_vocab():
    words = FILL + [w for t in TOPICS for w in t]
    if CASE == 4:
        words = [w.lower() for w in words]
    return {w: i + 3 for i, w in enumerate(words)}


def collate(batch):
    ids = nn.utils.rnn.pad_sequence([b[0] for b in batch], batch_first=True, padding_value=PAD)
    return ids, torch.tensor([b[1] for b in batch])


class Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.h = heads
        self.qkv = nn.Linear(d, 3 * d)
        self.proj = nn.Linear(d, d)

    def forward(self, x, mask):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.h, d // self.h).permute(2, 0, 3, 1, 4)
        s = q @ k.transpose(-2, -1) / math.sqrt(d // self.h)
        s = s.masked_fill(mask[:, None, None, :], float("-inf") if CASE not in (1, 2) else -1e9)
        return self.proj((s.softmax(0 if CASE == 2 else -1) @ v).transpose(1, 2).reshape(b, t, d))


class Block(nn.Module):
    def __init__(self, d, heads, p):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.att = Attention(d, heads)
        self.ff = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))
        self.drop = nn.Dropout(p)

    def forward(self, x, mask):
        x = x + self.drop(self.att(self.n1(x), mask))
        return x + self.drop(self.ff(self.n2(x)))


class Classifier(nn.Module):
    def __init__(self, vocab, d=32, heads=4, layers=2, p=0.1):
        super().__init__()
        self.emb = nn.Embedding(vocab, d, padding_idx=PAD)
        self.pos = nn.Parameter(torch.randn(1, 32, d) * 0.02)
        self.drop = nn.Dropout(p)
        self.blocks = nn.ModuleList([Block(d, heads, p) for _ in range(layers)])
        self.norm = nn.LayerNorm(d)
        self.head = nn.Linear(d, 4)
        if CASE == 9:
            self.aux = nn.Linear(d, 2)

    def forward(self, ids):
        mask = ids == PAD
        if CASE == 1:
            mask = ids != PAD
        x = self.drop(self.emb(ids) + self.pos[:, :ids.shape[1]])
        for b in self.blocks:
            x = b(x, mask)
        return self.head(self.norm(x)[:, 0])


vocab = build_vocab()
train_set, test_set = Texts(2000, vocab), Texts(500, vocab)
train_loader = DataLoader(train_set, batch_size=32, shuffle=True, collate_fn=collate)
test_loader = DataLoader(test_set, batch_size=100, collate_fn=collate)

model = Classifier(len(vocab) + 3, p=0.9 if CASE == 5 else 0.1)
lr = 2e-3
if CASE == 3:
    lr = 0.08
if CASE == 7:
    lr = 3e-4
if CASE == 8:
    model.emb.weight.requires_grad_(False)
decay = [p for p in model.parameters() if p.ndim > 1 and p.requires_grad]
rest = [p for p in model.parameters() if p.ndim <= 1]
optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.01}, {"params": rest, "weight_decay": 0.0}], lr=lr)
steps = 0
sched = None
if CASE in (6, 9):
    sched = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min((s + 1) / 100, 10 / math.sqrt(s + 1)))

for epoch in range(9 if CASE == 7 else 4):
    model.train()
    seen = 0.0
    for ids, y in train_loader:
        logits = model(ids)
        loss = nn.functional.nll_loss(torch.log_softmax(logits, dim=1), y)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if sched:
            sched.step()
        steps += 1
        seen += loss.item()
    model.eval()
    ok = n = 0
    with torch.no_grad():
        for ids, y in test_loader:
            ok += (model(ids).argmax(-1) == y).sum().item()
            n += len(y)
    print("epoch", epoch, "steps", steps, "loss", seen / len(train_loader), "acc", ok / n)
print("METRIC", ok / n)
