"""A module whose output is the result of a collective operation that may still run when the module returns."""

import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed._functional_collectives import AsyncCollectiveTensor, all_reduce


class Summed(nn.Module):
    def forward(self, x):
        return all_reduce(x.detach(), "sum", dist.group.WORLD)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.summed, self.head = Summed(), nn.Linear(4, 2)

    def forward(self, x):
        summed = self.summed(x)
        assert type(summed) is AsyncCollectiveTensor and not summed.completed
        return self.head(summed)


def train(rank, rendezvous):
    dist.init_process_group("gloo", init_method=rendezvous, rank=rank, world_size=2)
    torch.manual_seed(4)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        optimizer.zero_grad()
        model(torch.full((2, 4), float(step + 10 * rank))).pow(2).mean().backward()
        optimizer.step()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(train, args=(f"file://{folder}/rendezvous",), nprocs=2)
