"""A classifier with He's initialisation. With --fault the second layer's weights are drawn a hundred times too large.

rule: PoorWeightInitialization:distribution_range=1e-6,patience=10
within: 2
names: second_relu
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 64)
        self.first_relu = nn.ReLU()
        self.second = nn.Linear(64, 64)
        self.second_relu = nn.ReLU()
        self.head = nn.Linear(64, 4)

    def forward(self, inputs):
        hidden = self.first_relu(self.first(inputs))
        return self.head(self.second_relu(self.second(hidden)))


def main(fault):
    torch.manual_seed(2)
    torch.set_num_threads(1)
    centers = torch.randn(4, 16)
    model = Net()
    for layer in (model.first, model.second):
        nn.init.kaiming_normal_(layer.weight)
        nn.init.zeros_(layer.bias)
    if fault:
        with torch.no_grad():
            model.second.weight.mul_(100)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    for step in range(60):
        labels = torch.randint(0, 4, (64,))
        optimizer.zero_grad()
        F.cross_entropy(model(centers[labels] + torch.randn(64, 16) * 0.5), labels).backward()
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
