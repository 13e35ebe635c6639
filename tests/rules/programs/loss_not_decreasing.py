"""A regression on the same data at every step. With --fault the learning rate is so high that the loss does not fall.

rule: LossNotDecreasing
within: 12
names: loss
"""

import sys

import torch
from torch import nn


def main(fault):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    inputs = torch.randn(256, 8)
    targets = inputs @ torch.randn(8, 1)
    net = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=1.01 if fault else 0.05)
    for step in range(60):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(inputs), targets)
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
