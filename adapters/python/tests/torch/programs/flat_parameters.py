"""FullyShardedDataParallel over three ranks, with the parameters of the model kept ("kept") or not ("flat"). The first rank
prints the whole parameters at the end, by name."""

import json
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel as Fsdp


def train(rank, keeps_parameters, rendezvous):
    dist.init_process_group("gloo", init_method=rendezvous, rank=rank, world_size=3)
    torch.manual_seed(4)
    cpu = torch.device("cpu")
    inner = Fsdp(nn.Sequential(nn.Linear(5, 7), nn.ReLU()), use_orig_params=keeps_parameters, device_id=cpu)
    model = Fsdp(nn.Sequential(inner, nn.Linear(7, 3)), use_orig_params=keeps_parameters, device_id=cpu)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for step in range(4):
        optimizer.zero_grad()
        model(torch.full((2, 5), 1.0 + rank + step)).pow(2).mean().backward()
        optimizer.step()
    with Fsdp.summon_full_params(model):
        whole = {name: parameter.flatten().tolist() for name, parameter in model.named_parameters()}
        if rank == 0:
            print(json.dumps(whole), flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(train, args=(sys.argv[1] == "kept", f"file://{folder}/rendezvous"), nprocs=3)
