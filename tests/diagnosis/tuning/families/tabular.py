import os
import math
import copy
from dataclasses import dataclass, field
from typing import List, Optional
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

CASE = int(os.environ.get("CASE", "5"))
SEED = int(os.environ.get("SEED", "0"))
LABELS = ["mortgage", "card", "savings", "travel", "pension"]


def set_seed(s):
    np.random.seed(s)
    torch.manual_seed(s)


class Customers(Dataset):
    """income, balance, age ... + three categorical columns -> which products they hold"""
    CARDS = (8, 5, 12)

    def __init__(self, n, seed, stats=None, rare=False):
        w = np.random.RandomState(77)
        Wn, Wc = w.randn(6, 5) * 1.0, [w.randn(c, 5) * 0.9 for c in self.CARDS]
        Wx = w.randn(6, 5) * 0.8
        r = np.random.RandomState(seed)
        z = r.randn(n, 6)
        cats = np.stack([r.randint(0, c, n) for c in self.CARDS], 1)
        logit = z @ Wn + (z[:, :1] * z[:, 1:2]) * 1.5 + (z ** 2 - 1) @ Wx + sum(W[cats[:, i]] for i, W in enumerate(Wc))
        if rare:
            logit = logit - 6.5
        self.y = (logit + 0.7 * r.logistic(size=logit.shape) > 0).astype(np.float32)
        raw = np.stack([40000 + 15000 * z[:, 0], 9000 + 6000 * z[:, 1], 45 + 12 * z[:, 2],
                        3 + z[:, 3], 0.5 + 0.1 * z[:, 4], 700 + 80 * z[:, 5]], 1)
        self.stats = stats or (raw.mean(0), raw.std(0))
        if CASE == 3:
            self.num = raw.astype(np.float32)
        else:
            self.num = ((raw - self.stats[0]) / self.stats[1]).astype(np.float32)
        self.cat = cats

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"num": torch.from_numpy(self.num[i]), "cat": torch.from_numpy(self.cat[i]), "labels": torch.from_numpy(self.y[i])}


class TabNet(nn.Module):
    def __init__(self, cards, hidden=64, emb=6, dropout=0.0, probs=False):
        super().__init__()
        self.emb = nn.ModuleList(nn.Embedding(c, emb) for c in cards)
        self.body = nn.Sequential(nn.Linear(6 + emb * len(cards), hidden), nn.ReLU(), nn.Dropout(dropout),
                                  nn.Linear(hidden, hidden), nn.ReLU(), nn.Dropout(dropout))
        self.head = nn.Linear(hidden, len(LABELS))
        self.probs = probs
        self.loss_fct = nn.BCELoss() if probs else nn.BCEWithLogitsLoss()
        if CASE == 2:
            self.loss_fct = nn.CrossEntropyLoss()

    def forward(self, num, cat, labels=None):
        x = torch.cat([num] + [e(cat[:, i]) for i, e in enumerate(self.emb)], 1)
        logits = self.head(self.body(x))
        out = {"logits": logits}
        if labels is not None:
            out["loss"] = self.loss_fct(logits.sigmoid() if self.probs else logits, labels)
        return out


@dataclass
class TrainingArguments:
    learning_rate: float = 3e-3
    per_device_batch_size: int = 64
    gradient_accumulation_steps: int = 1
    num_train_epochs: int = 6
    weight_decay: float = 0.0
    max_grad_norm: Optional[float] = 1.0
    warmup_steps: int = 0
    eval_every: int = 1
    logging_steps: int = 50
    optim: str = "adamw"
    dataloader_num_workers: int = 0


class Callback:
    def on_step_end(self, tr): pass
    def on_evaluate(self, tr, metrics): pass
    def on_train_end(self, tr): pass


class LogCallback(Callback):
    def __init__(self):
        self.buf = []

    def on_step_end(self, tr):
        self.buf.append(tr.last_loss)
        if tr.global_step % tr.args.logging_steps == 0:
            print({"step": tr.global_step, "loss": round(sum(self.buf) / len(self.buf), 4), "lr": tr.opt.param_groups[0]["lr"]})
            self.buf = []

    def on_evaluate(self, tr, metrics):
        print({"step": tr.global_step, **{k: round(v, 4) for k, v in metrics.items()}})


class EarlyStopping(Callback):
    def __init__(self, patience):
        self.best, self.state, self.patience, self.bad = math.inf, None, patience, 0

    def on_evaluate(self, tr, m):
        if m["eval_loss"] < self.best:
            self.best, self.state, self.bad = m["eval_loss"], copy.deepcopy(tr.model.state_dict()), 0
        else:
            self.bad += 1
            tr.should_stop = self.bad >= self.patience

    def on_train_end(self, tr):
        tr.model.load_state_dict(self.state)


class WeightAverage(Callback):
    def __init__(self, start):
        self.avg, self.n, self.start = None, 0, start

    def on_step_end(self, tr):
        if tr.global_step < self.start:
            return
        sd = tr.model.state_dict()
        self.n += 1
        if self.avg is None:
            self.avg = {k: v.clone() for k, v in sd.items()}
        else:
            for k, v in sd.items():
                self.avg[k] += (v - self.avg[k]) / self.n

    def on_train_end(self, tr):
        tr.model.load_state_dict(self.avg)


