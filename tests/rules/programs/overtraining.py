"""A regression. With --fault it trains on long after there is nothing left to learn.

rule: Overtraining:patience_train=60
within: 300
names: loss
"""

import sys

import torch
from torch import nn


def main(fault):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    weight = torch.randn(8, 1)
    net = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    for step in range(300 if fault else 60):
        inputs = torch.randn(256, 8)
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(inputs), inputs @ weight + 0.1 * torch.randn(256, 1))
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
