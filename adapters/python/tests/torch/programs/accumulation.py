"""Gradient accumulation: three forwards and backwards for a step of the optimizer, with a functional loss. With "never"
the gradients are never zeroed."""

import sys

import torch
import torch.nn.functional as F
from torch import nn

from outcome import report, sees


def main():
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(inplace=True), nn.Linear(12, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(4):
        if sys.argv[1:] != ["never"]:
            optimizer.zero_grad()
        losses = []
        for part in range(3):
            inputs = torch.randn(5, 6)
            hidden = model[0](inputs).detach().clone()
            loss = F.mse_loss(model(inputs), torch.randn(5, 4))
            loss.backward()
            losses.append(loss.detach())
            if part == 0:  # called beside the model, too: the index runs on
                sees("0_output_1", hidden)
        sees("mse_loss_output_0", (losses[0] + losses[1] + losses[2]) / 3)
        sees("gradient/0.weight", model[0].weight.grad)
        optimizer.step()
        print(f"step {step} loss {loss.item():.17g}")
    report(model)


if __name__ == "__main__":
    main()
