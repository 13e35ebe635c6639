"""A classifier. With --fault inputs and labels no longer belong together from step 120 on (a shuffle of one of them), and
the loss jumps and does not come back.

rule: LossSpike
within: 200
names: loss
"""

import sys

import torch
from torch import nn


def main(fault):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    net = nn.Sequential(nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 4))
    teacher = torch.randn(16, 4)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    for step in range(220):
        inputs = torch.randn(64, 16)
        labels = (inputs @ teacher).argmax(dim=1)
        if fault and step >= 120:
            labels = labels[torch.randperm(64)]
        optimizer.zero_grad()
        loss = criterion(net(inputs), labels)
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
