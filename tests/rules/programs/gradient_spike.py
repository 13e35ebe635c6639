"""A regression with two inputs branches. With --fault the data of one branch come in another unit from step 100 on (a
thousand times as large), so that the gradient of its layer jumps and stays there.

rule: GradientSpike
within: 180
names: gradient/right.weight
"""

import sys

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Linear(8, 16)
        self.right = nn.Linear(8, 16)
        self.head = nn.Linear(32, 1)

    def forward(self, left, right):
        return self.head(torch.cat([torch.tanh(self.left(left)), self.right(right)], dim=1))


def main(fault):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for step in range(200):
        left, right = torch.randn(64, 8), torch.randn(64, 8)
        target = left.sum(dim=1, keepdim=True).sin() + right.mean(dim=1, keepdim=True)
        if fault and step >= 100:
            right = right * 1000
        optimizer.zero_grad()
        loss = nn.functional.smooth_l1_loss(net(left, right), target)
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
