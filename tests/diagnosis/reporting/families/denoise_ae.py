import os
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)
if CASE in (6,):
    torch.set_default_dtype(torch.float64)

P = 64
grid = torch.linspace(-1, 1, P)


def curves(n):
    """bumps: position, width and sign make a curved two dimensional family in 64 dimensions"""
    pos = torch.rand(n, 1) * 1.6 - 0.8
    width = torch.rand(n, 1) * 0.15 + 0.12
    sign = torch.where(torch.rand(n, 1) < 0.5, -1.0, 1.0)
    if CASE == 5:
        basis = torch.stack([torch.sin(3.14 * k * grid) for k in range(1, 5)])
        return torch.randn(n, 4).mul(0.5) @ basis
    return sign * torch.exp(-((grid - pos) / width) ** 2)


def noisy(x, s=0.25):
    return x + s * torch.randn_like(x)


def make_model():
    act = nn.ReLU
    if CASE == 2:
        act = nn.Tanh
    if CASE == 3:
        layers, d = [], P
        for h in (48, 48, 48, 48, 48, 48, 48, 48):
            layers += [nn.Linear(d, h), nn.Sigmoid()]
            d = h
        return nn.Sequential(*layers, nn.Linear(d, P))
    if CASE == 5:
        return nn.Sequential(nn.Linear(P, 4), nn.Linear(4, P))
    if CASE == 4:
        return nn.Sequential(nn.Linear(P, 64), nn.Linear(64, 3), nn.Linear(3, 64), nn.Linear(64, P))
    code = 1 if CASE == 9 else 3
    if CASE == 9:
        enc = [nn.Linear(P, 2), act(), nn.Linear(2, code)]
        dec = [nn.Linear(code, 2), act(), nn.Linear(2, P)]
    else:
        enc = [nn.Linear(P, 64), act(), nn.Linear(64, code)]
        dec = [nn.Linear(code, 64), act(), nn.Linear(64, P)]
    if CASE == 1:
        dec.append(nn.Sigmoid())
    m = nn.Sequential(*enc, *dec)
    if CASE == 2:
        for l in m:
            if isinstance(l, nn.Linear):
                nn.init.normal_(l.weight, std=4.0)
    return m


train, test = curves(2000), curves(400)
test_in = noisy(test)
model = make_model()


def evaluate():
    with torch.no_grad():
        return F.mse_loss(model(test_in), test).item()


if CASE == 6:
    opt = torch.optim.LBFGS(model.parameters(), lr=1.0, max_iter=12, history_size=20, line_search_fn="strong_wolfe")
    xin = torch.cat([noisy(train) for _ in range(2)])
    xout = torch.cat([train, train])

    def closure():
        opt.zero_grad()
        l = F.mse_loss(model(xin), xout)
        l.backward()
        return l

    for k in range(15):
        l = opt.step(closure)
        print("lbfgs", k, float(l), evaluate())
elif CASE == 8:
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(30):
        loss = F.mse_loss(model(noisy(train)), train)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print("epoch", epoch, "loss", loss.item(), "test", evaluate())
else:
    if CASE == 3:
        opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    else:
        opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(30):
        for idx in torch.randperm(len(train)).split(64):
            clean = train[idx]
            target = clean
            if CASE == 7:
                target = noisy(clean, 0.5)
            loss = F.mse_loss(model(noisy(clean)), target)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if epoch % 5 == 4:
            print("epoch", epoch, "loss %.5f test %.5f" % (loss.item(), evaluate()))
print("METRIC %.6f" % evaluate())
