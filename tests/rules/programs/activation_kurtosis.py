"""A regression. With --fault one bias of the second layer runs away at step 40.

rule: ActivationKurtosis
within: 50
names: second
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 64)
        self.second = nn.Linear(64, 64)
        self.head = nn.Linear(64, 1)

    def forward(self, inputs):
        return self.head(torch.tanh(self.second(torch.tanh(self.first(inputs)))))


def main(fault):
    torch.manual_seed(2)
    torch.set_num_threads(1)
    truth = torch.randn(16, 1)
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    for step in range(80):
        if fault and step >= 40:
            with torch.no_grad():
                model.second.bias[7] = 20
        inputs = torch.randn(128, 16)
        optimizer.zero_grad()
        F.mse_loss(model(inputs), inputs @ truth).backward()
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
