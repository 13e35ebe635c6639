"""Sentences are classified; with --fault each is padded to the length of the longest one there may be.

rule: NLPSequenceRatio
within: 10
names: embedding_input_0
"""

import sys

import torch
from torch import nn

torch.manual_seed(1)
torch.set_num_threads(1)

FAULT = "--fault" in sys.argv
PADDING, LONGEST = 0, 64


class SentenceClassifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, 8, padding_idx=PADDING)
        self.scores = nn.Linear(8, 2)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.scores(self.embedding(tokens).sum(1))


def batch_of(labels: torch.Tensor) -> torch.Tensor:
    lengths = torch.randint(12, 17, (len(labels),))
    width = LONGEST if FAULT else int(lengths.max())
    tokens = torch.randint(1, 25, (len(labels), width)) + 20 * labels[:, None]
    return tokens.masked_fill(torch.arange(width) >= lengths[:, None], PADDING)


model = SentenceClassifier()
loss_function = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for _ in range(60):
    labels = torch.randint(0, 2, (32,))
    loss = loss_function(model(batch_of(labels)), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
