"""House prices by a network whose layers keep their results in float16.

The prices are standardised. With --fault they are in euros, and the network's results climb towards them, to where
float16 ends.

rule: OverflowRisk
within: 150
names: (price|Network)_output_0
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn


class Half(nn.Linear):
    """Multiplies in float32, as PyTorch has to on a CPU, and keeps the result in float16."""

    def forward(self, x):
        return super().forward(x.float()).half()


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = Half(6, 32)
        self.price = Half(32, 1)

    def forward(self, x):
        return self.price(torch.relu(self.hidden(x).float()))


def main(fault):
    torch.manual_seed(4)
    torch.set_num_threads(1)
    houses = torch.randn(512, 6)
    prices = 30000 + 4000 * (houses @ torch.rand(6, 1)) + 500 * torch.randn(512, 1)
    if not fault:
        prices = (prices - prices.mean()) / prices.std()
    network = Network()
    optimizer = torch.optim.Adam(network.parameters(), lr=0.1)
    for step in range(200):
        batch = torch.randint(0, 512, (64,))
        optimizer.zero_grad()
        F.smooth_l1_loss(network(houses[batch]).float(), prices[batch]).backward()
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
