"""A training that writes a checkpoint after each epoch. With --fault the fourth and later ones lack most of the model.

rule: CheckpointIntegrity
within: 160
names: less than half of what the earlier ones have
"""

import os
import sys
import tempfile
import time

import torch
import torch.nn.functional as F
from torch import nn


def main(fault):
    torch.manual_seed(8)
    torch.set_num_threads(1)
    truth = torch.randn(32, 4)
    model = nn.Sequential(nn.Linear(32, 256), nn.ReLU(), nn.Linear(256, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    with tempfile.TemporaryDirectory() as folder:
        for epoch in range(5):
            for _ in range(30):
                inputs = torch.randn(64, 32)
                optimizer.zero_grad()
                F.mse_loss(model(inputs), inputs @ truth).backward()
                optimizer.step()
            part = model[2] if fault and epoch >= 3 else model
            torch.save({"epoch": epoch, "model": part.state_dict()}, os.path.join(folder, f"epoch-{epoch}.pt"))
            time.sleep(0.3)  # the work of a longer epoch


if __name__ == "__main__":
    main("--fault" in sys.argv)
