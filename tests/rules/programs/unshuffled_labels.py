"""A classifier reads its training set in order; with --fault the set is sorted by class and the loader does not shuffle.

rule: UnshuffledLabels
within: 60
names: CrossEntropyLoss_input_1
"""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
torch.set_num_threads(1)

FAULT = "--fault" in sys.argv

centres = 2 * torch.randn(4, 8)
labels = torch.arange(4).repeat_interleave(240)
samples = centres[labels] + torch.randn(960, 8)
loader = DataLoader(TensorDataset(samples, labels), batch_size=16, shuffle=not FAULT)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
loss_function = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(2):
    for batch, batch_labels in loader:
        loss = loss_function(model(batch), batch_labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
