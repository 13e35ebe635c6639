"""A training of a few steps. With --fault it waits fifteen seconds for its data before the first one.

rule: MaxInitializationTime:threshold=0.25
within: 1
names: The first step had ended after
"""

import sys
import time

import torch
from torch import nn


def main(fault):
    torch.manual_seed(3)
    torch.set_num_threads(1)
    if fault:
        time.sleep(15)
    inputs = torch.randn(128, 4)
    targets = inputs.sum(1, keepdim=True)
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(10):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
