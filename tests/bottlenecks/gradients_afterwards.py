"""Two workers send each gradient on its own when all are there. With --mended they travel while others are computed.

rule: CommunicationNotOverlapped
"""

import os
import sys
import tempfile
import time

import pace
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class OnDevice(torch.autograd.Function):
    """A device computes forwards and backwards while this process waits for it."""

    @staticmethod
    def forward(ctx, inputs):
        time.sleep(0.002)
        return inputs.clone()

    @staticmethod
    def backward(ctx, gradient):
        time.sleep(0.004)
        return gradient.clone()


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(512, 512)

    def forward(self, inputs):
        return torch.tanh(self.layer(OnDevice.apply(inputs)))


def send_gradients(model):
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
        parameter.grad /= 2


def train(rank, folder, mended):
    torch.manual_seed(16)
    torch.set_num_threads(1)
    os.environ.update(RANK=str(rank), WORLD_SIZE="2")
    dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=2)
    model = nn.Sequential(*[Block() for _ in range(8)], nn.Linear(512, 1))
    if mended:
        model = DistributedDataParallel(model, bucket_cap_mb=2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    inputs = torch.randn(1024, 512, generator=torch.Generator().manual_seed(rank))
    targets = inputs.mean(dim=1, keepdim=True)
    speed = pace.Pace()
    for _ in range(120):
        chosen = torch.randint(0, len(inputs), (16,))
        optimizer.zero_grad()
        F.mse_loss(model(inputs[chosen]), targets[chosen]).backward()
        if not mended:
            send_gradients(model)
        optimizer.step()
        speed.step(2 * len(chosen))
    if rank == 0:
        speed.tell()
    dist.barrier()  # a rank that leaves early closes the connections of the others
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as rendezvous:
        mp.spawn(train, args=(rendezvous, "--mended" in sys.argv), nprocs=2)
