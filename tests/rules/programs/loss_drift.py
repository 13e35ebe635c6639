"""A regression. With --fault the data slowly become others than those of the beginning, from step 300 on, at a learning
rate that has decayed too far to follow.

rule: LossDrift
within: 440
names: loss
"""

import sys

import torch
from torch import nn


def main(fault):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    net = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.99)
    weight = torch.randn(8, 1)
    other = torch.randn(8, 1)
    for step in range(480):
        drift = max(0.0, (step - 300) * 0.004) if fault else 0.0
        inputs = torch.randn(64, 8)
        targets = inputs @ ((1 - drift) * weight + drift * other) + 0.5 * torch.randn(64, 1)
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(inputs), targets)
        loss.backward()
        optimizer.step()
        schedule.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
