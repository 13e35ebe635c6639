"""A classifier that keeps all its outputs, with all that led to them, to know how good it was. With --mended it counts.

rule: MemoryLeak
"""

import sys

import pace
import torch
import torch.nn.functional as F
from torch import nn


class KeepsAll:
    def __init__(self):
        self.kept = []

    def accuracy(self, outputs, answers):
        self.kept.append((outputs, answers))  # with the graph of the gradients
        return float(sum(((each > 0) == right).float().mean() for each, right in self.kept)) / len(self.kept)


class Counts:
    def __init__(self):
        self.right = self.all = 0

    def accuracy(self, outputs, answers):
        self.right += int(((outputs > 0) == answers).sum())
        self.all += len(answers)
        return self.right / self.all


def main(mended):
    torch.manual_seed(5)
    torch.set_num_threads(1)
    inputs = torch.randn(8192, 64)
    answers = inputs.sum(dim=1, keepdim=True) > 0
    model = nn.Sequential(nn.Linear(64, 512), nn.Tanh(), nn.Linear(512, 512), nn.Tanh(), nn.Linear(512, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    so_far = Counts() if mended else KeepsAll()
    speed = pace.Pace()
    for _ in range(1400):
        chosen = torch.randint(0, len(answers), (256,))
        optimizer.zero_grad()
        outputs = model(inputs[chosen])
        F.binary_cross_entropy_with_logits(outputs, answers[chosen].float()).backward()
        optimizer.step()
        so_far.accuracy(outputs, answers[chosen])
        speed.step(len(chosen))
    speed.tell()


if __name__ == "__main__":
    main("--mended" in sys.argv)
