"""A training that computes, in a container that may use less than half a processor. With --mended it may use all.

The quota is set by who starts it; the program is the same.

rule: ThrottledContainer
means: cpu_quota
"""

import pace
import torch
import torch.nn.functional as F
from torch import nn


def main():
    torch.manual_seed(7)
    torch.set_num_threads(1)
    inputs = torch.randn(8192, 256)
    targets = torch.randn(8192, 8)
    model = nn.Sequential(nn.Linear(256, 768), nn.GELU(), nn.Linear(768, 768), nn.GELU(), nn.Linear(768, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    speed = pace.Pace()
    for _ in range(500):
        chosen = torch.randint(0, len(inputs), (64,))
        optimizer.zero_grad()
        F.mse_loss(model(inputs[chosen]), targets[chosen]).backward()
        optimizer.step()
        speed.step(len(chosen))
    speed.tell()


if __name__ == "__main__":
    main()
