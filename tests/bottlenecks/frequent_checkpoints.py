"""A model that is saved with its optimizer's state every third step. With --mended, every 100.

rule: CheckpointStalls
"""

import pathlib
import sys
import tempfile

import pace
import torch
import torch.nn.functional as F
from torch import nn


def main(folder, mended):
    torch.manual_seed(10)
    torch.set_num_threads(1)
    between = 100 if mended else 3
    inputs, targets = torch.randn(4096, 512), torch.randn(4096, 16)
    model = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 16))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    speed = pace.Pace()
    for step in range(500):
        chosen = torch.randint(0, len(inputs), (64,))
        optimizer.zero_grad()
        F.mse_loss(model(inputs[chosen]), targets[chosen]).backward()
        optimizer.step()
        speed.step(len(chosen))
        if (step + 1) % between == 0:
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, folder / "last.pt")
    speed.tell()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(pathlib.Path(folder), "--mended" in sys.argv)
