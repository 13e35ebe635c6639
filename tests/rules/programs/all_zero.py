"""A classifier behind an encoder. With --fault the encoder's weights begin at zero, and so do their gradients stay.

rule: AllZero:collection_names=gradients
within: 2
names: encoder
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU())
        self.head = nn.Linear(16, 4)

    def forward(self, inputs):
        return self.head(self.encoder(inputs))


def main(fault):
    torch.manual_seed(2)
    torch.set_num_threads(1)
    centers = torch.randn(4, 8) * 2
    model = Net()
    if fault:
        for parameter in model.encoder.parameters():
            nn.init.zeros_(parameter)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(60):
        labels = torch.randint(0, 4, (64,))
        optimizer.zero_grad()
        F.cross_entropy(model(centers[labels] + torch.randn(64, 8)), labels).backward()
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
