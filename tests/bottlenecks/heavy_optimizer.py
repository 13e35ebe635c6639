"""Adam goes over a large table of embeddings of which each batch uses a few rows. With --mended only over those.

rule: OptimizerHeavy
"""

import sys

import pace
import torch
import torch.nn.functional as F
from torch import nn


class Recommender(nn.Module):
    def __init__(self, sparse):
        super().__init__()
        self.items = nn.Embedding(60_000, 32, sparse=sparse)
        self.rest = nn.Sequential(nn.Linear(32, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, chosen):
        return self.rest(self.items(chosen).mean(dim=1)).squeeze(1)


def main(mended):
    torch.manual_seed(15)
    torch.set_num_threads(1)
    model = Recommender(sparse=mended)
    if mended:
        optimizers = [torch.optim.SparseAdam(list(model.items.parameters())), torch.optim.Adam(model.rest.parameters())]
    else:
        optimizers = [torch.optim.Adam(model.parameters())]
    baskets = torch.randint(0, 60_000, (8192, 12))
    worth = torch.rand(8192)
    speed = pace.Pace()
    for _ in range(300):
        chosen = torch.randint(0, len(baskets), (256,))
        for optimizer in optimizers:
            optimizer.zero_grad()
        F.mse_loss(model(baskets[chosen]), worth[chosen]).backward()
        for optimizer in optimizers:
            optimizer.step()
        speed.step(len(chosen))
    speed.tell()


if __name__ == "__main__":
    main("--mended" in sys.argv)
