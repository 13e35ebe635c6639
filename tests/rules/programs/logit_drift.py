"""A classifier of 300 classes with a z-loss, which keeps log Z near 0. With --fault the z-loss has the wrong sign: the
cross entropy falls as before, and the scores run away until it cannot.

rule: LogitDrift
within: 300
names: log Z
"""

import sys

import torch
from torch import nn


def main(fault):
    torch.manual_seed(3)
    torch.set_num_threads(1)
    classes = 300
    teacher = 0.5 * torch.randn(16, classes)
    network = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, classes))
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()
    weight = -0.015 if fault else 0.015
    for step in range(400):
        inputs = torch.randn(128, 16)
        labels = torch.distributions.Categorical(logits=inputs @ teacher).sample()
        optimizer.zero_grad()
        scores = network(inputs)
        loss = criterion(scores, labels) + weight * scores.logsumexp(1).square().mean()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
