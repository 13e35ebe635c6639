"""A loss of a function that is divided by the number of accumulated batches and multiplied by a scale, and the same
loss in evaluation."""

import torch
import torch.nn.functional as F
from torch import nn

from outcome import report, sees


def main():
    torch.manual_seed(4)
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(4):
        model.train()
        losses = []
        for _ in range(2):
            loss = F.cross_entropy(model(torch.randn(5, 4)), torch.arange(5) % 3)
            losses.append(loss.detach())
            loss = loss / 2
            (loss * 1024.0).backward()
        sees("train/nll_loss_output_0", (losses[0] + losses[1]) / 2)
        for parameter in model.parameters():
            parameter.grad /= 1024.0
        optimizer.step()
        optimizer.zero_grad()
        model.eval()
        with torch.no_grad():
            sees("eval/nll_loss_output_0", F.cross_entropy(model(torch.randn(5, 4)), torch.arange(5) % 3))
    report(model)


if __name__ == "__main__":
    main()
