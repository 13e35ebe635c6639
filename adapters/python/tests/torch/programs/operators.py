"""A small perceptron, with a stretch that it names itself."""

import torch
from torch import nn

from outcome import report


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(20):
        optimizer.zero_grad()
        with torch.autograd.profiler.record_function("my stretch"):
            loss = model(torch.randn(3, 4)).square().mean()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.17g}")
    report(model)


if __name__ == "__main__":
    main()
