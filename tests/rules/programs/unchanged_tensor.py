"""A classifier whose learning rate warms up. With --fault the warm-up divides whole numbers, and stays at zero.

rule: UnchangedTensor:collection_names=weights
within: 4
names: weight
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn


def main(fault):
    torch.manual_seed(2)
    torch.set_num_threads(1)
    centers = torch.randn(4, 8) * 2
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    warm_up = (lambda step: (step + 1) // 100) if fault else (lambda step: min(1, (step + 1) / 10))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, warm_up)
    for step in range(60):
        labels = torch.randint(0, 4, (64,))
        optimizer.zero_grad()
        F.cross_entropy(model(centers[labels] + torch.randn(64, 8)), labels).backward()
        optimizer.step()
        schedule.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
