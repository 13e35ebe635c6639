"""A classifier of three classes; with --fault one of them is hardly ever there.

rule: ClassImbalance
within: 40
names: CrossEntropyLoss_input_1
"""

import sys

import torch
from torch import nn

torch.manual_seed(1)
torch.set_num_threads(1)

SHARES = torch.tensor([0.60, 0.38, 0.02] if "--fault" in sys.argv else [0.4, 0.3, 0.3])

centres = 3 * torch.randn(3, 8)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
loss_function = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for _ in range(60):
    labels = torch.multinomial(SHARES, 32, replacement=True)
    loss = loss_function(model(centres[labels] + 0.5 * torch.randn(32, 8)), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
