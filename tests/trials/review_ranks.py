"""Two processes: a row of the table for each kind of parallelism."""

import sys

import torch
from ending import digest_of, end, expect, say_loss
from ranks import in_turn, start
from tiny import Net, batch
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

STEPS = 10
KIND = sys.argv[1] if len(sys.argv) > 1 else ""


def prepared(model):
    if KIND == "ddp":
        return DistributedDataParallel(model)
    if KIND == "ddp_compiled":
        return torch.compile(DistributedDataParallel(model))
    if KIND in ("fsdp1", "fsdp1_flat"):
        from torch.distributed.fsdp import FullyShardedDataParallel as Fsdp

        return Fsdp(model, use_orig_params=KIND == "fsdp1", device_id=torch.device("cpu"))
    if KIND == "fsdp2":
        from torch.distributed.fsdp import fully_shard

        for block in model.blocks:
            fully_shard(block)
        return fully_shard(model) or model
    return parallel_tensors(model)


def parallel_tensors(model):
    """B8: both ranks have the same batches, as they share the model."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    plan = {"up": ColwiseParallel(), "down": RowwiseParallel()}
    for block in model.blocks:
        parallelize_module(block, init_device_mesh("cpu", (2,), mesh_dim_names=("tensor",)), plan)
    return model


def train(rank):
    net = Net()
    model = prepared(net)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(STEPS):
        x, y = batch(step if KIND == "tensor" else 2 * step + rank)
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        if KIND == "fsdp2":
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        in_turn(rank, lambda: say_loss(step, loss))
    names = ["stem.weight", "gradient/head.weight"]
    if KIND.startswith("ddp"):
        if rank == 0:
            end(STEPS, net, names=names, loss="nll_loss_output_0")
        return
    parts = torch.nn.ParameterList(getattr(each, "_local_tensor", each).detach() for each in model.parameters())
    in_turn(rank, lambda: print("digest", rank, digest_of(parts), flush=True))
    if rank == 0:
        expect(STEPS, names, "nll_loss_output_0")


if __name__ == "__main__":
    start(train)
