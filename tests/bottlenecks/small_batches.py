"""A table of numbers, four rows in each batch, so that a step is mostly overhead. With --mended there are 64.

rule: BatchSize
"""

import sys

import pace
import torch
import torch.nn.functional as F
from torch import nn


def main(mended):
    torch.manual_seed(3)
    torch.set_num_threads(1)
    batch = 64 if mended else 4
    rows = torch.randn(65536, 32)
    targets = torch.sin(rows.sum(dim=1, keepdim=True))
    model = nn.Sequential(
        nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1)
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    speed = pace.Pace()
    for _ in range(8000):
        chosen = torch.randint(0, len(rows), (batch,))
        optimizer.zero_grad()
        F.mse_loss(model(rows[chosen]), targets[chosen]).backward()
        optimizer.step()
        speed.step(batch)
    speed.tell()


if __name__ == "__main__":
    main("--mended" in sys.argv)
