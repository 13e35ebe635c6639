"""torch.distributed.pipelining: two stages in two processes, with four micro-batches ("gpipe", "1f1b")."""

import sys

import torch
from ending import digest_of, expect, say_loss
from ranks import in_turn, start
from tiny import Net, batch
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe

STEPS = 10


class Front(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.stem, self.blocks = net.stem, net.blocks[:1]

    def forward(self, x):
        return self.blocks[0](self.stem(x))


class Back(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.block, self.head = net.blocks[1], net.head

    def forward(self, x):
        return self.head(self.block(x))


def train(rank):
    part = (Front if rank == 0 else Back)(Net())
    stage = PipelineStage(part, rank, 2, torch.device("cpu"))
    kind = ScheduleGPipe if sys.argv[1] == "gpipe" else Schedule1F1B
    schedule = kind(stage, n_microbatches=4, loss_fn=nn.CrossEntropyLoss())
    optimizer = torch.optim.Adam(part.parameters(), lr=1e-2)
    for step in range(STEPS):
        x, y = batch(step)
        optimizer.zero_grad()
        losses = []
        schedule.step(x) if rank == 0 else schedule.step(target=y, losses=losses)
        optimizer.step()
        if rank == 1:
            say_loss(step, torch.stack(losses).mean())
    names = ["stem.weight", "gradient/stem.weight"] if rank == 0 else ["head.weight", "gradient/block.up.weight"]
    in_turn(rank, lambda: (print("digest", rank, digest_of(part)), expect(STEPS, names)))
    in_turn(rank, lambda: expect(STEPS, loss="CrossEntropyLoss_output_0" if rank == 1 else None))


if __name__ == "__main__":
    start(train)
