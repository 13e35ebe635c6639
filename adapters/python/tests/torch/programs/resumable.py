"""Trains with dropout, momentum and random batches, slowly in the middle, so that somebody outside can ask for something."""

import glob
import json
import os
import random
import sys
import time

import numpy as np
import torch
from torch import nn

STEPS = 30
SLOW_FROM = 8


def build():
    model = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 3))
    return model, torch.optim.Adam(model.parameters(), lr=0.01)


def train(model, optimizer, steps, after_step=lambda step: None):
    losses = []
    for step in steps:
        batch = torch.randn(8, 6) * random.uniform(0.5, 1.5) + float(np.random.normal())
        labels = torch.randint(0, 3, (8,))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(batch), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item().hex())
        after_step(step)
    return losses


def main():
    torch.manual_seed(5)
    random.seed(6)
    np.random.seed(7)
    model, optimizer = build()
    if len(sys.argv) > 1:  # a resumed one
        import trainwarden.torch

        first = trainwarden.torch.restore(sys.argv[1], model, optimizer) + 1
    else:
        first = 0

    def wait_a_little(step):
        if step == SLOW_FROM:
            print("asks", flush=True)
        if step >= SLOW_FROM and not glob.glob(os.path.join(os.environ.get("SAVED_IN", "."), "*.pt")):
            time.sleep(0.02)

    losses = train(model, optimizer, range(first, STEPS), wait_a_little)
    print(json.dumps({"first": first, "losses": losses}))


if __name__ == "__main__":
    main()
