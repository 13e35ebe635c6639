"""Two processes on one machine with DistributedDataParallel over gloo."""
import os
import socket
import subprocess
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler, TensorDataset

CASE = int(os.environ.get("CASE", "5"))
SEED = int(os.environ.get("SEED", "0"))
WORLD = 2


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def setup(rank, port):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = str(port)
    dist.init_process_group("gloo", rank=rank, world_size=WORLD)
    torch.manual_seed(SEED)


def log(*a):
    if dist.get_rank() == 0:
        print(*a, flush=True)


def spots(n, seed, classes=5):
    """12 x 12 pictures: bars, rings, crosses and so on at random places, with noise"""
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(classes, (n,), generator=g)
    x = torch.zeros(n, 1, 12, 12)
    pats = torch.zeros(classes, 5, 5)
    pats[0, 2, :] = 1
    pats[1, :, 2] = 1
    pats[2] = torch.eye(5)
    pats[3, 2, :] = pats[3, :, 2] = 1
    pats[4, 0, :] = pats[4, 4, :] = pats[4, :, 0] = pats[4, :, 4] = 1
    pos = torch.randint(0, 8, (n, 2), generator=g)
    for i in range(n):
        r, c = pos[i].tolist()
        x[i, 0, r:r + 5, c:c + 5] = pats[y[i]]
    return x + 0.4 * torch.randn(n, 1, 12, 12, generator=g), y


def vectors(n, seed, classes=6, d=16):
    g = torch.Generator().manual_seed(77 + SEED)
    centres = torch.randn(classes, 2, d, generator=g) * 1.1
    g.manual_seed(seed)
    y = torch.randint(classes, (n,), generator=g)
    x = centres[y, torch.randint(2, (n,), generator=g)] + torch.randn(n, d, generator=g)
    return x, y


class CNN(nn.Module):
    def __init__(self, classes=5):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 12, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
                                  nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(), nn.AdaptiveMaxPool2d(1))
        self.fc = nn.Linear(24, classes)

    def forward(self, x):
        return self.fc(self.conv(x).flatten(1))


def mlp(d=16, classes=6, width=64, p=0.0):
    return nn.Sequential(nn.Linear(d, width), nn.ReLU(), nn.Dropout(p), nn.Linear(width, width), nn.ReLU(),
                         nn.Linear(width, classes))


def sigmoid_mlp():
    mods, d = [], 16
    for _ in range(7):
        mods += [nn.Linear(d, 48), nn.Sigmoid()]
        d = 48
    return nn.Sequential(*mods, nn.Linear(48, 6))


@torch.no_grad()
def accuracy(model, x, y):
    """each rank takes its share of the held-out data, and the hits are added up"""
    r = dist.get_rank()
    model.eval()
    xs, ys = x[r::WORLD], y[r::WORLD]
    hits = torch.tensor([(model(xs).argmax(1) == ys).sum().item(), len(ys)], dtype=torch.float64)
    dist.all_reduce(hits)
    model.train()
    return (hits[0] / hits[1]).item()


def vector_run(epochs=8):
    rank = dist.get_rank()
    x, y = vectors(3000, SEED * 10 + 1)
    xt, yt = vectors(1000, SEED * 10 + 2)
    if CASE == 2:
        order = y.argsort()
        x, y = x[order], y[order]
    data = TensorDataset(x, y)
    shuffle = CASE != 2
    sampler = DistributedSampler(data, num_replicas=WORLD, rank=rank, shuffle=shuffle, seed=SEED)
    loader = DataLoader(data, batch_size=30, sampler=sampler, drop_last=True)
    net = sigmoid_mlp() if CASE == 4 else mlp()
    model = DDP(net)
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        total = torch.zeros(1)
        for xb, yb in loader:
            opt.zero_grad()
            if CASE == 1:
                out = model.module(xb)
            else:
                out = model(xb)
            loss = F.cross_entropy(out, yb)
            loss.backward()
            opt.step()
            total += loss.detach()
        dist.all_reduce(total)
        acc = accuracy(model.module, xt, yt)
        log(f"epoch {epoch} loss {total.item() / len(loader) / WORLD:.4f} acc {acc:.4f}")
    return acc


def cnn_run(steps=240):
    rank = dist.get_rank()
    x, y = spots(2400, SEED * 10 + 1)
    xt, yt = spots(600, SEED * 10 + 2)
    data = TensorDataset(x, y)
    sampler = DistributedSampler(data, shuffle=True, seed=SEED)
    loader = DataLoader(data, batch_size=12, sampler=sampler)
    model = DDP(CNN())
    opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    step, epoch, it = 0, 0, iter(loader)
    while step < steps:
        if CASE == 3:
            xb, yb = next(iter(loader))
        else:
            try:
                xb, yb = next(it)
            except StopIteration:
                epoch += 1
                sampler.set_epoch(epoch)
                it = iter(loader)
                xb, yb = next(it)
        loss = F.cross_entropy(model(xb), yb)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        step += 1
        if step % 60 == 0:
            log("step", step, "loss", round(loss.item(), 4), "acc", round(accuracy(model.module, xt, yt), 4))
    return accuracy(model.module, xt, yt)


