"""A classifier whose scores go through a softmax before CrossEntropyLoss, which has one itself, with --fault.

rule: SoftmaxLossMismatch
within: 10
names: CrossEntropyLoss_input_0
"""

import sys

import torch
from torch import nn

torch.manual_seed(1)
torch.set_num_threads(1)

FAULT = "--fault" in sys.argv


class Classifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(16, 32)
        self.scores = nn.Linear(32, 4)

    def forward(self, samples: torch.Tensor) -> torch.Tensor:
        scores = self.scores(torch.relu(self.hidden(samples)))
        return torch.softmax(scores, dim=1) if FAULT else scores


centres = 2 * torch.randn(4, 16)
model = Classifier()
loss_function = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(60):
    labels = torch.randint(0, 4, (32,))
    loss = loss_function(model(centres[labels] + torch.randn(32, 16)), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
