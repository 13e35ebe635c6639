"""Raises in step 3: in the loop, in a forward or in a backward pass, as the argument says."""

import sys

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x)


def main(where):
    torch.manual_seed(8)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(6):
        if step == 3 and where == "loop":
            raise ValueError("step 3 went wrong")
        is_wrong = step == 3
        optimizer.zero_grad()
        try:
            output = model(torch.randn(5, 3 if is_wrong and where in ("caught", "forward") else 4))
        except RuntimeError:
            if where == "forward":
                raise
            print("a forward failed, and was caught")
            continue
        loss = output.pow(2).mean()
        if is_wrong and where == "backward":
            loss = loss.detach()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.17g}")


if __name__ == "__main__":
    main(sys.argv[1])
