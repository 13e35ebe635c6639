"""Activation checkpointing: a block is computed a second time inside the backward pass."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from outcome import report, sees


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(4, 4)
        self.block = nn.Sequential(nn.Linear(4, 4), nn.Tanh())

    def forward(self, x):
        return checkpoint(self.block, self.stem(x), **({} if torch.__version__ < "2" else {"use_reentrant": False}))


def main():
    torch.manual_seed(14)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        x = torch.randn(5, 4)
        optimizer.zero_grad()
        with torch.no_grad():
            hidden = nn.functional.linear(
                nn.functional.linear(x, model.stem.weight, model.stem.bias), model.block[0].weight, model.block[0].bias
            )
        loss = nn.functional.mse_loss(model(x), torch.zeros(5, 4))
        loss.backward()
        sees("block.0_output_0", hidden)
        sees("gradient/block.0.weight", model.block[0].weight.grad)
        optimizer.step()
        print(f"step {step} loss {loss.item():.17g}")
    report(model)


if __name__ == "__main__":
    main()
