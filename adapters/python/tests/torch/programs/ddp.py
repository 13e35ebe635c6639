"""DistributedDataParallel over gloo: two ranks, started by itself ("spawn") or by torch.distributed.run ("run")."""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from outcome import report


def train(rank, world_size, init_method):
    torch.manual_seed(12)
    dist.init_process_group("gloo", init_method=init_method, rank=rank, world_size=world_size)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)))
    criterion = nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    generator = torch.Generator().manual_seed(rank)
    for step in range(4):
        optimizer.zero_grad()
        loss = criterion(model(torch.randn(5, 4, generator=generator)), torch.zeros(5, 2))
        loss.backward()
        optimizer.step()
        total = loss.detach().clone()
        dist.all_reduce(total)
        if rank == 0:
            print(f"step {step} loss {total.item():.17g}", flush=True)
    if rank == 0:
        report(model.module)
    dist.barrier()  # a rank that leaves early closes the connections of the others
    dist.destroy_process_group()


def main(start):
    if start == "run":
        train(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), "env://")
        return
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(train, args=(2, f"file://{folder}/rendezvous"), nprocs=2)


if __name__ == "__main__":
    main(sys.argv[1])
