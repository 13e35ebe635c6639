import os
import math
import random
from collections import Counter
import torch
from torch import nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
random.seed(SEED); torch.manual_seed(SEED)

TOPICS = {
    "billing": "invoice charged refund twice payment card amount fee wrong month".split(),
    "delivery": "parcel late courier lost address door driver tracking box arrived".split(),
    "account": "password login locked email reset profile code verify device signin".split(),
    "quality": "broken scratched noise stopped loose battery screen smell defect cheap".split(),
}
COMMON = ("the a i my it was is and to of you have please not again very after before still when with "
          "order customer help week day yesterday called nobody answer").split()
LABELS = list(TOPICS)


def make_doc():
    lab = random.choice(LABELS)
    words = []
    for _ in range(random.randint(8, 22)):
        r = random.random()
        if r < 0.17:
            words.append(random.choice(TOPICS[lab]))
        elif r < 0.27:
            words.append(random.choice(TOPICS[random.choice(LABELS)]))
        else:
            words.append(random.choice(COMMON))
    return " ".join(words), LABELS.index(lab)


train_docs = [make_doc() for _ in range(3000)]
valid_docs = [make_doc() for _ in range(700)]
freq = Counter(w for d, _ in train_docs for w in d.split())
vocab = {w: i + 1 for i, (w, c) in enumerate(freq.most_common()) if c >= 2}


def collate(batch):
    ids, offs, labs = [], [], []
    for text, lab in batch:
        offs.append(len(ids))
        ids.extend(vocab.get(w, 0) for w in text.split())
        labs.append(lab)
    return torch.tensor(ids), torch.tensor(offs), torch.tensor(labs)


class FastText(nn.Module):
    def __init__(self, n, dim, k):
        super().__init__()
        self.emb = nn.EmbeddingBag(n, dim, mode="mean")
        self.out = nn.Linear(dim, k)
        nn.init.uniform_(self.emb.weight, -0.4, 0.4)

    def forward(self, ids, offs):
        return self.out(self.emb(ids, offs))


net = FastText(len(vocab) + 1, 24, len(LABELS))
opt = torch.optim.SGD(net.parameters(), lr=4.0)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.88)
lossf = nn.CrossEntropyLoss()
B = 32
step = 0
for ep in range(12):
    random.shuffle(train_docs)
    tot = n = 0
    net.train()
    for i in range(0, len(train_docs), B):
        ids, offs, lab = collate(train_docs[i:i + B])
        loss = lossf(net(ids, offs), lab)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        tot += loss.item() * len(lab); n += len(lab); step += 1
    sched.step()
    net.eval()
    with torch.no_grad():
        ids, offs, lab = collate(valid_docs)
        pred = net(ids, offs).argmax(-1)
        acc = (pred == lab).float().mean().item()
    print(f"epoch {ep + 1:2d} | step {step} | train loss {tot / n:.4f} ppl {math.exp(tot / n):.2f} | valid acc {acc:.3f}")
for k, name in enumerate(LABELS):
    m = lab == k
    print(f"{name:10s} recall {(pred[m] == k).float().mean():.3f} n={int(m.sum())}")
