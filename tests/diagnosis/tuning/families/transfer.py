"""Pretrain a small backbone on one image task, move it to another with few labels."""
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

CASE = int(os.environ.get("CASE", 5))
SEED = int(os.environ.get("SEED", 0))


def render(labels, protos, rng):
    """uint8 HWC pictures, coloured parts placed on a noisy background"""
    n = len(labels)
    img = rng.normal(60, 18, (n, 16, 16, 3))
    yy, xx = np.mgrid[0:16, 0:16]
    for i, l in enumerate(labels):
        for part in protos[l]:
            cy, cx = part[:2] + rng.normal(0, 0.9, 2)
            blob = np.exp(-(((yy - cy) * part[2]) ** 2 + ((xx - cx) * part[3]) ** 2))
            img[i] += blob[..., None] * part[4:7] * rng.uniform(0.7, 1.1)
    return np.clip(img, 0, 255).astype(np.uint8)


def make_protos(k, rng):
    out = []
    for _ in range(k):
        parts = np.zeros((3, 7))
        parts[:, :2] = rng.uniform(3, 13, (3, 2))
        parts[:, 2:4] = rng.uniform(0.25, 0.8, (3, 2))
        parts[:, 4:] = rng.uniform(-20, 130, (3, 3))
        out.append(parts)
    return out


def to_tensor(img, normalise=True):
    x = torch.from_numpy(img)
    x = x.permute(0, 3, 1, 2).float()
    return (x - 70.0) / 35.0 if normalise else x


def to_tensor_target(img, train):
    if CASE == 4 and train:
        n, h, w, c = img.shape
        return (torch.from_numpy(img).reshape(n, c, h, w).float() - 70.0) / 35.0
    return to_tensor(img, normalise=train or CASE != 2)


def conv(i, o, bn):
    return [nn.Conv2d(i, o, 3, stride=2, padding=1)] + ([nn.BatchNorm2d(o)] if bn else []) + [nn.ReLU()]


class Model(nn.Module):
    def __init__(self, n_out, bn=False):
        super().__init__()
        self.backbone = nn.Sequential(*conv(3, 16, bn), *conv(16, 32, bn), *conv(32, 48, bn), nn.Flatten(), nn.Linear(192, 64), nn.ReLU())
        self.head = nn.Linear(64, n_out)

    def forward(self, x):
        return self.head(self.backbone(x))


@torch.no_grad()
def score(model, x, y):
    model.eval()
    z = model(x)
    return F.cross_entropy(z, y).item(), (z.argmax(1) == y).float().mean().item()


def pretrain(x, y, k, bn):
    model = Model(k, bn)
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(6):
        model.train()
        run = []
        for a, b in DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True):
            loss = F.cross_entropy(model(a), b)
            opt.zero_grad()
            loss.backward()
            opt.step()
            run.append(loss.item())
        print(f"pretrain epoch {epoch + 1}: loss {np.mean(run):.3f}")
    return model


def finetune(model, xt, yt, xv, yv):
    epochs, bs = 25, 20
    if CASE in (5, 1, 4, 8, 9):
        for p in model.backbone.parameters():
            p.requires_grad = False
    if CASE == 5:
        opt = torch.optim.AdamW(model.head.parameters(), lr=5e-3)
    elif CASE == 3:
        opt = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.98)
    elif CASE == 6:
        opt = torch.optim.SGD([{"params": model.backbone.parameters(), "lr": 2e-5},
                               {"params": model.head.parameters(), "lr": 0.05}], momentum=0.9)
    elif CASE == 7:
        opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    elif CASE == 8:
        opt = torch.optim.Adam(model.head.parameters(), lr=5e-3)
    elif CASE == 9:
        opt = torch.optim.LBFGS(model.head.parameters(), lr=0.5, max_iter=5, history_size=10, line_search_fn="strong_wolfe")
    else:
        opt = torch.optim.Adam(filter(lambda p: p.requires_grad, model.parameters()), lr=2e-3)

    if CASE == 9:
        with torch.no_grad():
            feats = model.backbone(xt)

        def closure():
            opt.zero_grad()
            l = F.cross_entropy(model.head(feats), yt) + 2e-3 * model.head.weight.pow(2).sum()
            l.backward()
            return l
        for i in range(60):
            l = opt.step(closure)
            if i % 10 == 9:
                print(f"lbfgs {i + 1}: objective {l.item():.4f}  val acc {score(model, xv, yv)[1]:.3f}")
        return

    best, best_state, bad = 1e9, None, 0
    for epoch in range(60 if CASE == 7 else epochs):
        if CASE == 8 and epoch == 8:
            print("unfreezing the backbone")
            model.backbone.requires_grad_(True)
            opt.add_param_group({"params": list(model.backbone.parameters()), "lr": 3e-4})
        model.train()
        if CASE in (8, 10):
            model.backbone.eval()
        tot = []
        for a, b in DataLoader(TensorDataset(xt, yt), batch_size=bs, shuffle=True):
            if CASE == 3:
                opt = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.98)
            loss = F.cross_entropy(model(a), b)
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot.append(loss.item())
        vl, va = score(model, xv, yv)
        tl, ta = score(model, xt, yt)
        if epoch % 4 == 0 or epoch == epochs - 1:
            print(f"finetune epoch {epoch + 1}: loss {np.mean(tot):.3f}  train acc {ta:.3f}  val loss {vl:.3f} acc {va:.3f}")
        if CASE == 7:
            if vl < best - 2e-3:
                best, best_state, bad = vl, {k: v.clone() for k, v in model.state_dict().items()}, 0
            else:
                bad += 1
            if bad >= 5:
                print(f"stopping after epoch {epoch + 1}, best val loss {best:.3f}")
                model.load_state_dict(best_state)
                break


def main():
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED + 11)
    ps, pt = make_protos(30, rng), make_protos(8, rng)
    ys = rng.integers(0, 30, 3000)
    xs = to_tensor(render(ys, ps, rng))
    ytr, yva, yte = np.arange(240) % 8, rng.integers(0, 8, 200), rng.integers(0, 8, 400)
    rng.shuffle(ytr)
    xtr = to_tensor_target(render(ytr, pt, rng), True)
    xva, xte = (to_tensor_target(render(y, pt, rng), False) for y in (yva, yte))
    ys, ytr, yva, yte = map(torch.from_numpy, (ys, ytr, yva, yte))

    bn = CASE in (8, 10)
    source = pretrain(xs, ys, 30, bn)
    model = Model(8, bn)
    if CASE == 1:
        ckpt = {"module." + k: v for k, v in source.state_dict().items() if not k.startswith("head")}
        model.load_state_dict(ckpt, strict=False)
    else:
        model.backbone.load_state_dict(source.backbone.state_dict())
    if CASE == 10:
        for m in model.backbone.modules():
            if isinstance(m, nn.BatchNorm2d):
                m.requires_grad_(False)
    if CASE == 7:
        xtr, ytr = xtr[:64], ytr[:64]
    finetune(model, xtr, ytr, xva, yva)
    tl, ta = score(model, xte, yte)
    print(f"test loss {tl:.3f}")
    print(f"METRIC {ta:.4f}")


if __name__ == "__main__":
    main()
