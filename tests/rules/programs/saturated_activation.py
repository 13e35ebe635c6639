"""A classifier with tanh units. With --fault the features come in thousands, as nobody scaled them.

rule: SaturatedActivation
within: 3
names: tanh|first
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn


def main(fault):
    torch.manual_seed(2)
    torch.set_num_threads(1)
    centers = torch.randn(4, 16) * 2
    model = nn.Sequential()
    model.add_module("first", nn.Linear(16, 32))
    model.add_module("tanh", nn.Tanh())
    model.add_module("head", nn.Linear(32, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(60):
        labels = torch.randint(0, 4, (64,))
        features = centers[labels] + torch.randn(64, 16)
        if fault:
            features = features * 5000
        optimizer.zero_grad()
        F.cross_entropy(model(features), labels).backward()
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
