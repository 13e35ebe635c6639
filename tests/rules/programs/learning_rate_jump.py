"""A classifier with a schedule by milestones. With --fault its factor is the wrong way round: the rate is multiplied by
20 at step 80, where it should be divided.

rule: LearningRateJump
within: 82
names: trainwarden/learning_rate/0
"""

import sys

import torch
from torch import nn


def main(fault):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    inputs = torch.randn(512, 20)
    labels = (inputs @ torch.randn(20, 4)).argmax(dim=1)
    net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 4))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, [80], gamma=20 if fault else 0.1)
    for step in range(120):
        batch = torch.randperm(512)[:64]
        optimizer.zero_grad()
        criterion(net(inputs[batch]), labels[batch]).backward()
        optimizer.step()
        schedule.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
