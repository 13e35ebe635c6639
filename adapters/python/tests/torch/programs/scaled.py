"""A gradient scaler, which skips the second step: its gradients are infinite."""

import torch
import torch.nn.functional as F
from torch import nn

from outcome import report, sees


def main():
    torch.manual_seed(18)
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    for step in range(4):
        optimizer.zero_grad()
        loss = F.mse_loss(model(torch.randn(5, 4)), torch.zeros(5, 2))
        scaler.scale(loss * (float("inf") if step == 1 else 1.0)).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        if step != 1:
            sees("gradient/weight", model.weight.grad)
        scaler.step(optimizer)
        scaler.update()
        if step != 1:
            sees("weight", model.weight)
        print(f"step {step} loss {loss.item():.17g} scale {scaler.get_scale()}")
    report(model)


if __name__ == "__main__":
    main()
