"""LBFGS: the optimizer calls forward and backward itself, as often as it likes."""

import torch
from torch import nn

from outcome import report, sees


def main():
    torch.manual_seed(7)
    model = nn.Linear(3, 1)
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=4)
    inputs, target = torch.randn(20, 3), torch.randn(20, 1)

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), target)
        loss.backward()
        return loss

    for step in range(3):
        loss = optimizer.step(closure)
        sees("weight", model.weight)
        sees("gradient/weight", model.weight.grad)
        print(f"step {step} loss {loss.item():.17g}")
    report(model)


if __name__ == "__main__":
    main()
