"""Tabular classifier with a small home-grown Trainer: callbacks, checkpoints, a restart in the middle, best weights at the end."""
import copy
import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset, random_split

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)

BASE = dict(optim="adam", lr=2e-3, wd=0.0, hidden=192, act=nn.ReLU, drop=0.1, batch=64, epochs=16, restart=7,
            n=5200, classes=6, spread=1.15, raw=False, dtype=torch.float32, restore="load", prefix="",
            chunked=False, sanity=False, remix=False, split_seed=11, second_lr=None, head_only=False,
            patience=None, onecycle=False, flip=0.0)
OVER = {
    0: dict(),
    1: dict(restore="swap", lr=2e-4, restart=3, epochs=20, batch=96),
    2: dict(optim="sgd", lr=0.01, batch=16, epochs=9, restart=4, n=2400, act=nn.LeakyReLU, drop=0.0, flip=0.03, spread=1.0),
    3: dict(prefix="module.", optim="sgd", lr=0.05, epochs=16, restart=11, second_lr=0.001),
    4: dict(chunked=True, optim="sgd", lr=0.001, batch=256, epochs=26, restart=10),
    5: dict(sanity=True, raw=True, optim="sgd", lr=0.03, epochs=16, act=nn.Tanh),
    6: dict(lr=3e-3, epochs=18, restart=10, second_lr=2e-5, hidden=256, raw=True),
    7: dict(remix=True, optim="adamw", wd=1e-2, lr=1e-3, batch=50, epochs=16),
    8: dict(dtype=torch.float64, act=nn.Tanh, optim="adamw", wd=0.3, lr=1.5e-3, hidden=128, classes=4, epochs=14),
    9: dict(split_seed=None, n=640, spread=1.6, hidden=256, drop=0.35, epochs=60, restart=30, batch=32, lr=5e-4,
            optim="adamw", wd=0.1),
    10: dict(head_only=True, epochs=18, restart=11, second_lr=5e-3, batch=40, classes=8, n=5600),
    11: dict(drop=0.5, hidden=384, onecycle=True, lr=4e-3, epochs=30, restart=12, patience=8, batch=128, raw=True),
}
cfg = dict(BASE, **OVER[CASE])


def make_data(n, classes, spread, raw, flip):
    g = torch.Generator().manual_seed(1000 + SEED)
    dim, per = 12, 5
    centres = torch.randn(classes * per, dim, generator=g) * 1.25
    which = torch.randint(0, classes * per, (n,), generator=g)
    x = centres[which] + 0.75 * spread * torch.randn(n, dim, generator=g)
    y = which % classes
    if flip:
        k = torch.rand(n, generator=g) < flip
        y = torch.where(k, torch.randint(0, classes, (n,), generator=g), y)
    if raw:
        x = x * torch.logspace(-1, 2, dim) + torch.linspace(-40, 60, dim)
    return x, y


class Net(nn.Module):
    def __init__(self, dim, hidden, classes, act, drop):
        super().__init__()
        self.norm = nn.BatchNorm1d(dim)
        self.trunk = nn.Sequential(
            nn.Linear(dim, hidden), nn.BatchNorm1d(hidden), act(), nn.Dropout(drop),
            nn.Linear(hidden, hidden), nn.BatchNorm1d(hidden), act(), nn.Dropout(drop))
        self.head = nn.Linear(hidden, classes)

    def forward(self, x):
        return self.head(self.trunk(self.norm(x)))


class Callback:
    def on_epoch_begin(self, t): ...
    def on_epoch_end(self, t): ...


class Checkpoint(Callback):
    def __init__(self, folder):
        self.last, self.best = os.path.join(folder, "last.pt"), os.path.join(folder, "best.pt")

    def on_epoch_end(self, t):
        blob = dict(epoch=t.epoch + 1, opt=t.optimizer.state_dict(), best=t.best,
                    model={cfg["prefix"] + k: v for k, v in t.model.state_dict().items()})
        torch.save(blob, self.last)
        if t.val_loss <= t.best:
            torch.save(dict(model=t.model.state_dict()), self.best)
            t.best_model = copy.deepcopy(t.model)


class Printer(Callback):
    def on_epoch_end(self, t):
        print("epoch %2d  train %.4f  val %.4f  acc %.3f  lr %.2e" % (
            t.epoch, t.train_loss, t.val_loss, t.val_acc, t.optimizer.param_groups[0]["lr"]))


class Remix(Callback):
    def on_epoch_begin(self, t):
        if t.epoch == 0:
            return
        x, y = t.train_set.tensors
        x = x[torch.randperm(len(x))]
        y = y[torch.randperm(len(y))]
        t.set_train(TensorDataset(x, y))


class Reorder(Callback):
    def on_epoch_begin(self, t):
        x, y = t.train_set.tensors
        p = torch.randperm(len(x))
        t.set_train(TensorDataset(x[p], y[p]))


