"""A training of short steps. With --fault the source of its data falls silent for a while.

rule: StalledTrainingRule:threshold=1
within: 21
names: The training has stalled
"""

import sys
import time

import torch
from torch import nn


def batches(fault):
    generator = torch.Generator().manual_seed(4)
    for number in range(60):
        if fault and number == 20:
            time.sleep(2)
        inputs = torch.randn(32, 4, generator=generator)
        yield inputs, inputs.sum(1, keepdim=True)


def main(fault):
    torch.manual_seed(4)
    torch.set_num_threads(1)
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for inputs, targets in batches(fault):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
