"""A regression with two layers. With --fault the second layer's weights are drawn with a spread of 10.

rule: TensorVariance:collection_names=weights,max_threshold=1
within: 2
names: last
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 32)
        self.last = nn.Linear(32, 1)

    def forward(self, inputs):
        return self.last(torch.relu(self.first(inputs)))


def main(fault):
    torch.manual_seed(2)
    torch.set_num_threads(1)
    truth = torch.randn(8, 1)
    model = Net()
    if fault:
        nn.init.normal_(model.last.weight, std=10)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(60):
        inputs = torch.randn(64, 8)
        optimizer.zero_grad()
        F.mse_loss(model(inputs), inputs @ truth).backward()
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
