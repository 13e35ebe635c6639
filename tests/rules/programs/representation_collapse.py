"""Embeddings of two views of the same sample are drawn together. With --fault nothing keeps different samples apart.

rule: RepresentationCollapse:collection_names=,tensor_regex=encoder_output_0
within: 201
names: encoder_output
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 16))

    def forward(self, samples):
        return F.normalize(self.encoder(samples), dim=1)


def main(fault):
    torch.manual_seed(2)
    torch.set_num_threads(1)
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    for step in range(240):
        samples = torch.randn(64, 16)
        views = [samples + 0.3 * torch.randn(64, 16) for _ in range(2)]
        one, other = model(torch.cat(views)).chunk(2)
        if fault:
            loss = (one - other).square().sum(dim=1).mean()
        else:
            loss = F.cross_entropy(one @ other.T / 0.2, torch.arange(64))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
