"""A model that is only asked: no optimizer, no loss."""

import torch
from torch import nn

from outcome import report, sees


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return self.fc(x)


def main():
    torch.manual_seed(17)
    model = Net().eval()
    with torch.no_grad():
        for _ in range(3):
            output = model(torch.randn(2, 4))
            sees("Net_output_0", output)
            print(output.sum().item())
    report(model)


if __name__ == "__main__":
    main()