class Trainer:
    def __init__(self, model, args, train_dataset, eval_dataset, callbacks: List[Callback] = (), param_groups=None):
        self.model, self.args = model, args
        self.train_ds, self.eval_ds = train_dataset, eval_dataset
        self.callbacks = [LogCallback(), *callbacks]
        groups = param_groups or [p for p in model.parameters() if p.requires_grad]
        if args.optim == "adamw":
            self.opt = torch.optim.AdamW(groups, lr=args.learning_rate, weight_decay=args.weight_decay)
        elif args.optim == "adam":
            self.opt = torch.optim.Adam(groups, lr=args.learning_rate, weight_decay=args.weight_decay)
        else:
            self.opt = torch.optim.SGD(groups, lr=args.learning_rate, momentum=0.9, weight_decay=args.weight_decay)
        self.sched = torch.optim.lr_scheduler.LambdaLR(
            self.opt, lambda s: min(1.0, s / args.warmup_steps) if args.warmup_steps else 1.0)
        self.global_step, self.should_stop = 0, False

    def call(self, what, *a):
        for c in self.callbacks:
            getattr(c, what)(self, *a)

    def training_step(self, batch):
        self.model.train()
        loss = self.model(**batch)["loss"] / self.args.gradient_accumulation_steps
        loss.backward()
        return loss.item()

    def optimizer_step(self):
        if CASE == 1:
            self.model.zero_grad()
        if self.args.max_grad_norm:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.args.max_grad_norm)
        self.opt.step()
        self.sched.step()
        self.opt.zero_grad()
        self.global_step += 1

    def train(self):
        dl = DataLoader(self.train_ds, self.args.per_device_batch_size, shuffle=True, drop_last=True,
                        num_workers=self.args.dataloader_num_workers)
        acc = self.args.gradient_accumulation_steps
        for epoch in range(self.args.num_train_epochs):
            total = 0.0
            for i, batch in enumerate(dl):
                total += self.training_step(batch)
                if (i + 1) % acc == 0:
                    self.last_loss, total = total, 0.0
                    self.optimizer_step()
                    self.call("on_step_end")
            if (epoch + 1) % self.args.eval_every == 0:
                self.call("on_evaluate", self.evaluate())
            if self.should_stop:
                break
        self.call("on_train_end")

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        logits, labels, loss = [], [], 0.0
        for b in DataLoader(self.eval_ds, 256):
            out = self.model(**b)
            logits.append(out["logits"]); labels.append(b["labels"])
            loss += out["loss"].item() * len(b["labels"])
        lg, y = torch.cat(logits), torch.cat(labels)
        p = lg.sigmoid() > 0.5
        tp = (p & (y == 1)).sum(0).float()
        f1 = 2 * tp / (p.sum(0) + y.sum(0)).clamp(min=1)
        return {"eval_loss": loss / len(y), "eval_acc": (p == (y == 1)).float().mean().item(), "eval_f1": f1.mean().item()}


def main():
    set_seed(SEED)
    rare = CASE == 7
    n = 500 if CASE == 9 else 6000
    train = Customers(n, 1000 + SEED, rare=rare)
    test = Customers(1500, 5000 + SEED, stats=train.stats, rare=rare)
    model = TabNet(Customers.CARDS, dropout=0.1 if CASE == 8 else 0.0, probs=CASE == 10)
    args, cbs, groups = TrainingArguments(), [], None
    if CASE == 1:
        args.optim, args.learning_rate = "sgd", 0.1
    if CASE == 4:
        args = TrainingArguments(optim="adam", weight_decay=0.3)
    if CASE == 6:
        args = TrainingArguments(per_device_batch_size=4, gradient_accumulation_steps=8, num_train_epochs=3, learning_rate=4e-3, max_grad_norm=0.5)
    if CASE == 7:
        rate = torch.from_numpy(train.y.mean(0))
        print("positive rates", dict(zip(LABELS, rate.tolist())))
        model.loss_fct = nn.BCEWithLogitsLoss(pos_weight=((1 - rate) / rate).sqrt())
    if CASE == 8:
        # category vectors come from elsewhere and stay
        for e in model.emb:
            e.weight.requires_grad_(False)
        args.dataloader_num_workers = 1
        cbs.append(WeightAverage(start=300))
    if CASE == 9:
        args = TrainingArguments(per_device_batch_size=16, num_train_epochs=60, learning_rate=2e-3, weight_decay=0.05, logging_steps=100)
        cbs.append(EarlyStopping(patience=8))
    if CASE == 10:
        groups = [{"params": model.emb.parameters(), "lr": 0.05}, {"params": model.body.parameters()}, {"params": model.head.parameters()}]
        args = TrainingArguments(warmup_steps=80, learning_rate=4e-3, max_grad_norm=None)
    trainer = Trainer(model, args, train, test, cbs, groups)
    trainer.train()
    m = trainer.evaluate()
    print(m)
    print("METRIC", round(m["eval_f1"], 4))


if __name__ == "__main__":
    main()
