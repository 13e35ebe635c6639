import math, os, random
import torch, torch.nn as nn

CASE = int(os.environ.get('CASE', 1))
SEED = int(os.environ.get('SEED', 0))
torch.manual_seed(SEED)
torch.set_num_threads(1)
random.seed(SEED)

TOPICS = {
    'sport':   'goal match referee league striker coach stadium whistle penalty'.split(),
    'cooking': 'onion simmer oven butter whisk recipe garlic dough pepper'.split(),
    'space':   'orbit rocket comet lunar probe galaxy thrust nebula crater'.split(),
    'money':   'bond market dividend broker loan interest shares hedge tax'.split(),
    'garden':  'soil compost rose prune seedling hedgehog weed spade lawn'.split(),
}
COMMON = ('the of and to in is it was for on are as with they at be this from have or by one had '
          'not but what all were when we there can an your which said if do will each about how').split()
NAMES = list(TOPICS)
MAXLEN = 20


def article(label):
    n = random.randint(9, 17)
    words = [random.choice(COMMON) for _ in range(n)]
    other = NAMES[(label + random.randint(1, 4)) % 5]
    spots = random.sample(range(n), 5)
    for s in spots[:4]:
        words[s] = random.choice(TOPICS[NAMES[label]])
    for s in spots[4:]:
        words[s] = random.choice(TOPICS[other])
    return words


vocab = {'<pad>': 0, '<cls>': 1}
for w in COMMON + [w for ws in TOPICS.values() for w in ws]:
    vocab.setdefault(w, len(vocab))


def encode(words):
    ids = [1] + [vocab[w] for w in words]
    return ids + [0] * (MAXLEN - len(ids))


def dataset(n):
    ys = [random.randrange(5) for _ in range(n)]
    xs = [encode(article(y)) for y in ys]
    return torch.tensor(xs), torch.tensor(ys)


class Classifier(nn.Module):
    def __init__(self, d=32, heads=2, layers=2, drop=0.1):
        super().__init__()
        self.tok = nn.Embedding(len(vocab), d)
        self.pos = nn.Parameter(torch.randn(MAXLEN, d) * 0.02)
        layer = nn.TransformerEncoderLayer(d, heads, 2 * d, drop, batch_first=(CASE != 7))
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(d)
        self.head = nn.Linear(d, 5)

    def forward(self, ids):
        x = self.tok(ids) + self.pos[:ids.size(1)]
        if CASE == 0:
            x = self.encoder(x, src_key_padding_mask=(ids != 0))
        elif CASE == 7:
            x = self.encoder(x)
        elif CASE == 5:
            bias = torch.zeros(ids.shape).masked_fill(ids == 0, float('-inf'))
            x = self.encoder(x, src_key_padding_mask=bias)
        else:
            x = self.encoder(x, src_key_padding_mask=(ids == 0))
        return self.head(self.norm(x[:, 0]))


def build_optimizer(net, lr):
    skip = ('bias', 'norm')
    no_decay = [p for n, p in net.named_parameters() if any(s in n for s in skip)]
    decay = [p for n, p in net.named_parameters() if not any(s in n for s in skip)]
    if CASE == 10:
        groups = [{'params': no_decay, 'weight_decay': 0.0}]
    else:
        groups = [{'params': decay, 'weight_decay': 0.01}, {'params': no_decay, 'weight_decay': 0.0}]
    return torch.optim.AdamW(groups, lr=lr)


def main():
    xtr, ytr = dataset(1600)
    xte, yte = dataset(400)
    lr, epochs, bs, accum, drop = 3e-3, 5, 32, 1, 0.1
    if CASE == 4:
        lr = 0.1
    if CASE == 6:
        drop = 0.9
    if CASE == 8:
        bs, accum = 16, 2
    if CASE == 9:
        lr, drop = 8e-4, 0.2
        epochs = 9
    net = Classifier(drop=drop)
    opt = build_optimizer(net, lr)
    per_epoch = len(xtr) // bs
    total = per_epoch * epochs // accum
    if CASE == 3:
        sched = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.8)
    else:
        warm = total // 10
        sched = torch.optim.lr_scheduler.LambdaLR(
            opt, lambda s: min(1.0, (s + 1) / warm) * 0.5 * (1 + math.cos(math.pi * s / total)))
    criterion = nn.CrossEntropyLoss(label_smoothing=0.2 if CASE == 2 else 0.0)

    step = 0
    for ep in range(epochs):
        net.train()
        perm = torch.randperm(len(xtr))
        losses = []
        for i in range(per_epoch):
            b = perm[i * bs:(i + 1) * bs]
            loss = criterion(net(xtr[b]), ytr[b])
            (loss / accum).backward()
            losses.append(loss.item())
            if (i + 1) % accum == 0:
                opt.step()
                opt.zero_grad()
                sched.step()
                step += 1
        net.eval()
        with torch.no_grad():
            hits = sum((net(xte[k:k + 100]).argmax(1) == yte[k:k + 100]).sum().item() for k in range(0, 400, 100))
        print('ep {:2d} step {:4d} | loss {:.3f} | acc {:.1%} | lr {:.2e}'.format(
            ep, step, sum(losses) / len(losses), hits / 400, opt.param_groups[0]['lr']))


if __name__ == '__main__':
    main()
