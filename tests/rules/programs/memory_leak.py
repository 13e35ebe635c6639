"""A regression that adds up its losses for a report. With --fault it adds the tensors, and so keeps every graph alive.

rule: MemoryLeak:growth_mib=40,growth_percent=5,warm_up_steps=20
within: 100
names: The memory of the training process has grown
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn


def main(fault):
    torch.manual_seed(7)
    torch.set_num_threads(1)
    truth = torch.randn(16, 1)
    model = nn.Sequential(nn.Linear(16, 512), nn.Tanh(), nn.Linear(512, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    total = 0.0
    for step in range(120):
        inputs = torch.randn(512, 16)
        optimizer.zero_grad()
        loss = F.mse_loss(model(inputs), inputs @ truth)
        loss.backward(retain_graph=fault)
        optimizer.step()
        total += loss if fault else loss.item()
    print(f"mean loss {float(total) / 120:.3f}")


if __name__ == "__main__":
    main("--fault" in sys.argv)
