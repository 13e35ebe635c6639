"""A classifier learns; with --fault a learning rate far too high kills all its ReLUs in the first steps.

rule: DegeneratePredictions
within: 80
names: CrossEntropyLoss_input_0
"""

import sys

import torch
from torch import nn

torch.manual_seed(1)
torch.set_num_threads(1)

FAULT = "--fault" in sys.argv

centres = 2 * torch.randn(4, 16)
model = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 4))
loss_function = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(100):
    for group in optimizer.param_groups:
        group["lr"] = 1000.0 if FAULT and step == 5 else 0.05
    labels = torch.randint(0, 4, (32,))
    loss = loss_function(model(centres[labels] + torch.randn(32, 16)), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
