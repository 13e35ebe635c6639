#!/usr/bin/env python
# conditional densities and quantiles in one dimension
import os, math, sys
import torch
import torch.nn as nn

CASE = int(os.environ.get("CASE", 5))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)
K = 4
LOG2PI = math.log(2 * math.pi)


def two_branches(n, noise=0.15, far=1.0):
    x = torch.rand(n, 1) * 4 - 2
    s = (torch.rand(n, 1) < 0.5).float() * 2 - 1
    return x, far * (s * (0.6 + 0.5 * torch.sin(4 * x)) + 0.4 * x) + noise * torch.randn(n, 1)


def hetero(n):
    x = torch.rand(n, 1) * 4 - 2
    return x, torch.sin(2 * x) + (0.1 + 0.2 * (x + 2)) * torch.randn(n, 1)


def trunk(h=32):
    if CASE == 1:
        return nn.Sequential(nn.Linear(1, h), nn.Linear(h, h), nn.Linear(h, h))
    return nn.Sequential(nn.Linear(1, h), nn.Tanh(), nn.Linear(h, h), nn.Tanh(), nn.Linear(h, h), nn.Tanh())


class MDN(nn.Module):
    def __init__(self, h=32):
        super().__init__()
        self.trunk = trunk(10 if CASE == 4 else h)
        h = 10 if CASE == 4 else h
        self.pi, self.mu, self.ls = nn.Linear(h, K), nn.Linear(h, K), nn.Linear(h, K)

    def forward(self, x):
        z = self.trunk(x)
        return self.pi(z), self.mu(z), self.ls(z)


def nll(out, y):
    pi, mu, ls = out
    if CASE == 3:
        w = torch.softmax(pi, 1)
        p = w * torch.exp(-0.5 * ((y - mu) / ls.exp()) ** 2) / (ls.exp() * math.sqrt(2 * math.pi))
        return -torch.log(p.sum(1)).mean()
    logp = torch.log_softmax(pi, 1) - 0.5 * ((y - mu) * torch.exp(-ls)) ** 2 - ls - 0.5 * LOG2PI
    return -torch.logsumexp(logp, 1).mean()


def fit_mdn(model, data, test, opt, steps, bs=128, clip=None):
    x, y = data
    for s in range(1, steps + 1):
        i = torch.randint(0, len(x), (bs,))
        loss = nll(model(x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        if clip:
            nn.utils.clip_grad_value_(model.parameters(), clip)
        opt.step()
        if s % (steps // 8) == 0:
            with torch.no_grad():
                print(f"{s:5d} nll {loss.item():.4f} test nll {nll(model(test[0]), test[1]).item():.4f}", flush=True)
    with torch.no_grad():
        return -nll(model(test[0]), test[1]).item()


if CASE in (1, 2, 3, 4, 5, 6):
    noise, far = {3: (0.15, 12.0), 6: (0.03, 1.0)}.get(CASE, (0.15, 1.0))
    data, test = two_branches(4000, noise, far), two_branches(1000, noise, far)
    model = MDN()
    if CASE == 4:
        heads = [*model.pi.parameters(), *model.mu.parameters(), *model.ls.parameters()]
        opt = torch.optim.Adam(heads, lr=5e-3)
    elif CASE == 2:
        opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    elif CASE == 6:
        opt = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-3)
    else:
        opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    result = fit_mdn(model, data, test, opt, 1600, clip=1e-5 if CASE == 2 else 10.0)
    print("METRIC %.4f" % result)

elif CASE == 7:
    # quantiles by pinball loss
    taus = torch.tensor([0.05, 0.25, 0.5, 0.75, 0.95])
    net = nn.Sequential(trunk(), nn.Linear(32, 5))
    data, test = hetero(3000), hetero(2000)
    opt = torch.optim.Adagrad(net.parameters(), lr=0.05)
    for s in range(1500):
        i = torch.randint(0, 3000, (64,))
        d = data[1][i] - net(data[0][i])
        loss = torch.maximum(taus * d, (taus - 1) * d).sum(1).mean()
        net.zero_grad()
        loss.backward()
        opt.step()
        if s % 250 == 0:
            print(s, round(loss.item(), 4))
    with torch.no_grad():
        cover = (test[1] < net(test[0])).float().mean(0)
    print("coverage", cover.tolist())
    print("METRIC", round(1 - (cover - taus).abs().max().item(), 4))

elif CASE == 8:
    # gaussian with a variance that depends on x, whole data set, LBFGS
    net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 2))
    (x, y), (xt, yt) = hetero(1500), hetero(1500)

    def gauss(x, y):
        m, s = net(x).chunk(2, 1)
        return (0.5 * ((y - m) * torch.exp(-s)) ** 2 + s + 0.5 * LOG2PI).mean()
    opt = torch.optim.LBFGS(net.parameters(), max_iter=5, line_search_fn="strong_wolfe")
    for s in range(100):
        def closure():
            opt.zero_grad()
            l = gauss(x, y)
            l.backward()
            return l
        l = opt.step(closure)
        if s % 10 == 0:
            print(s, l.item(), gauss(xt, yt).item())
    print("METRIC", round(-gauss(xt, yt).item(), 4))

elif CASE == 9:
    # median regression, linear in the features; three stacked linear maps
    w = torch.randn(12, 1)
    X = torch.randn(2500, 12)
    Y = X @ w + torch.distributions.StudentT(2.0).sample((2500, 1)) * 0.3
    net = nn.Sequential(nn.Linear(12, 24, bias=False), nn.Linear(24, 24, bias=False), nn.Linear(24, 1))
    lr = 0.02
    for s in range(1200):
        i = torch.randint(0, 2000, (32,))
        loss = (net(X[i]) - Y[i]).abs().mean()
        grads = torch.autograd.grad(loss, list(net.parameters()))
        with torch.no_grad():
            for p, g in zip(net.parameters(), grads):
                p -= lr * (1 - s / 1200) * g
        if s % 200 == 0:
            print(s, loss.item())
    with torch.no_grad():
        res = (net(X[2000:]) - Y[2000:]).abs().median() / Y[2000:].abs().median()
    print("METRIC", round(1 - res.item(), 4))

else:
    # an ensemble, members trained one after the other, dropout kept on for the spread
    data, test = hetero(2000), hetero(1000)
    preds = []
    for k in range(4):
        torch.manual_seed(SEED * 10 + k)
        net = nn.Sequential(nn.Linear(1, 64), nn.ReLU(), nn.Dropout(0.05), nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.05), nn.Linear(64, 2))
        opt = torch.optim.Adam(net.parameters(), lr=5e-3)
        for s in range(400):
            i = torch.randint(0, 2000, (100,))
            m, r = net(data[0][i]).chunk(2, 1)
            loss = nn.functional.gaussian_nll_loss(m, data[1][i], nn.functional.softplus(r) + 1e-4)
            opt.zero_grad(); loss.backward(); opt.step()
        print("member", k, "nll", round(loss.item(), 4))
        with torch.no_grad():
            for _ in range(5):
                m, r = net(test[0]).chunk(2, 1)
                preds.append((m, nn.functional.softplus(r) + 1e-4))
    ll = torch.stack([-0.5 * (test[1] - m) ** 2 / v - 0.5 * v.log() - 0.5 * LOG2PI for m, v in preds])
    print("METRIC", round((torch.logsumexp(ll, 0) - math.log(len(preds))).mean().item(), 4))
