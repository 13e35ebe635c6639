"""Linear, logistic and kernel models, mostly by hand and mostly full batch."""
import os

import numpy as np
import torch

CASE = int(os.environ.get("CASE", "5"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
np.random.seed(SEED)


def logistic_data(n=1000, d=15, sharp=3.0):
    w = torch.randn(d)
    x = torch.randn(n, d)
    y = (torch.rand(n) < torch.sigmoid(sharp * (x @ w) + 0.5)).float()
    k = int(0.7 * n)
    return x[:k], y[:k], x[k:], y[k:]


def logistic_gd():
    """gradient descent on the negative log-likelihood"""
    x, y, xt, yt = logistic_data()
    w = torch.zeros(x.shape[1], requires_grad=True)
    b = torch.zeros(1, requires_grad=True)
    lam, lr = 1e-5, 4.0
    if CASE == 3:
        lam = 20.0
        lr = 0.02
    for i in range(1, 501):
        z = x @ w + b
        if CASE == 2:
            p = torch.sigmoid(z)
            ll = y * torch.log(p) + (1 - y) * torch.log(1 - p)
        else:
            ll = y * torch.nn.functional.logsigmoid(z) + (1 - y) * torch.nn.functional.logsigmoid(-z)
        if CASE == 1:
            loss = ll.mean() + lam * w.pow(2).sum()
        else:
            loss = -ll.mean() + lam * w.pow(2).sum()
        loss.backward()
        with torch.no_grad():
            w -= lr * w.grad
            b -= lr * b.grad
        w.grad.zero_()
        b.grad.zero_()
        if i % 100 == 0:
            with torch.no_grad():
                acc = (((xt @ w + b) > 0).float() == yt).float().mean().item()
            print(f"iter {i} loss {loss.item():.4f} test acc {acc:.3f}")
    with torch.no_grad():
        return "acc", (((xt @ w + b) > 0).float() == yt).float().mean().item()


def logistic_lbfgs():
    x, y, xt, yt = logistic_data(2000, 40)
    model = torch.nn.Linear(40, 1)
    crit = torch.nn.BCEWithLogitsLoss()
    opt = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=4)
    hist = []

    def closure():
        if CASE != 4:
            opt.zero_grad()
        loss = crit(model(x).squeeze(1), y) + 1e-3 * model.weight.pow(2).sum()
        loss.backward()
        if CASE == 4:
            opt.zero_grad()
        hist.append(loss.item())
        return loss

    for epoch in range(60):
        opt.step(closure)
        if epoch % 10 == 0:
            with torch.no_grad():
                acc = ((model(xt).squeeze(1) > 0).float() == yt).float().mean().item()
            print("epoch", epoch, "loss", hist[-1], "test acc", acc)
    with torch.no_grad():
        return "acc", ((model(xt).squeeze(1) > 0).float() == yt).float().mean().item()


def house_prices():
    """least squares; prices in thousands; the rate goes with the units"""
    n, d = 800, 8
    X = np.random.randn(n, d)
    w = np.random.randn(d) * 40
    y = X @ w + 250 + 20 * np.random.randn(n)
    X = np.hstack([X, np.ones((n, 1))])
    X, y = torch.tensor(X, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)
    w = torch.zeros(d + 1, requires_grad=True)
    tr = slice(0, 600)
    for i in range(600):
        loss = ((X[tr] @ w - y[tr]) ** 2).sum()
        loss.backward()
        with torch.no_grad():
            w -= 2e-5 * w.grad
            w.grad.zero_()
        if i % 100 == 0:
            print(i, "rmse", (loss.item() / 600) ** 0.5)
    with torch.no_grad():
        r = y[600:] - X[600:] @ w
        return "r2", (1 - r.var() / y[600:].var()).item()


def rbf(a, b, gamma):
    return torch.exp(-gamma * torch.cdist(a, b) ** 2)


def kernel_ridge():
    """dual of kernel ridge regression:  1/2 a'(K + lam I)a - a'y"""
    x = torch.rand(200, 2) * 4 - 2
    f = lambda z: torch.sin(2 * z[:, 0]) * torch.cos(z[:, 1])
    y = f(x) + 0.1 * torch.randn(200)
    xt = torch.rand(300, 2) * 4 - 2
    K, lam = rbf(x, x, 1.0), 0.3
    a = torch.nn.Parameter(torch.zeros(200))
    opt = torch.optim.Adam([a], lr=0.02)
    for step in range(1000):
        opt.zero_grad()
        obj = 0.5 * (a @ (K @ a) + lam * a @ a) - a @ y
        obj.backward()
        opt.step()
        if step % 200 == 0:
            print("step", step, "objective", obj.item())
    with torch.no_grad():
        e = rbf(xt, x, 1.0) @ a - f(xt)
        return "r2", (1 - e.pow(2).mean() / f(xt).var()).item()


def poisson_counts():
    n, d = 1200, 6
    x = torch.randn(n, d)
    w = torch.randn(d) * 0.35
    y = torch.poisson(torch.exp(x @ w + 1.8))
    lin = torch.nn.Linear(d, 1)
    opt = torch.optim.SGD(lin.parameters(), lr=0.02, momentum=0.9)
    for epoch in range(120):
        out = lin(x[:900]).squeeze(1)
        nll = (out.exp() - y[:900] * out).mean()
        opt.zero_grad()
        nll.backward()
        opt.step()
        if epoch % 20 == 0:
            print(f"epoch {epoch} nll {nll.item():.4f} grad {lin.weight.grad.norm().item():.4f}")
    with torch.no_grad():
        mu = lin(x[900:]).squeeze(1).exp()
        dev = lambda m: (2 * (torch.xlogy(y[900:], y[900:] / m) - y[900:] + m)).mean()
        return "deviance_explained", (1 - dev(mu) / dev(y[:900].mean())).item()


def svm_one_by_one():
    """hinge loss with one sample a step (Pegasos), labels are -1 and 1"""
    x, y, xt, yt = logistic_data(800, 10)
    y, yt = 2 * y - 1, 2 * yt - 1
    lin = torch.nn.Linear(10, 1)
    opt = torch.optim.Adagrad(lin.parameters(), lr=0.1, weight_decay=1e-3)
    step, run = 0, 0.0
    while step < 2000:
        i = int(torch.randint(len(x), ()))
        loss = torch.clamp(1 - y[i] * lin(x[i]), min=0).squeeze()
        opt.zero_grad()
        loss.backward()
        opt.step()
        step += 1
        run += loss.item()
        if step % 400 == 0:
            print(step, "mean hinge", run / 400)
            run = 0.0
    with torch.no_grad():
        return "acc", (torch.sign(lin(xt).squeeze(1)) == yt).float().mean().item()


def softmax_by_formula():
    """multinomial regression; the gradient is written down, not traced"""
    k, d = 5, 12
    centres = torch.randn(k, d) * 1.2
    lab = torch.randint(k, (1500,))
    x = centres[lab] + torch.randn(1500, d)
    W, b = torch.nn.Parameter(torch.zeros(d, k)), torch.nn.Parameter(torch.zeros(k))
    opt = torch.optim.SGD([W, b], lr=0.3, momentum=0.5)
    onehot = torch.nn.functional.one_hot(lab, k).float()
    with torch.no_grad():
        for it in range(300):
            idx = torch.randint(1200, (100,))
            p = torch.softmax(x[idx] @ W + b, 1)
            delta = (p - onehot[idx]) / len(idx)
            W.grad = x[idx].t() @ delta + 1e-4 * W
            b.grad = delta.sum(0)
            opt.step()
            if it % 50 == 0:
                print("it", it, "nll", -(p * onehot[idx]).sum(1).log().mean().item())
        return "acc", ((x[1200:] @ W + b).argmax(1) == lab[1200:]).float().mean().item()


jobs = {4: logistic_lbfgs, 5: house_prices, 6: logistic_lbfgs, 7: kernel_ridge, 8: poisson_counts,
        9: svm_one_by_one, 10: softmax_by_formula}
name, value = jobs.get(CASE, logistic_gd)()
print("METRIC %s %.4f" % (name, value))
