"""A regression. With --fault its weights are bfloat16 and the learning rate is small, so that every update is smaller
than the spacing of the numbers: nothing is learned.

rule: NoOpUpdate
within: 60
names: body.weight|body.bias|head.weight|head.bias
"""

import sys

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, dtype):
        super().__init__()
        self.body = nn.Linear(8, 32).to(dtype)
        self.head = nn.Linear(32, 1).to(dtype)

    def forward(self, inputs):
        return self.head(torch.tanh(self.body(inputs)))


def main(fault):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    dtype = torch.bfloat16 if fault else torch.float32
    net = Net(dtype)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(torch.where(parameter >= 0, 0.2, -0.2).to(dtype))
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-6 if fault else 1e-2)
    for step in range(80):
        inputs = torch.randn(64, 8).to(dtype)
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(inputs).float(), inputs.float().sum(dim=1, keepdim=True))
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
