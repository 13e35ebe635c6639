"""DistributedDataParallel over gloo: two ranks, of which the second one has no batch for a while. In the last step the
program asks for a barrier before its optimizer steps."""

import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

SLOW_S = 0.05


def train(rank, folder):
    torch.manual_seed(12)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=2)
    model, criterion = DistributedDataParallel(nn.Linear(4, 2)), nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(6):
        if rank == 1:
            time.sleep(SLOW_S)
        optimizer.zero_grad()
        criterion(model(torch.ones(5, 4)), torch.zeros(5, 2)).backward()
        if rank == 1 and step == 5:
            time.sleep(SLOW_S)
        if step == 5:
            dist.barrier()
        optimizer.step()
    dist.barrier()  # a rank that leaves early closes the connections of the other
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as rendezvous:
        mp.spawn(train, args=(rendezvous,), nprocs=2)
