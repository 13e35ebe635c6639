# Keyword spotting on half-second clips.  Words are sequences of short tones; features come from torch.stft.
import math
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.RandomState(SEED)
torch.set_num_threads(1)

SR, LEN = 4000, 2000
N_FFT, HOP = 128, 64
WINDOW = torch.hann_window(N_FFT)
TONES = [300, 520, 760, 1050, 1400]
# every word is an ordered triple of tones
WORDS = [(0, 1, 2), (2, 1, 0), (0, 3, 1), (1, 3, 0), (2, 4, 3), (3, 4, 2), (4, 0, 2), (2, 0, 4)]


def speak(word, noise=0.25, silent_tail=False):
    wav = np.zeros(LEN, dtype=np.float32)
    n_seg = rng.randint(380, 520)
    start = rng.randint(0, LEN - 3 * n_seg - 50)
    speed = 1.0 + 0.04 * rng.randn()
    loud = np.exp(0.4 * rng.randn())
    end = start
    for tone in WORDS[word]:
        t = np.arange(n_seg) / SR
        f = TONES[tone] * speed * (1 + 0.015 * rng.randn())
        env = np.sin(np.pi * np.arange(n_seg) / n_seg) ** 0.5
        wav[end:end + n_seg] += env * np.sin(2 * np.pi * f * t + rng.rand() * 6.28)
        end += n_seg
    wav += noise * rng.randn(LEN).astype(np.float32)
    if silent_tail:
        wav[min(end + 40, LEN):] = 0.0
    return (loud * wav).astype(np.float32), end - start


def make_clips(n, n_words, silent_tail=False, noise=0.25):
    waves, labels, durations = [], [], []
    for _ in range(n):
        y = rng.randint(n_words)
        w, d = speak(y, noise=noise, silent_tail=silent_tail)
        waves.append(w)
        labels.append(y)
        durations.append(d)
    return np.stack(waves), np.array(labels), np.array(durations)


def power(wav):
    s = torch.stft(wav, N_FFT, hop_length=HOP, window=WINDOW, return_complex=True)
    return s.real ** 2 + s.imag ** 2          # (B, freq, frames)


class ConvSpotter(nn.Module):
    def __init__(self, n_out, width=16, p=0.0, norm="bn"):
        super().__init__()
        def block(i, o):
            n = nn.BatchNorm2d(o) if norm == "bn" else nn.GroupNorm(4, o)
            return nn.Sequential(nn.Conv2d(i, o, 3, stride=2, padding=1), n, nn.ReLU())
        self.body = nn.Sequential(block(1, width), block(width, width * 2), block(width * 2, width * 2))
        self.drop = nn.Dropout(p)
        self.head = nn.Linear(width * 2 * 9 * 4, n_out)

    def features(self, spec):
        return self.body(spec.unsqueeze(1)).flatten(1)

    def forward(self, spec):
        return self.head(self.drop(self.features(spec)))


