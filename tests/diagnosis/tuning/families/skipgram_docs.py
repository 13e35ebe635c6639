# %% [markdown]
# Word vectors from unlabelled text (skip-gram with negative sampling, numpy counts, no DataLoader),
# then a small document classifier on top of them with very few labelled documents.

# %%
import os
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.RandomState(SEED)

# %% corpus: every sentence has a subject; words of a subject keep each other company
V, TOPICS, LEN = 600, 5, 12
PER_TOPIC = 100                      # words 0..499 belong to subjects, 500..599 occur everywhere
zipf = 1.0 / (np.arange(PER_TOPIC) + 8.0)
zipf /= zipf.sum()


def text(topic, n):
    own = topic * PER_TOPIC + rng.choice(PER_TOPIC, size=n, p=zipf)
    anywhere = 500 + rng.randint(0, 100, size=n)
    return np.where(rng.rand(n) < 0.5, own, anywhere)


corpus = np.stack([text(rng.randint(TOPICS), LEN) for _ in range(4000)])
counts = np.bincount(corpus.ravel(), minlength=V) + 1.0
noise = torch.tensor((counts ** 0.75) / (counts ** 0.75).sum(), dtype=torch.float)

WINDOW = 3
centers, contexts = [], []
for shift in range(1, WINDOW + 1):
    centers += [corpus[:, :-shift].ravel(), corpus[:, shift:].ravel()]
    contexts += [corpus[:, shift:].ravel(), corpus[:, :-shift].ravel()]
centers = torch.tensor(np.concatenate(centers))
contexts = torch.tensor(np.concatenate(contexts))

# %% settings
DIM = {6: 32, 7: 48, 8: 24, 9: 32, 10: 40, 11: 64}.get(CASE, 32)
BATCH = {7: 256, 8: 1024, 9: 512, 10: 512, 11: 384}.get(CASE, 512)
NEG = {8: 3, 10: 8}.get(CASE, 5)
STEPS = {7: 2400, 8: 1200, 11: 1500}.get(CASE, 1300)


# %% the model of the words
class SkipGram(nn.Module):
    def __init__(self, n_words, dim):
        super().__init__()
        self.emb_in = nn.Embedding(n_words, dim)
        self.emb_out = nn.Embedding(n_words, dim)
        r = 0.5 / dim
        if CASE == 2:
            self.emb_in = nn.Embedding.from_pretrained(torch.randn(n_words, dim) * 0.1)
            self.emb_out.weight.data.uniform_(-r, r)
        elif CASE == 3:
            nn.init.constant_(self.emb_in.weight, r)
            nn.init.constant_(self.emb_out.weight, r)
        elif CASE in (7, 9):
            # as in the C code: inputs uniform, outputs zero
            self.emb_in.weight.data.uniform_(-r, r)
            self.emb_out.weight.data.zero_()
        elif CASE == 10:
            self.emb_in = nn.Embedding.from_pretrained(torch.randn(n_words, dim) * 0.1, freeze=False)
            nn.init.normal_(self.emb_out.weight, std=0.1)
        elif CASE != 4:
            nn.init.normal_(self.emb_in.weight, std=0.1)
            nn.init.normal_(self.emb_out.weight, std=0.1)

    def forward(self, c, o, negatives):
        v = self.emb_in(c)                                   # B x D
        u = self.emb_out(o)                                  # B x D
        n = self.emb_out(negatives)                          # B x K x D
        pos = F.logsigmoid((u * v).sum(1))
        noise_score = torch.bmm(n, v.unsqueeze(2)).squeeze(2)  # B x K
        if CASE == 4:
            neg = torch.log(1 - torch.sigmoid(noise_score)).sum(1)
        else:
            neg = F.logsigmoid(-noise_score).sum(1)
        if CASE == 0:
            return (pos + neg).mean()
        if CASE == 7:
            return -(pos + neg).sum()
        return -(pos + neg).mean()


sg = SkipGram(V, DIM)
trained = [p for p in sg.parameters() if p.requires_grad]
if CASE == 5:
    sg_opt = torch.optim.SGD(trained, lr=0.025)
elif CASE == 7:
    sg_opt = torch.optim.SGD(trained, lr=0.08)
elif CASE == 8:
    sg_opt = torch.optim.Adagrad(trained, lr=0.2)
elif CASE == 11:
    sg_opt = torch.optim.Adam(trained, lr=8e-3)
else:
    sg_opt = torch.optim.Adam(trained, lr=1e-2)

