import os
import numpy as np
import torch
import torch.nn.functional as F

torch.set_num_threads(1)
SEED = int(os.environ.get("SEED", "0"))
CASE = int(os.environ.get("CASE", "0"))
torch.manual_seed(SEED)
np.random.seed(SEED)

SIDE = 10
proto = np.zeros((10, SIDE, SIDE), dtype=np.float32)
rs = np.random.RandomState(7)
for k in range(10):
    img = np.zeros((SIDE, SIDE))
    for _ in range(4):
        r, c = rs.randint(1, SIDE - 1, 2)
        if rs.rand() < 0.5:
            img[r, 1:SIDE - 1] = 1.0
        else:
            img[1:SIDE - 1, c] = 1.0
    proto[k] = img


def draw(n):
    y = np.random.randint(0, 10, n)
    x = proto[y] * np.random.uniform(0.5, 1.0, (n, 1, 1))
    for i in range(n):
        x[i] = np.roll(x[i], np.random.randint(-1, 2), axis=np.random.randint(0, 2))
    x = 0.45 * x + 0.36 * np.random.randn(n, SIDE, SIDE).clip(-1, 1) + 0.2
    x[:, 0, :] = 0.0
    x[:, :, 0] = 0.0
    return np.clip(x, 0, 1).reshape(n, -1).astype(np.float32), y


x_np, y_np = draw(2000)
xt_np, yt_np = draw(600)
mean = x_np.mean(0)
if CASE == 4:
    std = x_np.std(0)
else:
    std = x_np.std(0) + 1e-2
if CASE == 3:
    x_np = x_np * 255.0
    xt_np = xt_np * 255.0
elif CASE == 7:
    x_np = np.concatenate([x_np, np.ones((len(x_np), 20), dtype=np.float32)], 1)
    xt_np = np.concatenate([xt_np, np.ones((len(xt_np), 20), dtype=np.float32)], 1)
else:
    x_np = (x_np - mean) / std
    xt_np = (xt_np - mean) / std
x_train = torch.tensor(x_np, dtype=torch.float32)
y_train = torch.tensor(y_np)
x_test = torch.tensor(xt_np, dtype=torch.float32)
y_test = torch.tensor(yt_np)

d = x_train.shape[1]
W = torch.zeros(d, 10, requires_grad=True)
b = torch.zeros(10, requires_grad=True)


def model(xb):
    return xb @ W + b


def nll(z, yb):
    if CASE == 2:
        lp = F.log_softmax(z, dim=0)
    else:
        lp = F.log_softmax(z, dim=1)
    if CASE == 6:
        return -lp[torch.arange(len(yb)), yb].sum()
    return -lp[torch.arange(len(yb)), yb].mean()


def report(epoch):
    with torch.no_grad():
        z = model(x_test)
        loss = F.cross_entropy(z, y_test).item()
        acc = (z.argmax(1) == y_test).float().mean().item()
    print("epoch %d test loss %.4f acc %.3f" % (epoch, loss, acc))
    return loss


last = 0.0
if CASE == 5:
    opt = torch.optim.LBFGS([W, b], lr=0.5, max_iter=10)
    for it in range(12):
        def closure():
            opt.zero_grad()
            loss = nll(model(x_train), y_train) + 1e-2 * (W ** 2).sum()
            loss.backward()
            return loss
        l = opt.step(closure)
        print("iter", it, "loss", float(l))
        last = report(it)
else:
    bs = 20
    lr = {6: 0.05 / 20, 7: 0.5, 8: 0.003}.get(CASE, 0.05)
    n = len(x_train)
    for epoch in range(16 if CASE != 8 else 60):
        perm = torch.randperm(n)
        tot = 0.0
        for i in range(0, n, bs):
            idx = perm[i:i + bs]
            xb = x_train[idx]
            if CASE == 9:
                yb = y_train[torch.randperm(n)[i:i + bs]]
            else:
                yb = y_train[idx]
            loss = nll(model(xb), yb)
            loss.backward()
            with torch.no_grad():
                W -= lr * W.grad
                b -= lr * b.grad
                if CASE == 7:
                    W *= 1 - 1e-4
                if CASE != 1:
                    W.grad.zero_()
                    b.grad.zero_()
            tot += loss.item()
        if epoch % 4 == 3:
            print("epoch %d train loss %.4f" % (epoch, tot / (n // bs)))
            last = report(epoch)
print("METRIC %.5f" % last)
