"""A model that is asked once, in training mode, before there is an optimizer."""

import torch
from torch import nn

from outcome import report, sees


def main():
    torch.manual_seed(4)
    model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1))
    print(model(torch.zeros(1, 4)).shape)
    criterion = nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(4):
        optimizer.zero_grad()
        loss = criterion(model(torch.randn(3, 4)), torch.randn(3, 1))
        loss.backward()
        optimizer.step()
        sees("MSELoss_output_0", loss)
        sees("0.weight", model[0].weight)
    report(model)


if __name__ == "__main__":
    main()
