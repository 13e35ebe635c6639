"""A regression. With --fault the learning rate is so small that ten steps change next to nothing in the weights.

rule: WeightUpdateRatio:num_steps=10
within: 50
names: weight
"""

import sys

import torch
from torch import nn


def main(fault):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-12 if fault else 1e-2)
    for step in range(60):
        inputs = torch.randn(64, 8)
        optimizer.zero_grad()
        loss = nn.functional.smooth_l1_loss(net(inputs), inputs.sum(dim=1, keepdim=True))
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
