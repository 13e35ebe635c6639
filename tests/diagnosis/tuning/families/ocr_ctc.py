# reads short digit strings: conv features -> recurrent layer -> CTC
import os, time, random
import numpy as np
import torch
from torch import nn, optim
import torch.nn.functional as F

CASE = int(os.environ.get('CASE', '0'))
SEED = int(os.environ.get('SEED', '0'))
torch.manual_seed(SEED); np.random.seed(SEED); random.seed(SEED)

FONT = {
    '0': '111101101101111', '1': '010110010010111', '2': '111001111100111', '3': '111001111001111', '4': '101101111001001',
    '5': '111100111001111', '6': '111100111101111', '7': '111001010010010', '8': '111101111101111', '9': '111101111001111'}
ALPHABET = '0123456789'
IMG_H, IMG_W = 12, 48
MIN_LEN, MAX_LEN = 2, 5

# class 0..9 are the digits and the blank is last in half of my experiments, first in the others
BLANK = 10 if CASE in (1, 7, 9) else 0
OFFSET = 0 if BLANK == 10 else 1


def render(text):
    img = np.zeros((IMG_H, IMG_W), np.float32)
    x = np.random.randint(0, 4)
    for ch in text:
        glyph = np.array([int(c) for c in FONT[ch]], np.float32).reshape(5, 3).repeat(2, 0).repeat(2, 1)
        y = np.random.randint(0, 3)
        img[y:y + 10, x:x + 6] = np.maximum(img[y:y + 10, x:x + 6], glyph)
        x += 6 + np.random.randint(2, 4)
    img *= np.random.uniform(0.7, 1.0)
    img += np.random.normal(0, 0.1, img.shape)
    return img


def make_set(n):
    texts = [''.join(np.random.choice(list(ALPHABET), np.random.randint(MIN_LEN, MAX_LEN + 1))) for _ in range(n)]
    return np.stack([render(t) for t in texts]), texts


def collate(images, texts):
    x = torch.from_numpy(np.stack(images))[:, None]
    x = (x - 0.25) / 0.4
    lengths = torch.tensor([len(t) for t in texts])
    y = torch.zeros(len(texts), MAX_LEN, dtype=torch.long)
    for i, t in enumerate(texts):
        y[i, :len(t)] = torch.tensor([ALPHABET.index(c) + OFFSET for c in t])
    if CASE == 1:
        lengths = torch.full((len(texts),), y.size(1))
    return x, y, lengths


class ConvNet(nn.Module):
    def __init__(self, ch=16, act=nn.ReLU, deep=False):
        super().__init__()
        bn = nn.BatchNorm2d
        seq = [nn.Conv2d(1, ch, 3, padding=1), bn(ch), act(), nn.MaxPool2d(2)]
        if deep:
            for _ in range(3):
                seq += [nn.Conv2d(ch, ch, 3, padding=1), bn(ch), act()]
        seq += [nn.Conv2d(ch, 2 * ch, 3, padding=1), bn(2 * ch), act(), nn.MaxPool2d((2, 1))]
        self.seq = nn.Sequential(*seq)
        self.width = 2 * ch * 3

    def forward(self, x):
        f = self.seq(x)                              # B C 3 24
        b, c, h, w = f.size()
        if CASE == 3:
            return f.contiguous().view(w, b, c * h)
        return f.permute(3, 0, 1, 2).reshape(w, b, c * h)


class Reader(nn.Module):
    def __init__(self, width, hidden=32, kind='gru', p=0.0):
        super().__init__()
        cls = {'gru': nn.GRU, 'lstm': nn.LSTM, 'rnn': nn.RNN}[kind]
        self.rnn = cls(width, hidden, bidirectional=True)
        self.drop = nn.Dropout(p)
        self.out = nn.Linear(2 * hidden, len(ALPHABET) + 1)

    def forward(self, f):
        h, _ = self.rnn(self.drop(f) if CASE == 5 else f)
        logits = self.out(self.drop(h))              # T B C
        if CASE == 0:
            return F.log_softmax(logits, dim=1)
        return F.log_softmax(logits, dim=2)


