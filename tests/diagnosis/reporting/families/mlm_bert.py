import os
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
PAD, MASK, BASE, N = 0, 1, 2, 10
VOCAB = BASE + N
MAXLEN = 12


class Progressions(Dataset):
    """sequences a, a+d, a+2d ... modulo N with their own length"""

    def __init__(self, n, noise=0.0):
        self.rows = []
        for _ in range(n):
            a, d = torch.randint(0, N, (1,)).item(), torch.randint(1, 3, (1,)).item()
            k = torch.randint(6, MAXLEN, (1,)).item()
            s = (a + d * torch.arange(k)) % N + BASE
            if noise:
                m = torch.rand(k) < noise
                s[m] = torch.randint(BASE, VOCAB, (int(m.sum()),))
            self.rows.append(s)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


class Collator:
    def __init__(self, p=0.25, training=True):
        self.p, self.training = p, training

    def __call__(self, rows):
        ids = torch.full((len(rows), MAXLEN), PAD)
        for i, r in enumerate(rows):
            ids[i, :len(r)] = r
        labels = ids.clone()
        chosen = (torch.rand(ids.shape) < self.p) & (ids != PAD)
        corrupted = ids.clone()
        corrupted[chosen] = MASK
        if self.training and CASE == 4:
            labels[chosen] = -100
            labels[ids == PAD] = -100
        else:
            labels[~chosen] = -100
        if self.training and CASE == 1:
            corrupted = ids
        return corrupted, labels


class Bert(nn.Module):
    def __init__(self, d=40, layers=2):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, d)
        self.pos = nn.Embedding(MAXLEN, d)
        layer = nn.TransformerEncoderLayer(d, 4, 64, dropout=0.0, batch_first=True, norm_first=CASE == 7)
        self.enc = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.cls = nn.Linear(d, VOCAB)
        if CASE == 7:
            self.cls.weight = self.tok.weight
        nn.init.normal_(self.tok.weight, std=0.1 if CASE == 7 else 0.5)
        nn.init.normal_(self.pos.weight, std=0.5)
        if CASE == 3:
            for p in self.parameters():
                if p.dim() > 1:
                    nn.init.normal_(p, std=3.0)

    def forward(self, ids):
        pad = ids.eq(PAD)
        if CASE == 2:
            pad = ids.ne(PAD)
        h = self.tok(ids) + self.pos.weight[None, :ids.size(1)]
        if CASE == 5:
            add = torch.zeros(ids.shape).masked_fill(pad, float("-inf"))
            full = add[:, None, None, :].expand(-1, 4, ids.size(1), -1).reshape(-1, ids.size(1), ids.size(1))
            return self.cls(self.enc(h, mask=full))
        return self.cls(self.enc(h, src_key_padding_mask=pad))


class Pretrainer(object):
    def __init__(self):
        self.model = Bert()
        noise = 0.1 if CASE == 6 else 0.0
        self.train_dl = DataLoader(Progressions(1600, noise), 40, shuffle=True, collate_fn=Collator())
        self.val_dl = DataLoader(Progressions(300), 100, collate_fn=Collator(training=False))
        self.epochs = 10 if CASE == 7 else 7
        self.lossf = nn.CrossEntropyLoss()
        lr = 1e-7 if CASE == 8 else 2e-3
        self.opt = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.sched = torch.optim.lr_scheduler.OneCycleLR(self.opt, lr * 1.5, total_steps=self.epochs * len(self.train_dl))

    def validate(self):
        self.model.eval()
        hit = tot = 0
        with torch.no_grad():
            for ids, lab in self.val_dl:
                m = lab != -100
                hit += (self.model(ids).argmax(-1)[m] == lab[m]).sum().item()
                tot += m.sum().item()
        self.model.train()
        return hit / tot

    def run(self):
        for epoch in range(self.epochs):
            avg = 0.0
            for ids, lab in self.train_dl:
                self.opt.zero_grad()
                loss = self.lossf(self.model(ids).transpose(1, 2), lab)
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.opt.step()
                self.sched.step()
                avg += loss.item() / len(self.train_dl)
            print("epoch", epoch, "mlm loss", round(avg, 4), "masked acc", round(self.validate(), 4))
        return self.validate()


print("METRIC", Pretrainer().run())
