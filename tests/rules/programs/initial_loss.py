"""A classifier. With --fault the last layer begins with weights a hundred times as large, so that it is sure of itself
before it has learned anything.

rule: InitialLoss
within: 2
names: CrossEntropyLoss_output_0
"""

import sys

import torch
from torch import nn


def main(fault):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    inputs = torch.randn(512, 20)
    labels = (inputs @ torch.randn(20, 10)).argmax(dim=1)
    net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 10))
    if fault:
        with torch.no_grad():
            net[2].weight.mul_(100)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for step in range(60):
        batch = torch.randperm(512)[:64]
        optimizer.zero_grad()
        loss = criterion(net(inputs[batch]), labels[batch])
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