class CRNN(nn.Module):
    def __init__(self, cnn, reader):
        super().__init__()
        self.cnn, self.reader = cnn, reader

    def forward(self, x):
        return self.reader(self.cnn(x))


def ctc(lp, y, lengths):
    t = torch.full((lp.size(1),), lp.size(0), dtype=torch.long)
    if CASE == 10:
        return F.ctc_loss(lp, y, t, lengths, blank=BLANK, reduction='sum')
    return F.ctc_loss(lp, y, t, lengths, blank=BLANK, zero_infinity=True)


def decode(lp):
    best = lp.argmax(2).t().tolist()
    out = []
    for seq in best:
        s, prev = '', None
        for k in seq:
            if k != prev and k != BLANK:
                s += ALPHABET[k - OFFSET]
            prev = k
        out.append(s)
    return out


def edit(a, b):
    d = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        prev, d[0] = d[0], i
        for j, cb in enumerate(b, 1):
            prev, d[j] = d[j], min(d[j] + 1, d[j - 1] + 1, prev + (ca != cb))
    return d[-1]


def test(model, images, texts):
    model.eval()
    with torch.no_grad():
        x, _, _ = collate(images, texts)
        got = decode(model(x))
    model.train()
    cer = sum(edit(g, t) for g, t in zip(got, texts)) / sum(len(t) for t in texts)
    exact = np.mean([g == t for g, t in zip(got, texts)])
    return cer, exact, list(zip(texts, got))[:3]


train_images, train_texts = make_set(1600)
test_images, test_texts = make_set(120)

cnn = ConvNet(ch=12 if CASE == 8 else 16,
              act=nn.LeakyReLU if CASE == 9 else nn.ReLU,
              deep=CASE == 11)
reader = Reader(cnn.width, hidden=48 if CASE == 7 else 32, kind={6: 'lstm', 9: 'lstm', 11: 'rnn'}.get(CASE, 'gru'),
                p={5: 0.9, 7: 0.5}.get(CASE, 0.0))
model = CRNN(cnn, reader)

BATCH = {2: 8, 8: 8, 10: 24}.get(CASE, 16)
STEPS = {2: 700, 8: 700, 7: 500, 9: 450}.get(CASE, 400)
sched = None
if CASE in (2, 8):
    # the features move slower than the reader
    opt_cnn = optim.SGD(cnn.parameters(), lr=0.02, momentum=0.9)
    opt_reader = optim.Adam(reader.parameters(), lr=3e-3)
    opts = [opt_cnn, opt_reader]
elif CASE == 4:
    opts = [optim.Adam(cnn.parameters(), lr=2e-3), optim.Adam(reader.parameters(), lr=3e-3)]
elif CASE == 6:
    opts = [optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)]
elif CASE == 9:
    opts = [optim.AdamW(model.parameters(), lr=6e-3, weight_decay=1e-2)]
    sched = optim.lr_scheduler.OneCycleLR(opts[0], 6e-3, total_steps=STEPS)
elif CASE == 10:
    # loss summed over the batch, so the rate is per sample
    opts = [optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)]
else:
    opts = [optim.Adam(model.parameters(), lr=3e-3)]


def train_on_batch(x, y, lengths):
    loss = ctc(model(x), y, lengths)
    if CASE == 2:
        reader.zero_grad()
    elif CASE != 4:
        model.zero_grad()
    loss.backward()
    if CASE not in (2, 8, 10):
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    for o in opts:
        o.step()
        if CASE == 4:
            model.zero_grad()
    if sched is not None:
        sched.step()
    return loss.item()


start, running = time.time(), []
order = np.random.permutation(len(train_texts))
pos = 0
for step in range(1, STEPS + 1):
    if pos + BATCH > len(order):
        order, pos = np.random.permutation(len(train_texts)), 0
    pick = order[pos:pos + BATCH]
    pos += BATCH
    running.append(train_on_batch(*collate([train_images[i] for i in pick], [train_texts[i] for i in pick])))
    if step % (STEPS // 5) == 0:
        cer, exact, shown = test(model, test_images, test_texts)
        print('step %d  ctc %.3f  cer %.3f  exact %.3f  %s' % (step, np.mean(running), cer, exact, shown))
        running = []
