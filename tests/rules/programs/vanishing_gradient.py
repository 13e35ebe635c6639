"""A deep network. With --fault its activations are sigmoids and its weights begin small, so that next to nothing of the
gradient reaches the first layers.

rule: VanishingGradient
within: 2
names: gradient/0\\.weight|gradient/0\\.bias
"""

import sys

import torch
from torch import nn


def main(fault):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    layers = [nn.Linear(8, 32)]
    for _ in range(10):
        layers += [nn.Sigmoid() if fault else nn.ReLU(), nn.Linear(32, 32)]
    net = nn.Sequential(*layers, nn.Linear(32, 1))
    for module in net:
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=0.05) if fault else nn.init.kaiming_normal_(module.weight)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for step in range(60):
        inputs = torch.randn(64, 8)
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(inputs), inputs.sum(dim=1, keepdim=True))
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
