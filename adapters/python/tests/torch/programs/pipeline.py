"""torch.distributed.pipelining in one process: micro-batches go forward together, and backward after that."""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe
from torch.nn import functional as F

from outcome import report, sees

BATCHES = 4


def main(kind, folder):
    dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=0, world_size=1)
    torch.manual_seed(33)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
    stage = PipelineStage(model, 0, 1, torch.device("cpu"))
    name, loss_fn = ("nll_loss", F.cross_entropy) if kind == "function" else ("CrossEntropyLoss", nn.CrossEntropyLoss())
    schedule = ScheduleGPipe(stage, n_microbatches=BATCHES, loss_fn=loss_fn)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(4):
        x, y, losses = torch.randn(8, 4), torch.randint(0, 3, (8,)), []
        optimizer.zero_grad()
        output = schedule.step(x, target=y, losses=losses)
        sees("gradient/0.weight", model[0].weight.grad)
        optimizer.step()
        sees(f"{name}_output_0", torch.stack(losses).sum() / BATCHES)
        sees("2_output_0", output.chunk(BATCHES)[0])
        sees("0.weight", model[0].weight)
        print(f"step {step} loss {torch.stack(losses).mean().item():.17g}")
    report(model)
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.update(RANK="0", WORLD_SIZE="1")
    with tempfile.TemporaryDirectory() as folder:
        main(sys.argv[1], folder)
