"""A trained classifier is trained on; with --fault, two classes have been given each other's labels half of the time.

rule: Confusion:min_diag=0.7,max_off_diag=0.3
within: 60
names: class_[12]
"""

import sys

import torch
from torch import nn

torch.manual_seed(1)
torch.set_num_threads(1)

FAULT = "--fault" in sys.argv

centres = 4 * torch.nn.functional.normalize(torch.randn(4, 8))
model = nn.Linear(8, 4, bias=False)
with torch.no_grad():
    model.weight.copy_(centres)  # what an earlier training has learned
loss_function = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(60):
    classes = torch.randint(0, 4, (128,))
    samples = centres[classes] + 0.3 * torch.randn(128, 8)
    swapped = FAULT & (torch.rand(128) < 0.5) & ((classes == 1) | (classes == 2))
    loss = loss_function(model(samples), torch.where(swapped, 3 - classes, classes))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
