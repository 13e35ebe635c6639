"""Fine-tuning with a new head. With --fault the head is put in its place after the optimizer was made.

rule: ForgottenParameter
within: 25
names: head\\.
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
        self.head = nn.Linear(32, 10)

    def forward(self, inputs):
        return self.head(self.body(inputs))


def main(fault):
    torch.manual_seed(9)
    torch.set_num_threads(1)
    inputs = torch.randn(256, 8)
    labels = (inputs[:, :2] > 0).long() @ torch.tensor([1, 2])
    model = Net()
    if not fault:
        model.head = nn.Linear(32, 4)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    if fault:
        model.head = nn.Linear(32, 4)
    for step in range(60):
        batch = torch.randperm(256)[:64]
        optimizer.zero_grad()
        F.cross_entropy(model(inputs[batch]), labels[batch]).backward()
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
