"""Three data-parallel workers with a device each; that of the last one has become slow. With --mended it is replaced.

rule: Straggler
names: rank-00002
"""

import os
import sys
import tempfile
import time

import pace
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class OnDevice(nn.Module):
    """A layer whose device computes while this process waits for it."""

    def __init__(self, seconds):
        super().__init__()
        self.seconds = seconds
        self.layer = nn.Linear(128, 256)

    def forward(self, inputs):
        time.sleep(self.seconds)
        return torch.tanh(self.layer(inputs))


def train(rank, folder, mended):
    torch.manual_seed(8)
    torch.set_num_threads(1)
    os.environ.update(RANK=str(rank), WORLD_SIZE="3")
    dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=3)
    slow = rank == 2 and not mended
    model = DistributedDataParallel(nn.Sequential(OnDevice(0.06 if slow else 0.02), nn.Linear(256, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    inputs = torch.randn(2048, 128, generator=torch.Generator().manual_seed(rank))
    targets = inputs.mean(dim=1, keepdim=True)
    speed = pace.Pace()
    for _ in range(150):
        chosen = torch.randint(0, len(inputs), (64,))
        optimizer.zero_grad()
        F.mse_loss(model(inputs[chosen]), targets[chosen]).backward()
        optimizer.step()
        speed.step(3 * len(chosen))
    if rank == 0:
        speed.tell()
    dist.barrier()  # a rank that leaves early closes the connections of the others
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as rendezvous:
        mp.spawn(train, args=(rendezvous, "--mended" in sys.argv), nprocs=3)
