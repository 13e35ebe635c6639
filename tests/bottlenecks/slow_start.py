"""A training that fetches its data before it begins, each time anew. With --mended it finds them where it left them.

rule: SlowStart
"""

import pace  # first, so that the program's whole time is counted

import sys
import time

import torch
import torch.nn.functional as F
from torch import nn


def fetch(mended):
    for _ in range(1 if mended else 40):
        time.sleep(0.15)  # one part of it
    return torch.randn(8192, 256), torch.randint(0, 10, (8192,))


def main(mended):
    torch.manual_seed(11)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    inputs, labels = fetch(mended)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    speed = pace.Pace(warm_up=None)
    for _ in range(500):
        chosen = torch.randint(0, len(labels), (128,))
        optimizer.zero_grad()
        F.cross_entropy(model(inputs[chosen]), labels[chosen]).backward()
        optimizer.step()
        speed.step(len(chosen))
    speed.tell()


if __name__ == "__main__":
    main("--mended" in sys.argv)
