"""Images from a store on the network, which is asked for each of them. With --mended it is asked for a batch at once.

rule: InputBound
"""

import sys
import time

import pace
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler


class Store(Dataset):
    """Answers a request for one image, or for a list of them, after the same time."""

    def __init__(self):
        self.images = torch.randn(4096, 512)
        self.labels = torch.randint(0, 10, (4096,))

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        time.sleep(0.0015)  # the way there and back
        return self.images[index], self.labels[index]


def loader_of(store, mended):
    if mended:
        batches = BatchSampler(RandomSampler(store), batch_size=64, drop_last=True)
        return DataLoader(store, sampler=batches, batch_size=None, num_workers=2, persistent_workers=True)
    return DataLoader(store, batch_size=64, shuffle=True, drop_last=True, num_workers=2, persistent_workers=True)


def main(mended):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    loader = loader_of(Store(), mended)
    model = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    speed = pace.Pace()
    for _ in range(3):
        for images, labels in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(images), labels).backward()
            optimizer.step()
            speed.step(len(labels))
    speed.tell()


if __name__ == "__main__":
    main("--mended" in sys.argv)
