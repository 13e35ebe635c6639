"""Two CPU workers over gloo: small images, classification or denoising; DistributedDataParallel or hand-made averaging."""
import argparse
import contextlib
import math
import os
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

WORLD, SIDE, CLASSES = 2, 12, 6


def options(case):
    o = argparse.Namespace(task="classify", sync="ddp", optim="sgd", lr=0.05, batch=32, epochs=8, n=1600, width=12,
                           depth=3, noise=1.1, shuffle=True, holder=nn.ModuleList, inner=False, per_rank=True,
                           every=1, accum=1, warm=0, penalty=0.0, keep=False, report=False, wait=60.0, start="spawn",
                           frozen=False, sites=False)
    more = {
        0: dict(),
        1: dict(task="denoise", optim="adam", lr=2e-3, batch=16, per_rank=False, epochs=16, n=1200),
        2: dict(sync="manual", optim="adam", lr=2e-3, start="fork", sites=True),
        3: dict(shuffle=False, optim="sgd", lr=0.05, epochs=8),
        4: dict(accum=4, batch=8, optim="adamw", lr=2e-3, epochs=6),
        5: dict(inner=True, sites=True, n=800, noise=1.7, batch=20, epochs=10, start="fork", lr=0.03),
        6: dict(sync="average", every=8, lr=0.04, start="fork"),
        7: dict(holder=list, depth=7, width=6, optim="adam", lr=2e-3, start="fork"),
        8: dict(task="denoise", optim="adam", lr=2e-3, batch=16, epochs=16, n=1200, start="fork"),
        9: dict(sync="manual", penalty=1e-3, keep=True, batch=40, epochs=8, start="fork", depth=2),
        10: dict(batch=2, lr=6e-3, warm=120, epochs=2, frozen=True, n=1600, width=24),
        11: dict(report=True, wait=8.0, epochs=16, start="fork", sync="manual", optim="adam", lr=2e-3),
    }[case]
    for k, v in more.items():
        setattr(o, k, v)
    return o


def dataset(o, seed):
    g = torch.Generator().manual_seed(4000 + seed)
    base = F.avg_pool2d(torch.randn(CLASSES, 1, SIDE + 4, SIDE + 4, generator=g), 5, 1) * 4
    total = o.n + 600
    y = torch.arange(total) % CLASSES
    x = base[y]
    shift = torch.randint(-2, 3, (total,), generator=g)
    x = torch.stack([torch.roll(a, int(s), -1) for a, s in zip(x, shift)])
    if o.task == "denoise":
        return TensorDataset(x[:o.n], x[:o.n]), (x[o.n:], x[o.n:])
    x = x + o.noise * torch.randn(x.shape, generator=g)
    order = torch.argsort(y[:o.n], stable=True)
    return TensorDataset(x[:o.n][order], y[:o.n][order]), (x[o.n:], y[o.n:])