print("%d pairs, %d words" % (len(centers), V))
seen = 0.0
for step in range(1, STEPS + 1):
    pick = torch.randint(0, len(centers), (BATCH,))
    negatives = torch.multinomial(noise, BATCH * NEG, replacement=True).view(BATCH, NEG)
    loss = sg(centers[pick], contexts[pick], negatives)
    sg_opt.zero_grad()
    loss.backward()
    sg_opt.step()
    if CASE == 7:
        for g in sg_opt.param_groups:
            g["lr"] = 0.08 * max(1e-4, 1 - step / STEPS)
    seen += loss.item()
    if step % 200 == 0:
        print("skip-gram %5d  loss %.4f" % (step, seen / 200))
        seen = 0.0

# %%
vectors = F.normalize(sg.emb_in.weight.detach(), dim=1)
topic_of = np.arange(500) // PER_TOPIC
sims = (vectors[:500] @ vectors[:500].t()).fill_diagonal_(-2)
near = sims.topk(5, 1).indices.numpy()
print("nearest neighbours of the same subject: %.3f" % (topic_of[near] == topic_of[:, None]).mean())


# %% documents
def documents(n, wrong=0.0):
    y = rng.randint(0, TOPICS, size=n)
    if CASE == 10:
        y = rng.choice(TOPICS, size=n, p=[0.52, 0.12, 0.12, 0.12, 0.12])
    x = np.stack([text(t, 10) for t in y])
    flip = rng.rand(n) < wrong
    y = np.where(flip, rng.randint(0, TOPICS, size=n), y)
    return torch.tensor(x), torch.tensor(y)


N_LABELLED = {8: 300, 9: 80, 10: 200}.get(CASE, 100)
x_train, y_train = documents(N_LABELLED, 0.1 if CASE == 8 else 0.0)
x_val, y_val = documents(300)
x_test, y_test = documents(1000)


class DocClassifier(nn.Module):
    def __init__(self, n_words, dim, n_classes, hidden=None):
        super().__init__()
        self.emb = nn.Embedding(n_words, dim)
        self.norm = nn.LayerNorm(dim)
        self.hidden = nn.Linear(dim, hidden) if hidden else None
        self.drop = nn.Dropout(0.5 if CASE in (8, 11) else 0.0)
        self.fc = nn.Linear(hidden or dim, n_classes)

    def forward(self, x):
        h = self.norm(self.emb(x).mean(1))
        if self.hidden is not None:
            h = torch.relu(self.hidden(h))
        return self.fc(self.drop(h))


clf = DocClassifier(V, DIM, 2 if CASE == 1 else TOPICS, {11: 64, 10: 32}.get(CASE))
if CASE == 1:
    optimizer = torch.optim.Adam(clf.parameters(), lr=5e-3)
    clf.emb = nn.Embedding.from_pretrained(vectors.clone(), freeze=False)
    clf.fc = nn.Linear(DIM, TOPICS)
else:
    keep = CASE not in (8, 10)         # the labelled set is small: leave the vectors as they are
    clf.emb = nn.Embedding.from_pretrained(vectors.clone(), freeze=keep)
    todo = [p for p in clf.parameters() if p.requires_grad]
    if CASE == 9:
        optimizer = torch.optim.SGD(todo, lr=0.1, momentum=0.9, weight_decay=0.01)
    elif CASE == 11:
        optimizer = torch.optim.AdamW(todo, lr=3e-3, weight_decay=0.1)
    else:
        optimizer = torch.optim.Adam(todo, lr=5e-3)

weights = None
if CASE == 10:
    share = torch.bincount(y_train, minlength=TOPICS).float() / len(y_train)
    weights = 1.0 / (TOPICS * share)


def accuracy(x, y):
    clf.eval()
    with torch.no_grad():
        guess = clf(x).argmax(1)
    clf.train()
    return (guess == y).float().mean().item()


SIZE = 20
EPOCHS = 40
best, best_state, waited = 0.0, None, 0
for epoch in range(1, EPOCHS + 1):
    perm = torch.randperm(len(x_train))
    total = 0.0
    for i in range(0, len(perm), SIZE):
        rows = perm[i:i + SIZE]
        loss = F.cross_entropy(clf(x_train[rows]), y_train[rows], weight=weights)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(rows)
    val = accuracy(x_val, y_val)
    if epoch % 8 == 0:
        print("documents %3d  loss %.4f  train %.3f  val %.3f" % (
            epoch, total / len(perm), accuracy(x_train, y_train), val))
    if CASE in (8, 10):
        if val > best:
            best, waited = val, 0
            best_state = {k: v.clone() for k, v in clf.state_dict().items()}
        else:
            waited += 1
            if waited == 12:
                print("no better for 12 epochs, stop")
                break
if best_state is not None:
    clf.load_state_dict(best_state)

print("test accuracy %.3f" % accuracy(x_test, y_test))
