"""A parameter that two modules share, a frozen layer, an unused one, and a parameter that lies in no module."""

import torch
from torch import nn

from outcome import report, sees


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)
        self.second.weight = self.first.weight
        self.frozen = nn.Linear(4, 4)
        self.frozen.requires_grad_(False)
        self.unused = nn.Linear(2, 2)

    def forward(self, x):
        return self.second(torch.relu(self.frozen(self.first(x))))


def main():
    torch.manual_seed(5)
    model, scale = Net(), torch.ones(4, requires_grad=True)
    optimizer = torch.optim.Adam([{"params": list(model.parameters())}, {"params": [scale], "lr": 0.1}])
    for step in range(3):
        optimizer.zero_grad()
        loss = (model(torch.randn(5, 4)) * scale).pow(2).mean()
        loss.backward()
        sees("gradient/first.weight", model.first.weight.grad)
        sees("gradient/param_0", scale.grad)
        optimizer.step()
        sees("first.weight", model.first.weight)
        sees("loss_output_0", loss)
        print(f"step {step} loss {loss.item():.17g}")
    report(model)


if __name__ == "__main__":
    main()
