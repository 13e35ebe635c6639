"""A classifier. With --fault the gradients are zeroed after the backward pass, before the optimizer can use them.

rule: CallOrder
within: 5
names: zeroed between the backward pass and the optimizer's step
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn


def main(fault):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    inputs = torch.randn(256, 8)
    labels = (inputs[:, 0] + inputs[:, 1] > 0).long()
    model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(60):
        batch = torch.randperm(256)[:64]
        if not fault:
            optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs[batch]), labels[batch])
        loss.backward()
        if fault:
            optimizer.zero_grad()
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
