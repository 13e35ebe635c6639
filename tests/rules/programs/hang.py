"""A training of short steps. With --fault it waits for a lock that nobody gives back, until it gives up.

rule: Hang:floor_seconds=1,hang_seconds=1
within: 31
names: is a hang
"""

import sys
import threading

import torch
from torch import nn


def main(fault):
    torch.manual_seed(3)
    torch.set_num_threads(1)
    inputs = torch.randn(128, 4)
    targets = inputs.sum(1, keepdim=True)
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    lock = threading.Lock()
    if fault:
        lock.acquire()
    for step in range(60):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        if step == 30 and lock.acquire(timeout=2.5):
            lock.release()


if __name__ == "__main__":
    main("--fault" in sys.argv)
