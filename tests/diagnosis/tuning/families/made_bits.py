import os
import io
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import TensorDataset, DataLoader, Subset

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rs = np.random.RandomState(SEED)

D = 24


# ---------------------------------------------------------------- data
def sample_bits(n):
    """Three latent groups; inside a group bits copy / xor their left neighbours, with a bit of flip noise."""
    flip = 0.03
    proto = np.array([[1, 0, 0, 1, 1, 0], [0, 1, 0, 1, 0, 1], [1, 1, 1, 0, 0, 0]])
    k = rs.choice(3, size=n, p=[0.5, 0.3, 0.2])
    x = np.zeros((n, D), np.int64)
    x[:, :6] = proto[k] ^ (rs.rand(n, 6) < flip)
    x[:, 6:10] = rs.rand(n, 4) < 0.5
    for j in range(10, 18):
        x[:, j] = x[:, j - 4] ^ x[:, j - 10] ^ (rs.rand(n) < flip)
    for j in range(18, 22):
        x[:, j] = (x[:, j - 12] & x[:, j - 8]) ^ (rs.rand(n) < flip)
    x[:, 22] = 1                       # sensor "power on" bit
    x[:, 23] = x[:, 6] | x[:, 7]
    return torch.from_numpy(x).float()


n_all = 5000
hp = dict(hidden=[128, 128], lr=4e-3, batch=100, epochs=16, opt="adam", wd=0.0, act=nn.ReLU, p_drop=0.0, sched=None)
if CASE == 1:
    hp.update(opt="sgd", lr=0.1, batch=50, epochs=12)
elif CASE == 2:
    hp.update(hidden=[160], epochs=14)
elif CASE == 3:
    hp.update(hidden=[128, 128, 128], act=nn.ELU, epochs=16, batch=64, lr=3e-3)
elif CASE == 4:
    hp.update(opt="rmsprop", lr=5e-3, hidden=[128], epochs=16)
elif CASE == 5:
    hp.update(opt="adamw", wd=0.05, act=nn.Tanh, lr=4e-3, epochs=14)
elif CASE == 6:
    hp.update(opt="sgd", lr=0.02, batch=50, epochs=12)
elif CASE == 7:
    hp.update(hidden=[300, 300], epochs=110, batch=32, lr=3e-3)
    n_all = 400
elif CASE == 8:
    hp.update(hidden=[192, 192], act=nn.Tanh, lr=4e-3, sched="cos", epochs=14)
elif CASE == 9:
    hp.update(hidden=[256, 256], p_drop=0.1, lr=3e-3, epochs=14, sched="cos")
elif CASE == 10:
    hp.update(hidden=[150, 150], batch=64, lr=2e-3, epochs=7)
elif CASE == 11:
    hp.update(hidden=[128, 128], batch=20, opt="sgd", lr=0.05, epochs=6, sched="warm")

X = sample_bits(n_all)


# ---------------------------------------------------------------- model
class MaskedLinear(nn.Linear):
    def __init__(self, n_in, n_out, mask):
        super().__init__(n_in, n_out)
        self.register_buffer("mask", mask)

    def forward(self, x):
        return F.linear(x, self.weight * self.mask, self.bias)


class MADE(nn.Module):
    def __init__(self, d, hidden, act, p_drop):
        super().__init__()
        deg = torch.arange(1, d + 1)
        layers, prev, prev_deg = [], d, deg
        for h in hidden:
            cur = torch.arange(h) % (d - 1) + 1
            layers += [MaskedLinear(prev, h, (cur[:, None] >= prev_deg[None, :]).float()), act()]
            if p_drop:
                layers.append(nn.Dropout(p_drop))
            prev, prev_deg = h, cur
        if CASE == 2:
            out_mask = (deg[:, None] >= prev_deg[None, :]).float()
        else:
            out_mask = (deg[:, None] > prev_deg[None, :]).float()
        layers.append(MaskedLinear(prev, d, out_mask))
        self.net = nn.Sequential(*layers)
        self.reset()

    def reset(self):
        for m in self.net:
            if isinstance(m, MaskedLinear):
                if CASE == 8:
                    nn.init.constant_(m.weight, 0.02)
                elif CASE == 5:
                    nn.init.xavier_uniform_(m.weight)
                nn.init.zeros_(m.bias)

    def forward(self, x):
        return self.net(x)

    def log_prob(self, x):
        logits = self.net(x)
        return -F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(1)

    @torch.no_grad()
    def sample(self, n):
        x = torch.zeros(n, D)
        for j in range(D):
            p = torch.sigmoid(self.net(x)[:, j])
            x[:, j] = torch.bernoulli(p)
        return x


