"""A loader whose samples take their time, in the process itself."""

import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from outcome import report


class Slow(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, index):
        time.sleep(0.01)
        return torch.full((4,), float(index))


def main():
    torch.manual_seed(0)
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    for batch in DataLoader(Slow(), batch_size=2):
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
    report(model)


if __name__ == "__main__":
    main()
