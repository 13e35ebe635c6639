"""Two processes of one training, over gloo."""

import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

RANKS = 2


def start(train):
    """Calls train(rank) in each process, and shows what it prints rank by rank."""
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(_run, args=(train, f"file://{folder}/rendezvous"), nprocs=RANKS)


def _run(rank, train, method):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(RANKS), LOCAL_RANK=str(rank))
    torch.set_num_threads(1)
    torch.manual_seed(3)
    dist.init_process_group("gloo", init_method=method, rank=rank, world_size=RANKS)
    train(rank)
    dist.barrier()  # a rank that leaves early closes the connections of the others
    dist.destroy_process_group()


def in_turn(rank, action):
    for turn in range(RANKS):
        dist.barrier()
        if rank == turn:
            action()
    dist.barrier()
