"""A classifier with dropout and batch norm, evaluated after each epoch. With --fault it stays in evaluation mode then.

rule: ModeMistake
within: 40
names: ran in evaluation mode
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn


def main(fault):
    torch.manual_seed(5)
    torch.set_num_threads(1)
    inputs = torch.randn(512, 8)
    labels = (inputs[:, 0] * inputs[:, 1] > 0).long()
    model = nn.Sequential(nn.Linear(8, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(6):
        if epoch == 0 or not fault:
            model.train()
        for batch in torch.randperm(384).split(32):
            optimizer.zero_grad()
            F.cross_entropy(model(inputs[batch]), labels[batch]).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            for first in range(384, 512, 64):
                F.cross_entropy(model(inputs[first : first + 64]), labels[first : first + 64])


if __name__ == "__main__":
    main("--fault" in sys.argv)
