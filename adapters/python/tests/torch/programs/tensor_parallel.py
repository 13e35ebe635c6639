"""Tensor parallelism over two ranks, or over two groups of two ranks with fully_shard between them."""

import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module


def train(rank, groups, rendezvous):
    dist.init_process_group("gloo", init_method=rendezvous, rank=rank, world_size=2 * groups)
    torch.manual_seed(4)
    mesh = init_device_mesh("cpu", (groups, 2), mesh_dim_names=("data", "tensor"))
    model = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 1))
    parallelize_module(model, mesh["tensor"], {"0": ColwiseParallel(), "2": RowwiseParallel()})
    if groups > 1:
        fully_shard(model, mesh=mesh["data"])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    generator = torch.Generator().manual_seed(rank // 2)
    for _ in range(8):
        optimizer.zero_grad()
        model(torch.randn(8, 8, generator=generator)).pow(2).mean().backward()
        optimizer.step()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    count = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(train, args=(count, f"file://{folder}/rendezvous"), nprocs=2 * count)
