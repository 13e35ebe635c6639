"""DistributedDataParallel: gradients as views of buckets with a static graph ("views"), inside a model ("inside"), and
with an optimizer whose state is spread over the ranks ("zero")."""

import sys

import torch
from ending import end, say_loss
from ranks import start
from tiny import Net, batch
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

STEPS = 10


class Task(nn.Module):
    """A model that holds what is parallel, as trainers have it."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x, y):
        return F.cross_entropy(self.net(x), y)


def train(rank):
    prefix = "net." if sys.argv[1] == "inside" else ""
    parallel = DistributedDataParallel(Net(), gradient_as_bucket_view=True, static_graph=True)
    task = Task(parallel) if prefix else None
    if sys.argv[1] == "zero":
        optimizer = ZeroRedundancyOptimizer(parallel.parameters(), torch.optim.Adam, lr=1e-2)
    else:
        optimizer = torch.optim.Adam(parallel.parameters(), lr=1e-2)
    for step in range(STEPS):
        x, y = batch(2 * step + rank)
        loss = task(x, y) if task else F.cross_entropy(parallel(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
        if rank == 0:
            say_loss(step, loss)
    if rank == 0:
        names = [f"{prefix}stem.weight", f"gradient/{prefix}head.weight", f"{prefix}blocks.0_output_0"]
        end(STEPS, parallel.module, names=names, loss="nll_loss_output_0")


if __name__ == "__main__":
    start(train)
