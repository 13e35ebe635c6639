"""Ends after three steps in the way that the argument says."""

import os
import signal
import sys

import torch
from torch import nn


def main(how):
    torch.manual_seed(9)
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(torch.randn(5, 4)), torch.zeros(5, 2))
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.17g}", flush=True)
    if how == "exit":
        sys.exit(7)
    if how == "message":
        sys.exit("that was it")
    if how == "abrupt":
        os._exit(9)
    if how == "interrupt":
        os.kill(os.getpid(), signal.SIGINT)
    if how == "terminate":
        os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main(sys.argv[1])