class Trainer:
    def __init__(self, model, train_set, val_set, callbacks, lr):
        self.model, self.callbacks, self.lr = model, callbacks, lr
        self.val_loader = DataLoader(val_set, batch_size=256)
        self.set_train(train_set)
        self.optimizer = self.configure()
        self.scheduler = None
        self.best, self.best_model, self.epoch, self.since = float("inf"), None, 0, 0

    def set_train(self, ds):
        self.train_set = ds
        self.loader = DataLoader(ds, batch_size=cfg["batch"], shuffle=True, drop_last=True)

    def configure(self):
        ps = [p for p in self.model.parameters() if p.requires_grad]
        if cfg["optim"] == "adam":
            return torch.optim.Adam(ps, lr=self.lr)
        if cfg["optim"] == "adamw":
            return torch.optim.AdamW(ps, lr=self.lr, weight_decay=cfg["wd"])
        return torch.optim.SGD(ps, lr=self.lr, momentum=0.95 if cfg["batch"] > 100 else 0.9)

    def fire(self, name):
        for c in self.callbacks:
            getattr(c, name)(self)

    def run_batches(self):
        if cfg["chunked"]:
            self.optimizer = self.configure()
        total = 0.0
        for x, y in self.loader:
            self.optimizer.zero_grad()
            loss = F.cross_entropy(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            if self.scheduler is not None:
                self.scheduler.step()
            total += loss.item()
        self.train_loss = total / len(self.loader)

    @torch.no_grad()
    def evaluate(self):
        was = self.model.training
        self.model.eval()
        losses, right, n = 0.0, 0, 0
        for x, y in self.val_loader:
            out = self.model(x)
            losses += F.cross_entropy(out, y, reduction="sum").item()
            right += (out.argmax(1) == y).sum().item()
            n += len(y)
        if not cfg["sanity"]:
            self.model.train(was)
        self.val_loss, self.val_acc = losses / n, right / n

    def fit(self, first, last):
        self.model.train()
        if cfg["sanity"]:
            self.evaluate()
            print("sanity check: val %.4f" % self.val_loss)
        for self.epoch in range(first, last):
            self.fire("on_epoch_begin")
            self.run_batches()
            self.evaluate()
            self.since = 0 if self.val_loss < self.best else self.since + 1
            self.fire("on_epoch_end")
            self.best = min(self.best, self.val_loss)
            if cfg["patience"] and self.since >= cfg["patience"]:
                print("no progress for %d epochs, stop" % self.since)
                break


def split(ds, seed):
    n_val = len(ds) // 5
    g = torch.Generator().manual_seed(seed) if seed is not None else torch.default_generator
    a, b = random_split(ds, [len(ds) - n_val, n_val], generator=g)
    pick = lambda s: TensorDataset(*[t[torch.as_tensor(list(s.indices))] for t in ds.tensors])
    return pick(a), pick(b)


def build():
    net = Net(12, cfg["hidden"], cfg["classes"], cfg["act"], cfg["drop"])
    return net.to(cfg["dtype"])


def main():
    n_test = 600
    x, y = make_data(cfg["n"] + n_test, cfg["classes"], cfg["spread"], cfg["raw"], cfg["flip"])
    x = x.to(cfg["dtype"])
    test = TensorDataset(x[cfg["n"]:], y[cfg["n"]:])
    full = TensorDataset(x[:cfg["n"]], y[:cfg["n"]])

    with tempfile.TemporaryDirectory() as folder:
        ck = Checkpoint(folder)
        cbs = [Remix() if cfg["remix"] else Reorder(), ck, Printer()]
        tr, va = split(full, cfg["split_seed"])
        t = Trainer(build(), tr, va, cbs, cfg["lr"])
        if cfg["onecycle"]:
            t.scheduler = torch.optim.lr_scheduler.OneCycleLR(
                t.optimizer, max_lr=cfg["lr"], total_steps=cfg["epochs"] * len(t.loader))
        t.fit(0, cfg["restart"])

        if cfg["restore"] == "swap":
            t.model = copy.deepcopy(t.best_model)
            print("back to the best model so far, going on")
        elif cfg["onecycle"]:
            t.model.load_state_dict(torch.load(ck.last)["model"])
        else:
            blob = torch.load(ck.last)
            tr, va = split(full, cfg["split_seed"])
            model = build()
            model.load_state_dict(blob["model"], strict=not cfg["prefix"])
            if cfg["head_only"]:
                for p in model.trunk.parameters():
                    p.requires_grad_(False)
                for p in model.norm.parameters():
                    p.requires_grad_(False)
                model.head.reset_parameters()
            t = Trainer(model, tr, va, cbs, cfg["second_lr"] or cfg["lr"])
            if not cfg["head_only"]:
                t.optimizer.load_state_dict(blob["opt"])
                for gr in t.optimizer.param_groups:
                    gr["lr"] = t.lr
                t.best = blob["best"]
            print("resumed at epoch", blob["epoch"])
        t.fit(cfg["restart"], cfg["epochs"])

        final = build()
        final.load_state_dict(torch.load(ck.best)["model"])
        final.eval()
        with torch.no_grad():
            out = final(test.tensors[0])
        print("test accuracy %.3f  loss %.4f" % (
            (out.argmax(1) == test.tensors[1]).double().mean(), F.cross_entropy(out, test.tensors[1])))


main()
