"""FSDP2 with torch.compile: each block compiled and sharded ("blocks"), or the sharded model compiled ("whole")."""

import sys

import torch
from ending import end, say_loss
from ranks import start
from tiny import Net, batch
from torch.distributed.fsdp import fully_shard
from torch.nn import functional as F

STEPS = 10


def train(rank):
    model = Net()
    for block in model.blocks:
        if sys.argv[1] == "blocks":
            block.compile()
        fully_shard(block)
    fully_shard(model)
    called = torch.compile(model) if sys.argv[1] == "whole" else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(STEPS):
        x, y = batch(2 * step + rank)
        loss = F.cross_entropy(called(x), y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if rank == 0:
            say_loss(step, loss)
    state = {name: tensor.full_tensor() for name, tensor in model.state_dict().items()}
    if rank == 0:
        whole = Net()
        whole.load_state_dict(state)
        names = ["blocks.0.up.weight", "gradient/head.weight", "Net_output_0"]
        end(STEPS, whole, names=names, loss="nll_loss_output_0")


if __name__ == "__main__":
    start(train)
