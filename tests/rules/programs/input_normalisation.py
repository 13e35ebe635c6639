"""A classifier is trained and evaluated in turn; with --fault nobody normalises what it is evaluated on.

rule: InputNormalisation
within: 60
names: _input_0
"""

import sys

import torch
from torch import nn

torch.manual_seed(1)
torch.set_num_threads(1)

FAULT = "--fault" in sys.argv

centres = torch.randn(4, 16) + 5


def normalise(samples: torch.Tensor) -> torch.Tensor:
    return (samples - 5) / 1.4


model = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 4))
loss_function = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    model.train()
    for _ in range(15):
        labels = torch.randint(0, 4, (32,))
        loss = loss_function(model(normalise(centres[labels] + torch.randn(32, 16))), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        for _ in range(4):
            labels = torch.randint(0, 4, (32,))
            samples = centres[labels] + torch.randn(32, 16)
            loss_function(model(samples if FAULT else normalise(samples)), labels)
