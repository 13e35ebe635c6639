"""torch.compile around a whole training step, or around the step of the optimizer."""

import sys

import torch
from torch import nn

from outcome import report, sees


def main(how):
    torch.manual_seed(21)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    def train(x):
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss

    def train_in_parts(x):
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        compiled()
        return loss

    if how == "whole":
        step = torch.compile(train, backend="eager")
    else:
        compiled, step = torch.compile(optimizer.step, backend="eager"), train_in_parts
    for _ in range(10):
        loss = step(torch.randn(8, 4))
        sees("loss_output_0", loss)
        sees("0.weight", model[0].weight)
        sees("optimizer_state/0.weight/exp_avg", optimizer.state[model[0].weight]["exp_avg"])
        sees("gradient/0.weight", model[0].weight.grad)
    report(model)


if __name__ == "__main__":
    main(sys.argv[1])