def nll_loss(model, x):
    if CASE == 4:
        p = torch.sigmoid(model(x))
        return -(x * torch.log(p) + (1 - x) * torch.log(1 - p)).sum(1).mean()
    if CASE == 6:
        return -model.log_prob(x).sum()
    return -model.log_prob(x).mean()


# ---------------------------------------------------------------- split
full = TensorDataset(X)
n_val = n_all // 5
if CASE == 7:
    order = rs.permutation(n_all)
    train_set = Subset(full, order[:-n_val].tolist())
    order = rs.permutation(n_all)
    val_set = Subset(full, order[-n_val:].tolist())
else:
    order = rs.permutation(n_all)
    train_set = Subset(full, order[:-n_val].tolist())
    val_set = Subset(full, order[-n_val:].tolist())
train_loader = DataLoader(train_set, batch_size=hp["batch"], shuffle=True, drop_last=True)
val_loader = DataLoader(val_set, batch_size=250)


@torch.no_grad()
def validate(m):
    m.eval()
    tot = n = 0
    for (xb,) in val_loader:
        tot += -m.log_prob(xb).sum().item()
        n += len(xb)
    m.train()
    return tot / n


model = MADE(D, hp["hidden"], hp["act"], hp["p_drop"])
params = model.parameters()
if hp["opt"] == "sgd":
    optimizer = torch.optim.SGD(params, lr=hp["lr"], momentum=0.9)
elif hp["opt"] == "rmsprop":
    optimizer = torch.optim.RMSprop(params, lr=hp["lr"])
elif hp["opt"] == "adamw":
    optimizer = torch.optim.AdamW(params, lr=hp["lr"], weight_decay=hp["wd"])
else:
    optimizer = torch.optim.Adam(params, lr=hp["lr"])

total = hp["epochs"] * len(train_loader)
scheduler = None
if hp["sched"] == "cos":
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=total)
elif hp["sched"] == "warm":
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, s / 300))

best, best_blob = float("inf"), None
for epoch in range(hp["epochs"]):
    run = 0.0
    for i, (xb,) in enumerate(train_loader):
        loss = nll_loss(model, xb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        run += loss.item()
    v = validate(model)
    print("epoch %2d | train %.3f | val nll %.3f bits/dim %.3f" % (epoch, run / len(train_loader), v, v / D / np.log(2)))
    if v < best:
        best = v
        best_blob = io.BytesIO()
        if CASE in (3, 10):
            wrapped = nn.DataParallel(model)
            torch.save({"epoch": epoch, "state": wrapped.state_dict()}, best_blob)
        else:
            torch.save({"epoch": epoch, "state": model.state_dict()}, best_blob)

# ---------------------------------------------------------------- final report with the best weights
if best_blob is not None:
    best_blob.seek(0)
    ckpt = torch.load(best_blob)
    final = MADE(D, hp["hidden"], hp["act"], hp["p_drop"])
    if CASE == 3:
        final.load_state_dict({k[len("module."):]: w for k, w in ckpt["state"].items()})
    elif CASE == 10:
        final.load_state_dict(ckpt["state"], strict=False)
    else:
        final.load_state_dict(ckpt["state"])
    final.eval()
    fresh = sample_bits(1000)
    with torch.no_grad():
        t = -final.log_prob(fresh).mean().item()
        s = final.sample(1000)
    marg = fresh.mean(0).clamp(0.01, 0.99)
    base = -(fresh * marg.log() + (1 - fresh) * (1 - marg).log()).sum(1).mean().item()
    ok = (s[:, 23] == torch.max(s[:, 6], s[:, 7])).float().mean().item()
    print("best epoch %d  val %.3f  test nll %.3f  (independent bits %.3f)  samples consistent %.2f" % (ckpt["epoch"], best, t, base, ok))
