"""Word-level GRU language model on recipes, with tied input and output weights."""
import os
import math
import random
import torch
import torch.nn as nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
random.seed(SEED)
torch.manual_seed(SEED)
ING = "onion carrot garlic flour butter milk egg sugar salt rice beef tomato".split()
TOOL = {"chop": "knife", "fry": "pan", "boil": "pot", "bake": "oven", "whisk": "bowl"}


def recipe():
    ing = random.sample(ING, 3)
    out = ["take"] + [ing[0], "and", ing[1], "and", ing[2], "."]
    for i in ing:
        verb = random.choice(list(TOOL))
        out += [verb, "the", i] + (["in" if verb != "chop" else "with", "the", TOOL[verb]] if random.random() < .8 else []) + \
               (["for", random.choice(["two", "five", "ten"]), "minutes"] if random.random() < .5 else []) + ["."]
    return out + ["serve", "<eos>"]


text = [w for _ in range(1300) for w in recipe()]
itos = sorted(set(text))
stoi = {w: i for i, w in enumerate(itos)}
ids = torch.tensor([stoi[w] for w in text])
cut = int(0.9 * len(ids))


def batchify(x, b):
    n = len(x) // b
    return x[: n * b].view(b, n).t().contiguous()      # time, batch


class TiedLM(nn.Module):
    def __init__(self, v, d=48):
        super().__init__()
        self.drop = nn.Dropout(0.1)
        self.encoder = nn.Embedding(v, d)
        self.rnn = nn.GRU(d, d)
        self.decoder = nn.Linear(d, v)
        self.decoder.weight = self.encoder.weight
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)

    def forward(self, x, h):
        o, h = self.rnn(self.drop(self.encoder(x)), h)
        return self.decoder(self.drop(o)), h


train, val = batchify(ids[:cut], 20), batchify(ids[cut:], 10)
net = TiedLM(len(itos))
opt = torch.optim.Adam(net.parameters(), lr=8e-3)
BPTT = 25
crit = nn.CrossEntropyLoss()
print("vocabulary", len(itos), "tokens", len(ids), "parameters", sum(p.numel() for p in net.parameters()))


def evaluate():
    net.eval()
    h, tot = None, 0.0
    with torch.no_grad():
        for i in range(0, len(val) - 1, BPTT):
            k = min(BPTT, len(val) - 1 - i)
            o, h = net(val[i:i + k], h)
            tot += crit(o.flatten(0, 1), val[i + 1:i + 1 + k].flatten()).item() * k
    net.train()
    return tot / (len(val) - 1)


for epoch in range(5):
    h = None
    for n, i in enumerate(range(0, len(train) - 1, BPTT)):
        k = min(BPTT, len(train) - 1 - i)
        if h is not None:
            h = h.detach()
        o, h = net(train[i:i + k], h)
        loss = crit(o.flatten(0, 1), train[i + 1:i + 1 + k].flatten())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        opt.step()
        if n % 25 == 0:
            print(f"epoch {epoch} batch {n} loss {loss.item():.3f}")
    v = evaluate()
    print(f"| end of epoch {epoch} | valid loss {v:.4f} | ppl {math.exp(v):.2f}")
    opt.param_groups[0]["lr"] *= 0.6
