import argparse
import math
import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, TensorDataset, random_split

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

PAD, CLS, NOT = 0, 1, 2
QUEUES = ["billing", "delivery", "returns", "account", "technical", "praise"]


def get_args():
    p = argparse.ArgumentParser(description="route customer mails to queues")
    p.add_argument("--vocab", type=int, default=160)
    p.add_argument("--max-len", type=int, default=20)
    p.add_argument("--d-model", type=int, default=32)
    p.add_argument("--heads", type=int, default=4)
    p.add_argument("--layers", type=int, default=2)
    p.add_argument("--epochs", type=int, default=9)
    p.add_argument("--batch", type=int, default=50)
    p.add_argument("--accum", type=int, default=1)
    p.add_argument("--lr", type=float, default=4e-3)
    return p.parse_args([])


def make_mails(n, vocab, max_len, seed):
    r = np.random.default_rng(seed)
    g = np.random.default_rng(4)
    words = np.arange(10, vocab)
    keys = g.permutation(words)[:60].reshape(6, 10)
    freq = 1 / np.arange(1, len(words) + 1) ** 0.6
    freq /= freq.sum()
    toks = np.full((n, max_len), PAD)
    y = r.choice(6, n, p=[.25, .22, .17, .14, .12, .10])
    for i in range(n):
        length = r.integers(10, max_len - 2)
        body = r.choice(words, length, p=freq)
        spots = r.choice(np.arange(0, length - 1, 2), 4, replace=False)
        other = r.integers(0, 6)
        for j, s in enumerate(spots):
            if j < 2 or (j == 2 and r.random() < 0.5):
                body[s] = r.choice(keys[y[i]])
            elif r.random() < 0.6:          # "not about the other thing"
                body[s], body[s + 1] = NOT, r.choice(keys[other])
        toks[i, 0] = CLS
        toks[i, 1:length + 1] = body
    flip = r.random(n) < 0.03
    y[flip] = r.integers(0, 6, flip.sum())
    return torch.from_numpy(toks), torch.from_numpy(y)


class MailEncoder(nn.Module):
    def __init__(self, a, pool="cls", norm_first=False):
        super().__init__()
        self.emb = nn.Embedding(a.vocab, a.d_model, padding_idx=PAD)
        self.pos = nn.Parameter(0.02 * torch.randn(a.max_len, a.d_model))
        layer = nn.TransformerEncoderLayer(a.d_model, a.heads, 2 * a.d_model, dropout=0.1,
                                           batch_first=True, norm_first=norm_first)
        self.enc = nn.TransformerEncoder(layer, a.layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(a.d_model)
        self.head = nn.Linear(a.d_model, 6)
        self.pool = pool

    def forward(self, tok):
        pad = tok != PAD if CASE == 2 else tok == PAD
        h = self.enc(self.emb(tok) * math.sqrt(8) + self.pos, src_key_padding_mask=pad)
        if self.pool == "cls":
            h = h[:, 0]
        else:
            keep = (~pad).unsqueeze(-1)
            h = h.masked_fill(~keep, float("-inf")).max(1).values
        return self.head(self.norm(h))


def evaluate(model, loader, lossf):
    model.eval()
    loss, hit, n = 0.0, 0, 0
    with torch.no_grad():
        for t, y in loader:
            out = model(t)
            loss += lossf(out, y).item() * len(y)
            hit += int((out.argmax(-1) == y).sum())
            n += len(y)
    return loss / n, hit / n


def main():
    a = get_args()
    torch.manual_seed(SEED)
    if CASE == 0:
        a.batch, a.accum = 60, 32
    if CASE == 4:
        a.lr = 5e-2
    toks, y = make_mails(2100, a.vocab, a.max_len, SEED + 20)
    train, valid = random_split(TensorDataset(toks, y), [1700, 400])
    test = TensorDataset(*make_mails(500, a.vocab, a.max_len, SEED + 999))
    tl = DataLoader(train, a.batch, shuffle=True, drop_last=True)
    vl, sl = DataLoader(valid, 250), DataLoader(test, 300)

    if CASE == 5:
        model = MailEncoder(a, pool="max", norm_first=True)
        decay = [p for n, p in model.named_parameters() if p.dim() > 1 and "emb" not in n]
        rest = [p for n, p in model.named_parameters() if p.dim() <= 1 or "emb" in n]
        opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.05}, {"params": rest, "weight_decay": 0.0}], lr=5e-3)
        total = a.epochs * len(tl)
        sched = LambdaLR(opt, lambda s: min((s + 1) / 60, 0.5 * (1 + math.cos(math.pi * s / total))))
        lossf = nn.CrossEntropyLoss(label_smoothing=0.15)
    else:
        model = MailEncoder(a)
        opt = torch.optim.Adam(model.parameters(), lr=a.lr)
        sched = LambdaLR(opt, lambda s: min(1.0, (s + 1) / 60))
        lossf = nn.CrossEntropyLoss()

    ckpt = os.path.join(tempfile.mkdtemp(), "best.pt")
    best = 0.0 if CASE == 3 else float("inf")
    step = 0
    for epoch in range(1, a.epochs + 1):
        model.train()
        opt.zero_grad()
        for i, (t, lab) in enumerate(tl):
            loss = lossf(model(t), lab)
            (loss / a.accum).backward()
            if (i + 1) % a.accum == 0:
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                opt.step()
                sched.step()
                opt.zero_grad()
            step += 1
            if step % 50 == 0:
                print(f"  it {step} loss {loss.item():.4f} lr {opt.param_groups[0]['lr']:.2e}")
        vloss, vacc = evaluate(model, vl, lossf)
        print(f"epoch {epoch} valid loss {vloss:.4f} acc {vacc:.3f}")
        if (vloss > best) if CASE == 3 else (vloss < best):
            best = vloss
            torch.save(model.state_dict(), ckpt)
            print("  saved", os.path.basename(ckpt))
    model.load_state_dict(torch.load(ckpt))
    print("test loss %.4f acc %.3f" % evaluate(model, sl, lossf))


if __name__ == "__main__":
    main()
