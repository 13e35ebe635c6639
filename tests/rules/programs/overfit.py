"""A regression that is evaluated every ten steps. With --fault it trains a large network on 16 noisy samples, without
end.

rule: Overfit:patience=2
within: 300
names: validation loss
"""

import sys

import torch
from torch import nn


def main(fault):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    weight = torch.randn(16, 1)

    def sample(count):
        inputs = torch.randn(count, 16)
        return inputs, inputs @ weight + (0.5 if fault else 0.05) * torch.randn(count, 1)

    net = nn.Sequential(nn.Linear(16, 128), nn.Tanh(), nn.Linear(128, 1)) if fault else nn.Linear(16, 1)
    criterion = nn.MSELoss()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    few = sample(16)
    held_out = sample(2048)
    for step in range(200):
        net.train()
        inputs, targets = few if fault else sample(2048)
        optimizer.zero_grad()
        criterion(net(inputs), targets).backward()
        optimizer.step()
        if step % 20 == 19:
            net.eval()
            with torch.no_grad():
                criterion(net(held_out[0]), held_out[1])


if __name__ == "__main__":
    main("--fault" in sys.argv)
