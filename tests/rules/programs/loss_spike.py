"""A classifier. With --fault a few batches whose inputs were scaled wrongly and whose labels were mixed up at step 120
throw the weights far off, and the loss does not come back.

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
        if fault and 120 <= step < 124:
            inputs, labels = inputs * 300, labels[torch.randperm(64)]
        optimizer.zero_grad()
        loss = criterion(net(inputs), labels)
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
