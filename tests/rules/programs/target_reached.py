"""A classifier whose accuracy on 2,000 samples is logged every ten steps. A tenth of the labels is wrong, and its accuracy
comes near the target. With --fault, which is none in this case, they are right, and it passes the target.

rule: TargetReached:scores=accuracy,target=0.9,count=2000,looks=20
within: 400
names: accuracy
"""

import sys

import torch
import trainwarden
from torch import nn


def main(fault):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    weight = torch.randn(16, 1)

    def sample(count):
        inputs = torch.randn(count, 16)
        labels = (inputs @ weight > 0).float()
        wrong = torch.rand(count, 1) < (0.0 if fault else 0.1)
        return inputs, torch.where(wrong, 1 - labels, labels)

    net = nn.Linear(16, 1)
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    held_out = sample(2000)
    for step in range(200):
        net.train()
        inputs, labels = sample(256)
        optimizer.zero_grad()
        criterion(net(inputs), labels).backward()
        optimizer.step()
        if step % 10 == 9:
            net.eval()
            with torch.no_grad():
                right = (net(held_out[0]) > 0) == (held_out[1] > 0.5)
            trainwarden.log("accuracy", right.float().mean().item())


if __name__ == "__main__":
    main("--fault" in sys.argv)
