"""A convolution learns from images between 0 and 1, normalised as usual; with --fault nobody normalises them.

rule: CheckInputImages
within: 30
names: conv.*_input_0|0_input_0
"""

import sys

import torch
from torch import nn

torch.manual_seed(1)
torch.set_num_threads(1)

FAULT = "--fault" in sys.argv


def images_of(labels: torch.Tensor) -> torch.Tensor:
    """Dark images with a bright bar in the row of the label."""
    images = 0.2 * torch.rand(len(labels), 1, 8, 8)
    images[torch.arange(len(labels)), 0, labels] += 0.8
    images[:, :, ::2] += 0.15
    return images.clamp(0, 1) if FAULT else (images.clamp(0, 1) - 0.275) / 0.27


model = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(256, 8))
loss_function = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(50):
    labels = torch.randint(0, 8, (32,))
    loss = loss_function(model(images_of(labels)), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
