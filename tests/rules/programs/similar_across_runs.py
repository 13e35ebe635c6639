"""A regression whose learning rate is the argument. With --fault a default wins, whatever the argument says.

The rule compares with a run of before: this program, run with --rate 0.001 into the folder that stands for {before}.

rule: SimilarAcrossRuns:other_trials={before},collection_names=weights
before: --rate 0.001
within: 11
names: weight
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn


def main(rate):
    torch.manual_seed(2)
    torch.set_num_threads(1)
    truth = torch.randn(8, 1)
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    for step in range(60):
        inputs = torch.randn(64, 8)
        optimizer.zero_grad()
        F.mse_loss(model(inputs), inputs @ truth).backward()
        optimizer.step()


if __name__ == "__main__":
    chosen = float(sys.argv[sys.argv.index("--rate") + 1]) if "--rate" in sys.argv else 0.01
    main(0.001 if "--fault" in sys.argv else chosen)
