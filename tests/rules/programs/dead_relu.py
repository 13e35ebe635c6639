"""A classifier of small images. With --fault the biases of the second layer begin far below zero.

rule: DeadRelu
within: 3
names: second
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten())
        self.second = nn.Sequential(nn.Linear(8 * 16, 32), nn.ReLU())
        self.head = nn.Linear(32, 4)

    def forward(self, images):
        return self.head(self.second(self.first(images)))


def main(fault):
    torch.manual_seed(2)
    torch.set_num_threads(1)
    patterns = torch.randn(4, 1, 8, 8)
    model = Net()
    if fault:
        nn.init.constant_(model.second[0].bias, -20)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    for step in range(60):
        labels = torch.randint(0, 4, (64,))
        optimizer.zero_grad()
        F.cross_entropy(model(patterns[labels] + torch.randn(64, 1, 8, 8)), labels).backward()
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
