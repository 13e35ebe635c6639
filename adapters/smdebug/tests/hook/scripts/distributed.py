"""One worker of a training with DistributedDataParallel: PYTHON distributed.py FOLDER RANK WORLD_SIZE WORKERS."""

from __future__ import annotations

import sys

import smdebug.pytorch as smd
import torch
from torch import nn


def main():
    folder, rank, world_size, include_workers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    meeting = f"file://{folder}.meeting"
    torch.distributed.init_process_group("gloo", init_method=meeting, rank=rank, world_size=world_size)
    torch.manual_seed(7)
    model = nn.parallel.DistributedDataParallel(nn.Linear(3, 1))
    hook = smd.Hook(folder, save_config=smd.SaveConfig(save_interval=1), save_all=True, include_workers=include_workers)
    hook.register_module(model)
    for _ in range(3):
        model(torch.full((2, 3), float(rank))).sum().backward()
    torch.distributed.barrier()
    hook.close()


if __name__ == "__main__":
    main()
