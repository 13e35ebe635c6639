"""A model that is tried while it is made, and once more to give its lazy layer a shape; with "asked" it is called a
third time, when it is whole, before there is an optimizer."""

import sys

import torch
from torch import nn

from outcome import report, sees


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 6), nn.ReLU())
        features = self.body(torch.zeros(1, 4)).shape[1]
        self.norm = nn.utils.parametrizations.spectral_norm(nn.Linear(features, 5))
        self.head = nn.LazyLinear(1)
        self.scale = self.norm.weight.detach().abs().max()

    def forward(self, x):
        return self.head(torch.relu(self.norm(self.body(x))))


def main():
    torch.manual_seed(4)
    model = Net()
    model(torch.zeros(1, 4))
    if sys.argv[1:] == ["asked"]:
        model(torch.zeros(1, 4))
    criterion = nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(4):
        optimizer.zero_grad()
        loss = criterion(model(torch.randn(3, 4)), torch.randn(3, 1))
        loss.backward()
        optimizer.step()
        sees("MSELoss_output_0", loss)
        sees("body.0.weight", model.body[0].weight)
        sees("head.weight", model.head.weight)
    report(model)


if __name__ == "__main__":
    main()
