import os
import sys
import time
import socket
import threading
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import TensorDataset, DataLoader
from torch.utils.data.distributed import DistributedSampler

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
WORLD = 2


def spirals(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 3, (n,), generator=g)
    r = torch.rand(n, generator=g)
    a = r * 4 + y * 2.094 + 0.12 * torch.randn(n, generator=g)
    return torch.stack([r * torch.sin(a), r * torch.cos(a)], 1) * 2, y


def watchdog(seconds):
    time.sleep(seconds)
    print("no progress, giving up", flush=True)
    os._exit(3)


def average_gradients(model):
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad /= WORLD


def average_weights(model):
    with torch.no_grad():
        for p in model.parameters():
            dist.all_reduce(p)
            p /= WORLD


def evaluate(net, x, y):
    net.eval()
    with torch.no_grad():
        out = net(x)
        acc = (out.argmax(1) == y).float().mean().item()
    net.train()
    return acc


def worker(rank, port):
    torch.set_num_threads(1)
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", str(port)
    if CASE in (2, 3):
        threading.Thread(target=watchdog, args=(25,), daemon=True).start()
    dist.init_process_group("gloo", rank=rank, world_size=WORLD)
    torch.manual_seed(SEED + (rank if CASE in (4,) else 0))
    x, y = spirals(2400, SEED)
    xe, ye = spirals(600, SEED + 77)
    data = TensorDataset(x, y)
    if CASE in (2, 8):
        n = 1200 + (200 if rank == 0 else 0)
        part = TensorDataset(x[:n], y[:n]) if rank == 0 else TensorDataset(x[-n:], y[-n:])
        sampler = None
        loader = DataLoader(part, batch_size=40, shuffle=True)
    else:
        if CASE in (1, 9):
            keep = torch.argsort(y)
            data = TensorDataset(x[keep], y[keep])
            sampler = None
            half = len(data) // 2
            part = TensorDataset(x[keep][rank * half:(rank + 1) * half], y[keep][rank * half:(rank + 1) * half])
            loader = DataLoader(part, batch_size=40, shuffle=True)
        else:
            sampler = DistributedSampler(data, WORLD, rank, shuffle=True, seed=SEED)
            loader = DataLoader(data, batch_size=40, sampler=sampler)
    net = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))
    manual = CASE in (4, 5, 7)
    model = net if manual else DDP(net)
    opt = torch.optim.Adam(net.parameters(), lr=4e-3)
    epochs = 15
    for epoch in range(epochs):
        if sampler is not None:
            sampler.set_epoch(epoch)
        ctx = model.join() if CASE == 8 else None
        if ctx is not None:
            ctx.__enter__()
        for k, (xb, yb) in enumerate(loader):
            if CASE == 6:
                micro = xb.split(20), yb.split(20)
                opt.zero_grad()
                with model.no_sync():
                    (0.5 * F.cross_entropy(model(micro[0][0]), micro[1][0])).backward()
                loss = 0.5 * F.cross_entropy(model(micro[0][1]), micro[1][1])
                loss.backward()
                opt.step()
                continue
            if CASE == 1:
                out = model.module(xb)
            else:
                out = model(xb)
            loss = F.cross_entropy(out, yb)
            opt.zero_grad()
            loss.backward()
            if CASE in (4, 5):
                average_gradients(net)
            opt.step()
            if CASE == 7 and k % 10 == 9:
                average_weights(net)
        if ctx is not None:
            ctx.__exit__(None, None, None)
        if rank == 0 and epoch % 3 == 2:
            print("epoch", epoch, "loss %.4f acc %.4f" % (loss.item(), evaluate(net, xe, ye)), flush=True)
            if CASE == 3:
                dist.barrier()
    acc = torch.tensor([evaluate(net, xe, ye)])
    both = [torch.zeros(1) for _ in range(WORLD)]
    dist.all_gather(both, acc)
    dist.barrier()
    if rank == 0:
        print("METRIC", min(b.item() for b in both), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    port = s.getsockname()[1]
    s.close()
    mp.spawn(worker, args=(port,), nprocs=WORLD)
