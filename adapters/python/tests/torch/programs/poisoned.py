"""Adam, whose third batch has a NaN."""

import torch
from torch import nn


def main():
    torch.manual_seed(21)
    model = nn.Linear(3, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1, weight_decay=0.01)
    for step in range(6):
        optimizer.zero_grad()
        inputs = torch.ones(4, 3)
        if step == 2:
            inputs[0, 0] = float("nan")
        nn.functional.mse_loss(model(inputs), torch.zeros(4, 2)).backward()
        optimizer.step()
        print(f"step {step} finite {bool(model.weight.isfinite().all())}", flush=True)


if __name__ == "__main__":
    main()
