"""A regression that accumulates gradients over two micro-batches. With --fault nothing ever zeroes them.

rule: MissingZeroGrad
within: 6
names: nothing called zero_grad
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn


def main(fault):
    torch.manual_seed(2)
    torch.set_num_threads(1)
    weights = torch.randn(6, 1)
    model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    for step in range(60):
        for part in range(2):
            inputs = torch.randn(32, 6)
            loss = F.mse_loss(model(inputs), inputs @ weights) / 2
            loss.backward()
        optimizer.step()
        if not fault:
            optimizer.zero_grad()


if __name__ == "__main__":
    main("--fault" in sys.argv)
