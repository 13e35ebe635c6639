"""A classifier that counts its hits one by one, and waits for each number. With --mended it counts them at once.

rule: HiddenSynchronisation
"""

import sys

import pace
import torch
import torch.nn.functional as F
from torch import nn


def count_one_by_one(confusion, labels, predictions):
    for label, prediction in zip(labels, predictions):
        confusion[label.item()][prediction.item()] += 1


def count_at_once(confusion, labels, predictions):
    pairs = torch.bincount(labels * 10 + predictions, minlength=100).reshape(10, 10).tolist()
    for row, counts in enumerate(pairs):
        for column, count in enumerate(counts):
            confusion[row][column] += count


def main(mended):
    torch.manual_seed(4)
    torch.set_num_threads(1)
    inputs = torch.randn(16384, 64)
    labels = inputs[:, :10].argmax(dim=1)
    model = nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    confusion = [[0] * 10 for _ in range(10)]
    count = count_at_once if mended else count_one_by_one
    speed = pace.Pace()
    for _ in range(2400):
        chosen = torch.randint(0, len(labels), (1024,))
        optimizer.zero_grad()
        outputs = model(inputs[chosen])
        F.cross_entropy(outputs, labels[chosen]).backward()
        optimizer.step()
        count(confusion, labels[chosen], outputs.argmax(dim=1))
        speed.step(len(chosen))
    speed.tell()


if __name__ == "__main__":
    main("--mended" in sys.argv)
