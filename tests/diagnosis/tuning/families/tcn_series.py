# %% [markdown]
# # Temporal convolutional networks on sensor series
# Forecasting (next value) and per-step anomaly flags, dilated convolutions, notebook style.

# %%
import math
import os

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import clip_grad_norm_
from torch.utils.data import DataLoader, Dataset, TensorDataset

CASE = int(os.environ.get('CASE', '6'))
SEED = int(os.environ.get('SEED', '0'))
torch.manual_seed(SEED)
torch.set_num_threads(1)

# %% configuration
cfg = dict(task='forecast', channels=24, levels=4, kernel=3, dropout=0.0, batch=32, window=64, lr=2e-3,
           epochs=8, norm='none', causal=True, length=6000, optimizer='adam', clip=None)
if CASE == 0:
    cfg.update(causal=False, epochs=9)
elif CASE == 1:
    cfg.update(length=2000, epochs=20, channels=32)
elif CASE == 2:
    cfg.update(task='stuck', epochs=8, lr=3e-3)
elif CASE == 3:
    cfg.update(dropout=0.3, norm='batch', channels=32, epochs=8)
elif CASE == 4:
    cfg.update(task='spikes', epochs=8)
elif CASE == 5:
    cfg.update(optimizer='sgd', lr=0.05, clip=1e-3)
elif CASE == 7:
    cfg.update(task='spikes', epochs=6, lr=3e-3, norm='batch')
elif CASE == 8:
    cfg.update(norm='group', batch=2, epochs=2, lr=1e-3)
elif CASE == 9:
    cfg.update(task='stuck', epochs=7, dropout=0.1, optimizer='adamw', lr=3e-3)
elif CASE == 10:
    cfg.update(task='spikes', causal=False, epochs=8, kernel=5, levels=3)
elif CASE == 11:
    cfg.update(optimizer='sgd', lr=0.05, clip=1.0, epochs=14, channels=20)


# %% data
def series(n, seed):
    """two seasons, a slow AR(1) level and a nonlinear shock response"""
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(n, dtype=torch.float32)
    e = torch.randn(n, generator=g)
    x = torch.zeros(n)
    lvl = 0.0
    for i in range(n):
        lvl = 0.97 * lvl + 0.12 * e[i].item()
        prev = x[i - 1].item() if i else 0.0
        prev7 = x[i - 7].item() if i > 7 else 0.0
        x[i] = 0.5 * lvl + 0.5 * math.tanh(1.8 * prev7 - 0.9 * prev) + 0.25 * e[i].item()
    return x + torch.sin(2 * torch.pi * t / 24) + 0.5 * torch.sin(2 * torch.pi * t / 10)


class Windows(Dataset):
    def __init__(self, x, w, stride=1):
        self.x, self.w, self.stride = x, w, stride

    def __len__(self):
        return (len(self.x) - self.w - 1) // self.stride + 1

    def __getitem__(self, i):
        i = i * self.stride
        return self.x[i:i + self.w].unsqueeze(0), self.x[i + 1:i + self.w + 1].unsqueeze(0)


def spikes(n, T, seed):
    """a dip-and-rebound hidden in a noisy wave; about 4 % of the steps are anomalous"""
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(T).float()
    ph = torch.rand(n, 1, generator=g) * 6.28
    x = torch.sin(0.2 * t + ph) + 0.25 * torch.randn(n, T, generator=g)
    y = torch.zeros(n, T)
    for i in range(n):
        for _ in range(int(torch.randint(0, 3, (1,), generator=g))):
            s = int(torch.randint(5, T - 8, (1,), generator=g))
            x[i, s:s + 3] -= 1.5
            x[i, s + 3] += 1.0
            y[i, s + 1:s + 4] = 1
    return x.unsqueeze(1), y.unsqueeze(1)


