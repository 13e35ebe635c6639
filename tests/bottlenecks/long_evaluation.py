"""A classifier that is evaluated on all its test data every ten steps. With --mended, every 160.

rule: LongEvaluation
"""

import sys

import pace
import torch
import torch.nn.functional as F
from torch import nn


def accuracy(model, inputs, labels):
    model.eval()
    with torch.no_grad():
        parts = zip(inputs.split(512), labels.split(512))
        right = sum(int((model(part).argmax(dim=1) == of).sum()) for part, of in parts)
    model.train()
    return right / len(labels)


def main(mended):
    torch.manual_seed(9)
    torch.set_num_threads(1)
    between = 160 if mended else 10
    inputs, labels = torch.randn(16384, 128), torch.randint(0, 10, (16384,))
    test_inputs, test_labels = torch.randn(8192, 128), torch.randint(0, 10, (8192,))
    model = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    speed = pace.Pace()
    for step in range(1120):
        chosen = torch.randint(0, len(labels), (128,))
        optimizer.zero_grad()
        F.cross_entropy(model(inputs[chosen]), labels[chosen]).backward()
        optimizer.step()
        speed.step(len(chosen))
        if (step + 1) % between == 0:
            accuracy(model, test_inputs, test_labels)
    speed.tell()


if __name__ == "__main__":
    main("--mended" in sys.argv)
