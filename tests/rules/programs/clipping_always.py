"""A regression with clipped gradients. With --fault the limit is a thousandth of the usual norm.

rule: ClippingAlways:window=50
within: 60
names: trainwarden/clip/norm
"""

import sys

import torch
from torch import nn


def main(fault):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for step in range(100):
        inputs = torch.randn(64, 8)
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(inputs), inputs.sum(dim=1, keepdim=True))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1e-3 if fault else 10.0)
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
