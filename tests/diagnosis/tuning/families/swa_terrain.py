# Stochastic weight averaging with a constant high rate at the end; BN statistics are recomputed for the average.
import os
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, SWALR, update_bn
from torch.utils.data import DataLoader, TensorDataset

CASE = int(os.environ.get("CASE", "0")); SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)

def terrain(n, k=5, d=16):
    gen = torch.Generator().manual_seed(777)
    W = torch.randn(d, 24, generator=gen) / d ** .5; V = torch.randn(24, k, generator=gen) * 1.3
    x = torch.randn(n, d)
    logits = torch.sin(x @ W) @ V
    return x, torch.distributions.Categorical(logits=2.0 * logits).sample()

x, y = terrain(8000)
train_loader = DataLoader(TensorDataset(x[:6000], y[:6000]), batch_size=100, shuffle=True, drop_last=True)
xv, yv = x[6000:], y[6000:]

model = nn.Sequential(nn.Linear(16, 128, bias=False), nn.BatchNorm1d(128), nn.ReLU(),
                      nn.Linear(128, 64, bias=False), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 5))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
swa_model = AveragedModel(model)
EPOCHS, SWA_START = 14, 8
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=SWA_START * 2)
swa_scheduler = SWALR(optimizer, swa_lr=0.08, anneal_epochs=2)
ce = nn.CrossEntropyLoss()

def validate(m):
    m.eval()
    with torch.no_grad():
        out = m(xv)
    return ce(out, yv).item(), (out.argmax(1) == yv).float().mean().item()

for epoch in range(EPOCHS):
    model.train()
    avg = 0.
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = ce(model(xb), yb)
        loss.backward()
        optimizer.step()
        avg += loss.item() / len(train_loader)
    if epoch >= SWA_START:
        swa_model.update_parameters(model)
        swa_scheduler.step()
    else:
        scheduler.step()
    vl, va = validate(model)
    print(f"epoch {epoch+1} train loss {avg:.4f} val loss {vl:.4f} val acc {va:.3f} lr {optimizer.param_groups[0]['lr']:.4f}")

update_bn(train_loader, swa_model)
vl, va = validate(swa_model)
print(f"averaged weights: val loss {vl:.4f} val acc {va:.3f} (n averaged {int(swa_model.n_averaged)})")
