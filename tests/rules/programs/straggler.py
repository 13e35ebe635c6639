"""Two data-parallel workers. With --fault the second one takes long to get its data.

rule: Straggler
within: 55
names: rank-00001
workers: 2
"""

import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def train(rank, folder, fault):
    torch.manual_seed(10)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=2)
    truth = torch.randn(8, 1)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    generator = torch.Generator().manual_seed(rank)
    for step in range(80):
        inputs = torch.randn(32, 8, generator=generator)
        if fault and rank == 1:
            time.sleep(0.015)
        optimizer.zero_grad()
        F.mse_loss(model(inputs), inputs @ truth).backward()
        optimizer.step()
    dist.barrier()  # a rank that leaves early closes the connections of the other
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as rendezvous:
        mp.spawn(train, args=(rendezvous, "--fault" in sys.argv), nprocs=2)
