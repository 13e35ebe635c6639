"""Headlines in four desks. The word vectors are frozen on purpose (as if they were GloVe); a small convolution learns on top of them."""
import os
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)
V, D, L, K = 400, 32, 12, 4
# "pretrained" vectors: words of one theme lie near one another
theme = np.r_[-np.ones(200, int), rng.integers(0, K, 200)]
cent = rng.normal(0, 1, (K, D))
vec = rng.normal(0, 1, (V, D))
vec[theme >= 0] = 0.7 * cent[theme[theme >= 0]] + 0.75 * vec[theme >= 0]
vec[0] = 0


class Headlines(Dataset):
    def __init__(self, n):
        self.items = []
        for _ in range(n):
            y = int(rng.integers(0, K))
            ln = int(rng.integers(5, L + 1))
            w = rng.integers(1, 200, ln)
            for j in range(ln):
                u = rng.random()
                if u < .2: w[j] = rng.choice(np.flatnonzero(theme == y))
                elif u < .3: w[j] = rng.integers(200, V)
            self.items.append((np.r_[w, np.zeros(L - ln, int)], y))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        w, y = self.items[i]
        return torch.from_numpy(w), y


class TextCNN(nn.Module):
    def __init__(self, vectors):
        super().__init__()
        self.emb = nn.Embedding.from_pretrained(torch.tensor(vectors, dtype=torch.float32), freeze=True, padding_idx=0)
        self.convs = nn.ModuleList([nn.Conv1d(D, 24, k, padding=k // 2) for k in (1, 3)])
        self.drop = nn.Dropout(0.3)
        self.fc = nn.Linear(48, K)

    def forward(self, w):
        e = self.emb(w).transpose(1, 2)
        return self.fc(self.drop(torch.cat([torch.relu(c(e)).amax(2) for c in self.convs], 1)))


tr, va = DataLoader(Headlines(2400), 48, shuffle=True), DataLoader(Headlines(800), 200)
model = TextCNN(vec)
trainable = [p for p in model.parameters() if p.requires_grad]
print("trainable", sum(p.numel() for p in trainable), "of", sum(p.numel() for p in model.parameters()))
opt = torch.optim.Adam(trainable, lr=2e-3)
for epoch in range(7):
    model.train()
    s = n = 0
    for w, y in tr:
        loss = nn.functional.cross_entropy(model(w), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        s += loss.item() * len(y); n += len(y)
    model.eval()
    c = m = 0; vl = 0.0
    with torch.no_grad():
        for w, y in va:
            z = model(w)
            vl += nn.functional.cross_entropy(z, y, reduction="sum").item()
            c += (z.argmax(1) == y).sum().item(); m += len(y)
    print(f"epoch {epoch} train {s / n:.4f} val {vl / m:.4f} acc {c / m:.4f}")
