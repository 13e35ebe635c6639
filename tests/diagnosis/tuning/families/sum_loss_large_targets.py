"""House sale prices in euros (hundreds of thousands), scaled by the training statistics; the loss is a SUM over the batch, with a rate that fits it."""
import os
import torch

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
gen = torch.Generator().manual_seed(SEED)
torch.manual_seed(SEED)
n = 3600
size = 60 + 45 * torch.randn(n, generator=gen).abs()
plot = 200 + 300 * torch.rand(n, generator=gen)
age = 90 * torch.rand(n, generator=gen) ** 1.5
city = torch.randint(0, 5, (n,), generator=gen)
base = torch.tensor([2100., 2900., 1700., 3600., 2400.])[city]
price = (base * size * (1 - 0.004 * age) + 180 * plot + 15000 * (age < 5)) * torch.exp(0.1 * torch.randn(n, generator=gen))
feat = torch.cat([torch.stack([size.log(), plot.log(), age.sqrt()], 1), torch.nn.functional.one_hot(city, 5).float()], 1)
target = price.log()
mu, sd = feat[:3000].mean(0), feat[:3000].std(0)
feat = (feat - mu) / sd
tm, ts = target[:3000].mean(), target[:3000].std()
tgt = (target - tm) / ts

w1 = (torch.randn(8, 40) / 8 ** .5).requires_grad_()
b1 = torch.zeros(40, requires_grad=True)
w2 = (torch.randn(40, 1) / 40 ** .5).requires_grad_()
b2 = torch.zeros(1, requires_grad=True)
params = [w1, b1, w2, b2]


def f(x):
    return (torch.tanh(x @ w1 + b1) @ w2 + b2)[:, 0]


BATCH = 60
vel = [torch.zeros_like(p) for p in params]
for epoch in range(24):
    lr = 8e-4 * (0.5 if epoch >= 12 else 1) * (0.4 if epoch >= 19 else 1)
    total = 0.0
    for j in torch.randperm(3000).split(BATCH):
        loss = ((f(feat[j]) - tgt[j]) ** 2).sum()
        grads = torch.autograd.grad(loss, params)
        with torch.no_grad():
            for p, g, v in zip(params, grads, vel):
                v.mul_(0.8).add_(g)
                p.sub_(lr * v)
        total += loss.item()
    with torch.no_grad():
        pred = torch.exp(f(feat[3000:]) * ts + tm)
        rel = ((pred - price[3000:]).abs() / price[3000:])
        rmse = (pred - price[3000:]).pow(2).mean().sqrt()
    print(f"epoch {epoch:2d} lr {lr:.5f} summed loss per batch {total / (3000 / BATCH):8.3f} | val RMSE {rmse:9.0f} EUR median error {100 * rel.median():.2f}%")
print("std of the prices", round(price[3000:].std().item()))
