"""Samples are drawn at random by two workers of a data loader; with --fault both draw with NumPy's seed of the parent.

rule: DuplicateBatch
within: 20
names: _input_0
"""

import sys

import numpy
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(1)
torch.set_num_threads(1)
numpy.random.seed(1)

FAULT = "--fault" in sys.argv


class Noise(Dataset):
    """Signals of one of two frequencies, with noise."""

    def __len__(self) -> int:
        return 480

    def __getitem__(self, index: int) -> "tuple[torch.Tensor, int]":
        label = numpy.random.randint(2)
        signal = numpy.sin((1 + label) * numpy.arange(16)) + 0.3 * numpy.random.randn(16)
        return torch.from_numpy(signal).float(), int(label)


def seed_worker(worker: int) -> None:
    numpy.random.seed(1 if FAULT else torch.initial_seed() % 2**32)


model = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 2))
loss_function = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for samples, labels in DataLoader(Noise(), batch_size=8, num_workers=2, worker_init_fn=seed_worker):
    loss = loss_function(model(samples), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
