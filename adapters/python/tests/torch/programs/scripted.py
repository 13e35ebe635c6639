"""A model compiled by torch.jit.script, one that is traced, and one that torch.fx takes apart."""

import torch
import torch.fx
from torch import nn

from outcome import report, sees


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return torch.relu(self.fc(x))


class WithLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)
        self.loss = nn.MSELoss()

    def forward(self, x, y):
        return self.loss(self.fc(x), y)


def main():
    torch.manual_seed(15)
    model = torch.jit.script(Net())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(torch.randn(5, 4)), torch.zeros(5, 3))
        loss.backward()
        sees("gradient/fc.weight", model.fc.weight.grad)
        optimizer.step()
        sees("fc.weight", model.fc.weight)
        sees("mse_loss_output_0", loss)
        print(f"step {step} loss {loss.item():.17g}")
    traced = torch.jit.trace(Net(), torch.zeros(1, 4))
    print(traced.graph)
    print(torch.fx.symbolic_trace(WithLoss()).graph)
    print(torch.jit.script(WithLoss()).graph)
    report(model)


if __name__ == "__main__":
    main()