class Block(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(w, w, 3, padding=1), nn.GroupNorm(3, w) if w % 3 == 0 else nn.GroupNorm(4, w)

    def forward(self, x):
        return F.relu(self.norm(self.conv(x)))


class ConvNet(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.stem = nn.Conv2d(1, o.width, 3, padding=1)
        self.blocks = o.holder([Block(o.width) for _ in range(o.depth)])
        self.out = nn.Linear(o.width * 9, CLASSES)
        if o.frozen:
            self.stem.requires_grad_(False)

    def forward(self, x):
        h = F.relu(self.stem(x))
        for b in self.blocks:
            h = b(h)
        return self.out(F.avg_pool2d(h, 4).flatten(1))


class Denoiser(nn.Module):
    def __init__(self, o):
        super().__init__()
        d = SIDE * SIDE
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(d, 160), nn.ReLU(), nn.Linear(160, 160), nn.ReLU(), nn.Linear(160, d))

    def forward(self, x):
        return self.net(x).view_as(x)


def average_(tensors):
    for t in tensors:
        dist.all_reduce(t)
        t.div_(WORLD)


def worker(rank, case, seed, path):
    o = options(case)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + path, rank=rank, world_size=WORLD)
    torch.manual_seed(seed)
    train, (xt, yt) = dataset(o, seed)
    net = Denoiser(o) if o.task == "denoise" else ConvNet(o)
    for p in net.parameters():
        dist.broadcast(p.data, 0)
    model = DDP(net) if o.sync == "ddp" else net
    params = [p for p in net.parameters() if p.requires_grad]
    if o.optim == "sgd":
        opt = torch.optim.SGD(params, lr=o.lr, momentum=0.9)
    elif o.optim == "adam":
        opt = torch.optim.Adam(params, lr=o.lr)
    else:
        opt = torch.optim.AdamW(params, lr=o.lr, weight_decay=0.02)
    sampler = DistributedSampler(train, WORLD, rank, shuffle=o.shuffle, seed=seed)
    if o.sites:  # every worker keeps the images of its own site, the sites see the classes at different rates
        kind = (train.tensors[1] >= CLASSES // 2).float()
        order = torch.argsort(kind + 1.15 * torch.rand(o.n, generator=torch.Generator().manual_seed(seed)))
        mine = order[rank * o.n // WORLD:(rank + 1) * o.n // WORLD]
        train = TensorDataset(*[t[mine] for t in train.tensors])
        sampler = torch.utils.data.RandomSampler(train)
    loader = DataLoader(train, o.batch, sampler=sampler, drop_last=True)
    total = o.epochs * len(loader) // o.accum
    sched = None
    if o.warm:
        sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(s / o.warm, 1.0) * 0.5 * (
            1 + math.cos(math.pi * min(1.0, s / total))))
    if o.per_rank:
        torch.manual_seed(seed * WORLD + rank + 1)

    def noisy(x):
        return x + 0.9 * torch.randn_like(x)

    def loss_on(f, x, y):
        if o.task == "denoise":
            return F.mse_loss(f(noisy(x)), y)
        return F.cross_entropy(f(x), y)

    best, running, seen = 1e9, 0.0, 0
    for epoch in range(o.epochs):
        if not o.sites:
            sampler.set_epoch(epoch)
        for i, (x, y) in enumerate(loader):
            if not o.per_rank:
                torch.manual_seed(seed)
            last = (i + 1) % o.accum == 0
            hold = model.no_sync() if (o.sync == "ddp" and not last) else contextlib.nullcontext()
            with hold:
                loss = loss_on(model.module if o.inner else model, x, y)
                if o.penalty:
                    loss.backward(retain_graph=o.keep)
                    reg = o.penalty * sum(p.pow(2).sum() for p in params)
                    reg.backward()
                else:
                    (loss / o.accum).backward()
            running = running + (loss if o.keep else loss.item())
            seen += 1
            if not last:
                continue
            if o.sync == "manual":
                average_([p.grad for p in params])
            opt.step()
            opt.zero_grad()
            if sched is not None:
                sched.step()
            if o.sync == "average" and i % o.every == o.every - 1:
                average_([p.data for p in params])
        if o.sync == "average":
            average_([p.data for p in params])
        mean = float(running) / seen
        if rank == 0:
            print("epoch %d  mean loss %.4f" % (epoch, mean), flush=True)
        if o.report:
            note = torch.zeros(1)
            if rank == 0:
                dist.recv(note, 1)
                print("  other worker: %.4f" % note.item(), flush=True)
            elif float(loss) < best:
                best = float(loss)
                dist.send(torch.tensor([best]), 0)

    net.eval()
    with torch.no_grad():
        if o.task == "denoise":
            torch.manual_seed(12345 + seed)
            score = 1 - F.mse_loss(net(noisy(xt)), yt) / yt.var()
        else:
            score = (net(xt).argmax(1) == yt).float().mean()
    scores = [torch.zeros(()) for _ in range(WORLD)]
    dist.all_gather(scores, score)
    if rank == 0:
        print("test score: " + "  ".join("%.3f" % s.item() for s in scores), flush=True)
    dist.barrier()
    dist.destroy_process_group()


def main():
    case, seed = int(os.environ.get("CASE", "0")), int(os.environ.get("SEED", "0"))
    torch.manual_seed(seed)
    o = options(case)
    with tempfile.TemporaryDirectory() as d:
        ctx = mp.start_processes(worker, args=(case, seed, os.path.join(d, "meet")), nprocs=WORLD,
                                 join=False, start_method=o.start)
        until = time.time() + o.wait
        while not ctx.join(timeout=0.5):
            if time.time() > until:
                print("workers did not come back in %.0f s, leaving" % o.wait)
                for p in ctx.processes:
                    p.terminate()
                break


if __name__ == "__main__":
    main()
