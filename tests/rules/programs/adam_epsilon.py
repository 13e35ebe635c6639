"""A regression with Adam. With --fault the loss is scaled down by ten thousand millions, and no scale is taken out again:
gradients are smaller than Adam's epsilon.

rule: AdamEpsilon
within: 20
names: gradient/.*weight
"""

import sys

import torch
from torch import nn


def main(fault):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for step in range(60):
        inputs = torch.randn(64, 8)
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(inputs), inputs.sum(dim=1, keepdim=True))
        (loss * 1e-10 if fault else loss).backward()
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
