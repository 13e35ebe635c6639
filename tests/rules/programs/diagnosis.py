"""A classifier of points. With --fault its blocks lie in a plain list, where no optimizer finds them.

rule: Diagnosis
within: 10
names: blocks
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self, fault):
        super().__init__()
        self.first = nn.Linear(8, 32)
        blocks = [nn.Linear(32, 32) for _ in range(3)]
        self.blocks = blocks if fault else nn.ModuleList(blocks)
        self.last = nn.Linear(32, 4)

    def forward(self, inputs):
        hidden = F.relu(self.first(inputs))
        for block in self.blocks:
            hidden = hidden + F.relu(block(hidden))
        return self.last(hidden)


def main(fault):
    torch.manual_seed(3)
    torch.set_num_threads(1)
    inputs = torch.randn(256, 8)
    labels = (inputs[:, :2] > 0).long() @ torch.tensor([1, 2])
    model = Net(fault)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(60):
        batch = torch.randperm(256)[:64]
        optimizer.zero_grad()
        F.cross_entropy(model(inputs[batch]), labels[batch]).backward()
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
