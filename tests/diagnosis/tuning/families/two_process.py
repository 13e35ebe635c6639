import datetime
import os
import tempfile

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
WORLD = 2
D, C = 20, 8


def make_data(n, seed):
    centres = np.random.RandomState(SEED + 50).randn(4 * C, D) * 1.15
    r = np.random.RandomState(seed)
    blob = r.randint(0, 4 * C, n)
    x = centres[blob] + r.randn(n, D)
    y = blob % C
    if CASE == 7:
        order = np.argsort(y, kind="stable")
        x, y = x[order], y[order]
    if CASE == 4:
        order = np.argsort(x[:, 0])
        x, y = x[order], y[order]
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


def build():
    if CASE == 9:
        return nn.Sequential(nn.Linear(D, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 64),
                             nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, C))
    return nn.Sequential(nn.Linear(D, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, C))


def average_gradients(model):
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad /= WORLD


def average_weights(model):
    with torch.no_grad():
        for p in model.parameters():
            dist.all_reduce(p.data)
            p.data /= WORLD


def test(model):
    x, y = make_data(3000, SEED + 2)
    model.eval()
    with torch.no_grad():
        acc = (model(x).argmax(1) == y).float().mean().item()
    model.train()
    return acc


def work(rank, store, finished):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=WORLD,
                            timeout=datetime.timedelta(seconds=8))
    if CASE == 5:
        torch.manual_seed(SEED + rank)
    else:
        torch.manual_seed(SEED)
    x, y = make_data(1600, SEED + 1)
    if CASE == 8:
        cut = 920
        x, y = (x[:cut], y[:cut]) if rank == 0 else (x[cut:], y[cut:])
        sampler = None
    elif CASE == 4:
        half = len(x) // 2
        x, y = x[rank * half:(rank + 1) * half], y[rank * half:(rank + 1) * half]
        sampler = None
    else:
        sampler = DistributedSampler(TensorDataset(x, y), WORLD, rank, shuffle=CASE != 7, seed=SEED)
    batch = 2 if CASE == 9 else 32
    loader = DataLoader(TensorDataset(x, y), batch_size=batch, sampler=sampler,
                        shuffle=sampler is None, drop_last=True)

    model = build()
    use_ddp = CASE in (1, 3, 6, 7, 9)
    if use_ddp:
        ddp = DDP(model)
    elif CASE != 5:
        for p in model.parameters():
            dist.broadcast(p.data, 0)
    lr = {2: 0.25, 9: 0.05}.get(CASE, 0.1)
    if CASE == 1:
        opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    else:
        opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.0 if CASE in (2, 9) else 0.9)

    epochs = 2 if CASE == 9 else 18
    step = 0
    for epoch in range(epochs):
        if sampler is not None:
            sampler.set_epoch(epoch)
        for xb, yb in loader:
            if CASE == 10:
                if rank == 0:
                    opt.zero_grad()
            elif CASE != 3 or step % 4 == 0:
                opt.zero_grad()
            if CASE == 6:
                out = ddp.module(xb)
            elif use_ddp:
                if CASE == 3 and step % 4 != 3:
                    with ddp.no_sync():
                        (F.cross_entropy(ddp(xb), yb) / 4).backward()
                    step += 1
                    continue
                out = ddp(xb)
            else:
                out = model(xb)
            loss = F.cross_entropy(out, yb)
            (loss / 4 if CASE == 3 else loss).backward()
            if not use_ddp and CASE != 2:
                average_gradients(model)
            opt.step()
            step += 1
            if CASE == 2 and step % 20 == 0:
                average_weights(model)
            if rank == 0 and step % 100 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f}", flush=True)
    if rank == 0:
        print("test accuracy", round(test(model), 4), flush=True)
        finished.set()
    else:
        finished.wait(30)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    ctx = mp.get_context("fork")
    finished = ctx.Event()
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "store")
        other = ctx.Process(target=work, args=(1, store, finished), daemon=True)
        other.start()
        work(0, store, finished)
        other.join(10)
