"""A small CNN whose gradients are added up over 32 batches of one sample. With --mended, over two of 16.

rule: BatchSize or SmallKernels
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pace
import torch
import torch.nn.functional as F
from torch import nn


def main(mended):
    torch.manual_seed(26)
    torch.set_num_threads(1)
    micro = 16 if mended else 1
    pictures, labels = torch.randn(2048, 1, 8, 8), torch.randint(0, 5, (2048,))
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1), nn.GroupNorm(2, 8),
        nn.ReLU(), nn.Flatten(), nn.Linear(512, 5),
    )  # fmt: skip
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    speed = pace.Pace()
    for _ in range(300):
        chosen = torch.randint(0, len(labels), (32,))
        optimizer.zero_grad()
        for part in chosen.split(micro):
            (F.cross_entropy(model(pictures[part]), labels[part]) * len(part) / 32).backward()
        optimizer.step()
        speed.step(len(chosen))
    speed.tell()


if __name__ == "__main__":
    main("--mended" in sys.argv)