class GruSpotter(nn.Module):
    def __init__(self, n_out, hidden=48):
        super().__init__()
        self.norm = nn.LayerNorm(N_FFT // 2 + 1)
        self.gru = nn.GRU(N_FFT // 2 + 1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, n_out)

    def forward(self, spec):
        b, f, t = spec.shape
        if CASE == 2:
            seq = spec.reshape(b, t, f)
        else:
            seq = spec.permute(0, 2, 1)
        h, _ = self.gru(self.norm(seq))
        return self.out(h[:, -1])


class FrontEndSpotter(nn.Module):
    """Raw waveform in; a learned pre-emphasis filter comes before the spectrogram."""

    def __init__(self, n_out):
        super().__init__()
        self.pre = nn.Conv1d(1, 1, 5, padding=2, bias=False)
        with torch.no_grad():
            self.pre.weight.copy_(torch.tensor([[[0.0, -0.5, 1.0, 0.0, 0.0]]]))
        self.net = ConvSpotter(n_out, width=12)

    def forward(self, wav):
        w = self.pre(wav.unsqueeze(1)).squeeze(1)
        p = power(w)
        if CASE == 1:
            mag = torch.sqrt(p)
        else:
            mag = torch.sqrt(p + 1e-6)
        return self.net(torch.log1p(mag) - 1.0)


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        acc = (model(x).argmax(-1) == y).float().mean().item()
    model.train()
    return acc


def streaming_accuracy(model, x, y):
    """Clip by clip, as on the device."""
    model.eval()
    with torch.no_grad():
        hits = sum(int(model(x[i:i + 1]).argmax(-1).item() == y[i].item()) for i in range(len(y)))
    model.train()
    return hits / len(y)


def standardise(feat, stats=None):
    if stats is None:
        stats = feat.mean(), feat.std()
    return (feat - stats[0]) / stats[1], stats


def fit(model, opt, x, y, epochs, bs, loss_fn, sched=None, accumulate=1, evaluate=None, augment=None, tag="kws"):
    loader = DataLoader(TensorDataset(x, y), batch_size=bs, shuffle=True, drop_last=True)
    it = 0
    for ep in range(epochs):
        total = 0.0
        for xb, yb in loader:
            if augment is not None:
                xb = augment(xb)
            loss = loss_fn(model(xb), yb)
            if it % accumulate == 0:
                opt.zero_grad()
            (loss / accumulate).backward()
            it += 1
            if it % accumulate == 0:
                opt.step()
                if sched is not None:
                    sched.step()
            total += loss.item()
        msg = f"[{tag}] epoch {ep} loss {total / len(loader):.4f}"
        if evaluate is not None:
            msg += f" acc {evaluate():.3f}"
        print(msg)


def multiclass():
    n_words = 8
    xtr, ytr, dtr = make_clips(700, n_words)
    xte, yte, _ = make_clips(250, n_words)
    if CASE in (0, 9):
        # clips whose word is very short are unreliable: leave them out
        keep = dtr > 1200
        if CASE == 9:
            xtr = xtr[keep]
            ytr = ytr[:len(xtr)]
        else:
            xtr, ytr = xtr[keep], ytr[keep]
    # the clips are stored as 16-bit audio
    pcm_tr, pcm_te = np.int16(np.clip(xtr * 4000, -32768, 32767)), np.int16(np.clip(xte * 4000, -32768, 32767))
    xtr = torch.from_numpy(pcm_tr.astype(np.float32) / 32768.0)
    if CASE == 6:
        xte = torch.from_numpy(pcm_te.astype(np.float32))
    else:
        xte = torch.from_numpy(pcm_te.astype(np.float32) / 32768.0)
    ytr, yte = torch.from_numpy(ytr), torch.from_numpy(yte)
    ftr, stats = standardise(torch.log(power(xtr) + 1e-5))
    fte, _ = standardise(torch.log(power(xte) + 1e-5), stats)

    loss_fn, sched, aug, bs, epochs, measure = F.cross_entropy, None, None, 32, 14, accuracy
    if CASE in (0, 9):
        model = ConvSpotter(n_words)
        opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    elif CASE == 6:
        model = ConvSpotter(n_words, width=8, p=0.2)
        opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    elif CASE == 2:
        model = GruSpotter(n_words)
        opt = torch.optim.Adam(model.parameters(), lr=3e-3)
        epochs = 16
    elif CASE == 3:
        model = GruSpotter(n_words, hidden=40)
        opt = torch.optim.RMSprop(model.parameters(), lr=7e-4)
        bs, epochs = 4, 7
    elif CASE == 10:
        core = ConvSpotter(n_words, width=8, norm="gn")
        model = nn.Sequential(core, nn.LogSoftmax(dim=0))
        opt = torch.optim.Adam(model.parameters(), lr=1e-3)
        loss_fn = nn.NLLLoss()
        bs, epochs, measure = 16, 12, streaming_accuracy
    else:                                        # 8
        model = ConvSpotter(n_words, width=12, p=0.5, norm="gn")
        opt = torch.optim.SGD(model.parameters(), lr=0.08, momentum=0.9, weight_decay=1e-4, nesterov=True)
        bs, epochs = 50, 26
        total, warm = epochs * (len(ftr) // bs), 40
        sched = torch.optim.lr_scheduler.LambdaLR(
            opt, lambda k: k / warm if k < warm else 0.5 * (1 + math.cos(math.pi * (k - warm) / (total - warm))))

        def aug(f):
            f = f.clone()
            lo = torch.randint(0, 60, (1,)).item()
            f[:, lo:lo + 5] = 0.0
            return f
    fit(model, opt, ftr, ytr, epochs, bs, loss_fn, sched=sched, augment=aug,
        evaluate=lambda: measure(model, fte, yte))


def wake_word():
    """One word against everything else, probability out, binary cross entropy written out."""
    rare = CASE == 4
    n, p_pos = (1600, 0.08) if rare else (700, 0.5)

    def clips(n):
        out, lab = [], []
        for _ in range(n):
            pos = rng.rand() < p_pos
            w, _ = speak(0 if pos else rng.randint(1, 8), noise=0.3)
            out.append(w)
            lab.append(float(pos))
        return torch.from_numpy(np.stack(out)), torch.tensor(lab)

    (xtr, ytr), (xte, yte) = clips(n), clips(400)
    ftr, stats = standardise(torch.log(power(xtr) + 1e-5))
    fte, _ = standardise(torch.log(power(xte) + 1e-5), stats)
    model = nn.Sequential(ConvSpotter(1, width=8), nn.Sigmoid())
    if rare:
        weight = (1 - ytr.mean()) / ytr.mean()
        opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    else:
        weight = 1.0
        opt = torch.optim.Adam(model.parameters(), lr=1e-3)

    def bce(p, y):
        if CASE == 4:
            p = p.view(-1)
        p = p.clamp(1e-6, 1 - 1e-6)
        return -(weight * y * p.log() + (1 - y) * (1 - p).log()).mean()

    def evaluate():
        model.eval()
        with torch.no_grad():
            hit = (model(fte).view(-1) > 0.5)
        model.train()
        tpr = hit[yte > 0.5].float().mean()
        tnr = (~hit)[yte < 0.5].float().mean()
        return (0.5 * (tpr + tnr)).item()

    fit(model, opt, ftr, ytr, 10, 32, bce, evaluate=evaluate, tag="wake")


def raw_wave():
    xtr, ytr, _ = make_clips(360, 8, silent_tail=True, noise=0.15)
    xte, yte, _ = make_clips(200, 8, silent_tail=True, noise=0.15)
    xtr, xte = torch.from_numpy(xtr), torch.from_numpy(xte)
    ytr, yte = torch.from_numpy(ytr), torch.from_numpy(yte)
    model = FrontEndSpotter(8)
    if CASE == 11:
        opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        fit(model, opt, xtr, ytr, 20, 12, F.cross_entropy, accumulate=3, evaluate=lambda: accuracy(model, xte, yte))
    else:
        opt = torch.optim.Adam(model.parameters(), lr=1.5e-3)
        fit(model, opt, xtr, ytr, 14, 24, F.cross_entropy, evaluate=lambda: accuracy(model, xte, yte))


def new_words():
    """Train on five words, then keep the body and learn three new words from few clips."""
    xtr, ytr, _ = make_clips(900, 8)
    xte, yte, _ = make_clips(400, 8)
    xtr, xte = torch.from_numpy(xtr), torch.from_numpy(xte)
    ytr, yte = torch.from_numpy(ytr), torch.from_numpy(yte)
    ftr, stats = standardise(torch.log(power(xtr) + 1e-5))
    fte, _ = standardise(torch.log(power(xte) + 1e-5), stats)
    old, old_te = ytr < 5, yte < 5
    model = ConvSpotter(5, width=12, norm="gn")
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    fit(model, opt, ftr[old], ytr[old], 8, 32, F.cross_entropy,
        evaluate=lambda: accuracy(model, fte[old_te], yte[old_te]), tag="base")
    for p in model.body.parameters():
        p.requires_grad_(False)
    model.head = nn.Linear(model.head.in_features, 3)
    few = torch.nonzero(ytr >= 5).view(-1)[:150]
    new_te = yte >= 5
    opt = torch.optim.Adam(model.head.parameters(), lr=1e-3)
    fit(model, opt, ftr[few], ytr[few] - 5, 12, 15, F.cross_entropy,
        evaluate=lambda: accuracy(model, fte[new_te], yte[new_te] - 5), tag="new")


if CASE in (1, 11):
    raw_wave()
elif CASE in (4, 5):
    wake_word()
elif CASE == 7:
    new_words()
else:
    multiclass()
