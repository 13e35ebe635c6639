"""A regression on standardised features. With --fault one feature never varies, and its spread of 0 divides it.

rule: ExplodingTensor
within: 2
names: NaN
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn


def main(fault):
    torch.manual_seed(2)
    torch.set_num_threads(1)
    features = torch.randn(512, 8)
    targets = features @ torch.randn(8, 1)
    if fault:
        features[:, 3] = 1
    features = (features - features.mean(0)) / features.std(0)
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(60):
        batch = torch.randint(0, 512, (64,))
        optimizer.zero_grad()
        F.mse_loss(model(features[batch]), targets[batch]).backward()
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
