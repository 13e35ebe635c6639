"""A regression. With --fault the sign of the loss is wrong: the optimizer goes up the gradient, and the loss runs away.

rule: Divergence
within: 80
names: MSELoss_output_0
"""

import sys

import torch
from torch import nn


def main(fault):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    net = nn.Linear(8, 1)
    weight = torch.randn(8, 1)
    criterion = nn.MSELoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for step in range(120):
        inputs = torch.randn(256, 8)
        optimizer.zero_grad()
        loss = criterion(net(inputs), inputs @ weight)
        (-loss if fault else loss).backward()
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