def accumulate_run():
    """three small batches to a step, the exchange only at the third"""
    x, y = vectors(3000, SEED * 10 + 1)
    xt, yt = vectors(1000, SEED * 10 + 2)
    data = TensorDataset(x, y)
    sampler = DistributedSampler(data, seed=SEED)
    loader = DataLoader(data, batch_size=10, sampler=sampler)
    model = DDP(mlp())
    opt = torch.optim.SGD(model.parameters(), lr=0.15, momentum=0.9)
    for epoch in range(5):
        sampler.set_epoch(epoch)
        for i, (xb, yb) in enumerate(loader, 1):
            if i % 3:
                with model.no_sync():
                    (F.cross_entropy(model(xb), yb) / 3).backward()
            else:
                loss = F.cross_entropy(model(xb), yb)
                (loss / 3).backward()
                nn.utils.clip_grad_norm_(model.parameters(), 0.5)
                opt.step()
                opt.zero_grad()
        opt.zero_grad()
        acc = accuracy(model.module, xt, yt)
        log("epoch", epoch, "last loss %.4f" % loss.item(), "acc %.4f" % acc)
    return acc


def by_hand_run():
    """no DDP: weights go out from rank 0, gradients are averaged by hand"""
    rank = dist.get_rank()
    torch.manual_seed(SEED * 50 + rank)
    x, y = vectors(3000, SEED * 10 + 1)
    xt, yt = vectors(1000, SEED * 10 + 2)
    x, y = x[rank::WORLD], y[rank::WORLD]
    net = mlp(p=0.1)
    for p in net.parameters():
        dist.broadcast(p.data, 0)
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for it in range(400):
        b = torch.randint(len(x), (32,))
        loss = F.cross_entropy(net(x[b]), y[b], reduction="sum")
        opt.zero_grad()
        loss.backward()
        for p in net.parameters():
            dist.all_reduce(p.grad)
            p.grad /= 32 * WORLD
        opt.step()
        if it % 100 == 99:
            log("iteration", it + 1, "loss", loss.item() / 32, "acc", accuracy(net, xt, yt))
    return accuracy(net, xt, yt)


class Shifted(Dataset):
    """pictures that are moved and made noisy anew each time"""

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        dx, dy = torch.randint(-2, 3, (2,)).tolist()
        return torch.roll(self.x[i], (dx, dy), (1, 2)) + 0.3 * torch.randn(1, 12, 12), self.y[i]


def augmented_run(epochs=5):
    rank = dist.get_rank()
    x, y = spots(1500, SEED * 10 + 1)
    xt, yt = spots(600, SEED * 10 + 2)
    torch.manual_seed(SEED + 1000 * rank)
    model = DDP(CNN())
    data = Shifted(x, y)
    sampler = DistributedSampler(data, seed=SEED, drop_last=True)
    loader = DataLoader(data, batch_size=25, sampler=sampler)
    opt = torch.optim.AdamW(model.parameters(), lr=6e-3)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, 1.2e-2, total_steps=epochs * len(loader))
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        model.train()
        for xb, yb in loader:
            loss = F.cross_entropy(model(xb), yb, label_smoothing=0.05)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
        if rank == 0:
            model.eval()
            with torch.no_grad():
                acc = (model.module(xt).argmax(1) == yt).float().mean().item()
            print(f"epoch {epoch} loss {loss.item():.4f} acc {acc:.4f}", flush=True)
        dist.barrier()
    return acc if rank == 0 else None


def local_sgd_run():
    """the workers go on their own for eight steps, then the weights are averaged"""
    rank = dist.get_rank()
    x, y = vectors(3000, SEED * 10 + 1)
    xt, yt = vectors(1000, SEED * 10 + 2)
    net = mlp()
    opt = torch.optim.SGD(net.parameters(), lr=0.1, weight_decay=1e-4)
    sampler = DistributedSampler(TensorDataset(x, y), seed=SEED)
    step = 0
    for epoch in range(10):
        sampler.set_epoch(epoch)
        for b in torch.tensor(list(sampler)).split(30):
            loss = F.cross_entropy(net(x[b]), y[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            if step % 8 == 0:
                with torch.no_grad():
                    for p in net.parameters():
                        dist.all_reduce(p)
                        p /= WORLD
        if epoch % 3 == 1:
            log("epoch", epoch, "loss", round(loss.item(), 4), "acc", accuracy(net, xt, yt))
    return accuracy(net, xt, yt)


def worker(rank, port):
    setup(rank, port)
    run = {3: cnn_run, 6: accumulate_run, 7: by_hand_run, 8: augmented_run, 9: cnn_run, 10: local_sgd_run}
    acc = run.get(CASE, vector_run)()
    log("METRIC acc %.4f" % (acc or 0.0))
    dist.destroy_process_group()


if __name__ == "__main__":
    if "RANK" in os.environ:                      # started below, or by a launcher
        worker(int(os.environ["RANK"]), os.environ["MASTER_PORT"])
    elif CASE in (3, 6, 9):
        port = str(free_port())
        procs = [subprocess.Popen([sys.executable, os.path.abspath(__file__)],
                                  env=dict(os.environ, RANK=str(r), MASTER_PORT=port)) for r in range(WORLD)]
        codes = [p.wait() for p in procs]
        sys.exit(max(codes))
    else:
        mp.spawn(worker, args=(free_port(),), nprocs=WORLD)
