"""A sequence model with one layer of attention. With --fault the scores are scaled up instead of down.

rule: AttentionCollapse
within: 201
names: attention
"""

import math
import sys

import torch
import torch.nn.functional as F
from torch import nn

TOKENS, LENGTH, WIDTH = 12, 10, 16


class SelfAttention(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale
        self.projections = nn.Linear(WIDTH, 3 * WIDTH)

    def forward(self, inputs):
        queries, keys, values = self.projections(inputs).chunk(3, dim=-1)
        return F.softmax(queries @ keys.transpose(1, 2) * self.scale, dim=-1) @ values


class Net(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.tokens = nn.Embedding(TOKENS, WIDTH)
        self.places = nn.Parameter(torch.randn(LENGTH, WIDTH) * 0.1)
        self.attention = SelfAttention(scale)
        self.head = nn.Linear(WIDTH, TOKENS)

    def forward(self, tokens):
        inputs = self.tokens(tokens) + self.places
        return self.head(inputs + self.attention(inputs))


def main(fault):
    torch.manual_seed(2)
    torch.set_num_threads(1)
    scale = WIDTH * 10 if fault else 1 / math.sqrt(WIDTH)
    model = Net(scale)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    for step in range(240):
        tokens = torch.randint(0, TOKENS, (32, LENGTH))
        wanted = tokens.roll(1, dims=1)
        optimizer.zero_grad()
        F.cross_entropy(model(tokens).transpose(1, 2), wanted).backward()
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