def stuck(n, T, seed):
    """a sensor that sometimes holds its last value; recordings end early and are padded with the last reading"""
    g = torch.Generator().manual_seed(seed)
    x = torch.cumsum(0.3 * torch.randn(n, T, generator=g), 1) * 0.3 + torch.randn(n, T, generator=g) * 0.15
    y = torch.zeros(n, T)
    valid = torch.zeros(n, T)
    for i in range(n):
        L = int(torch.randint(T // 4, T + 1, (1,), generator=g))
        for _ in range(3):
            s = int(torch.randint(2, T - 2, (1,), generator=g))
            d = int(torch.randint(4, 12, (1,), generator=g))
            x[i, s:s + d] = x[i, s]
            y[i, s + 2:s + d] = 1
        x[i, L:] = x[i, L - 1]
        y[i, L:] = 0
        valid[i, :L] = 1
    return x.unsqueeze(1), y.unsqueeze(1), valid.unsqueeze(1)


if cfg['task'] == 'forecast':
    x = series(cfg['length'], SEED + 1)
    n_train = int(0.7 * len(x))
    n_val = int(0.85 * len(x))
    mu, sd = x[:n_train].mean(), x[:n_train].std()
    x = (x - mu) / sd
    w = cfg['window']
    stride = 2 if len(x) < 3000 else 4
    train_ds = Windows(x[:n_train], w, stride)
    val_ds = Windows(x[n_train:n_val], w, 4)
    test_ds = Windows(x[n_val:], w, 4)
    if CASE == 1:
        loaders = {'train': DataLoader(train_ds, cfg['batch'], shuffle=True),
                   'val': DataLoader(train_ds, 64),
                   'test': DataLoader(test_ds, 64)}
    else:
        loaders = {'train': DataLoader(train_ds, cfg['batch'], shuffle=True),
                   'val': DataLoader(val_ds, 64),
                   'test': DataLoader(test_ds, 64)}
else:
    make = spikes if cfg['task'] == 'spikes' else stuck
    loaders = {'train': DataLoader(TensorDataset(*make(1500, 80, SEED + 1)), cfg['batch'], shuffle=True),
               'val': DataLoader(TensorDataset(*make(300, 80, SEED + 2)), 100),
               'test': DataLoader(TensorDataset(*make(300, 80, SEED + 3)), 100)}


# %% model
class Block(nn.Module):
    def __init__(self, cin, cout, k, dil):
        super().__init__()
        self.span = (k - 1) * dil
        self.c1 = nn.Conv1d(cin, cout, k, dilation=dil)
        self.c2 = nn.Conv1d(cout, cout, k, dilation=dil)
        self.n1, self.n2 = (self.norm(cout) for _ in range(2))
        self.drop = nn.Dropout(cfg['dropout'])
        self.skip = nn.Conv1d(cin, cout, 1) if cin != cout else nn.Identity()

    @staticmethod
    def norm(c):
        return {'none': nn.Identity(), 'batch': nn.BatchNorm1d(c), 'group': nn.GroupNorm(4, c)}[cfg['norm']]

    def pad(self, x):
        if cfg['causal']:
            return F.pad(x, (self.span, 0))
        return F.pad(x, (self.span // 2, self.span - self.span // 2))

    def forward(self, x):
        z = self.drop(F.relu(self.n1(self.c1(self.pad(x)))))
        z = self.drop(F.relu(self.n2(self.c2(self.pad(z)))))
        return F.relu(z + self.skip(x))


ch = cfg['channels']
model = nn.Sequential(*[Block(1 if i == 0 else ch, ch, cfg['kernel'], 2 ** i) for i in range(cfg['levels'])],
                      nn.Conv1d(ch, 1, 1))
print(sum(p.numel() for p in model.parameters()), 'parameters')

# %% optimizer
if cfg['optimizer'] == 'sgd':
    optimizer = torch.optim.SGD(model.parameters(), lr=cfg['lr'], momentum=0.9, nesterov=True)
elif cfg['optimizer'] == 'adamw':
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg['lr'], weight_decay=0.02)
else:
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg['lr'])
warm = 60
scheduler = torch.optim.lr_scheduler.LambdaLR(
    optimizer, lambda s: min(1.0, (s + 1) / warm) if CASE in (5, 11) else 1.0)


# %% losses
def criterion(out, y, mask=None):
    if cfg['task'] == 'forecast':
        return F.mse_loss(out, y)
    if cfg['task'] == 'stuck':
        if CASE == 2:
            return F.binary_cross_entropy_with_logits(out, y)
        return (F.binary_cross_entropy_with_logits(out, y, reduction='none') * mask).sum() / mask.sum()
    if CASE == 4:
        return F.cross_entropy(out, y)
    if CASE == 7:
        return F.binary_cross_entropy_with_logits(out, y, pos_weight=torch.tensor(8.0))
    return F.binary_cross_entropy_with_logits(out, y)


@torch.no_grad()
def evaluate(part):
    if CASE == 3:
        model.eval
    else:
        model.eval()
    outs, ys, ms = [], [], []
    for batch in loaders[part]:
        outs.append(model(batch[0]))
        ys.append(batch[1])
        ms.append(batch[2] if len(batch) > 2 else torch.ones_like(batch[1]))
    out, y, m = torch.cat(outs), torch.cat(ys), torch.cat(ms).bool()
    model.train()
    if cfg['task'] == 'forecast':
        return {'mse': F.mse_loss(out, y).item(), 'last': F.mse_loss(out[..., -1], y[..., -1]).item(),
                'var': y.var().item()}
    p, t = (out > 0)[m], (y > 0)[m]
    tp = (p & t).sum().item()
    prec, rec = tp / max(1, p.sum().item()), tp / max(1, t.sum().item())
    return {'precision': prec, 'recall': rec, 'f1': 2 * prec * rec / max(1e-9, prec + rec)}


def show(d):
    return ' '.join('%s %.3f' % kv for kv in d.items())


# %% training
best, bad, best_state = float('inf'), 0, None
step = 0
for epoch in range(cfg['epochs']):
    tot = 0.0
    for batch in loaders['train']:
        out = model(batch[0])
        loss = criterion(out, *batch[1:])
        optimizer.zero_grad()
        loss.backward()
        if cfg['clip'] is not None:
            clip_grad_norm_(model.parameters(), cfg['clip'])
        optimizer.step()
        scheduler.step()
        tot += loss.item()
        step += 1
    v = evaluate('val')
    if epoch % max(1, cfg['epochs'] // 10) == 0 or epoch == cfg['epochs'] - 1:
        print('epoch %2d step %4d train %.4f | val %s' % (epoch, step, tot / len(loaders['train']), show(v)))
    if CASE == 11:
        # early stopping on the forecast error
        if v['mse'] < best - 1e-4:
            best, bad = v['mse'], 0
            best_state = {k: s.clone() for k, s in model.state_dict().items()}
        else:
            bad += 1
            if bad == 4:
                print('early stop at epoch', epoch)
                break
if best_state is not None:
    model.load_state_dict(best_state)
print('test', show(evaluate('test')))
