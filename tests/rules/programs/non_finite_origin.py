"""A regression through a layer that takes a root. With --fault a large batch brings that root below zero at step 60.

rule: NonFiniteOrigin
within: 65
names: root_output_0
"""

import sys

import torch
from torch import nn


class Root(nn.Module):
    def forward(self, x):
        return torch.sqrt(x + 5.0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(8, 16)
        self.bound = nn.Hardtanh(-1e9, 1e9)
        self.root = Root()
        self.head = nn.Linear(16, 1)

    def forward(self, x):
        return self.head(self.root(self.bound(self.stem(x))))


def main(fault):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    net = Net()
    weight = torch.randn(8, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for step in range(80):
        inputs = torch.randn(32, 8).clamp(-2, 2)
        if fault and step == 60:
            inputs = inputs * 100
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(inputs), inputs.clamp(-2, 2) @ weight)
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
