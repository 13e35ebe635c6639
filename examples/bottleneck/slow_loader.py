"""Learns pictures from a store on the network that is asked for each of them: most of the time it waits.

    trainwarden run --name slow --rules profiler -- python slow_loader.py
    trainwarden run --name fast --rules profiler -- python slow_loader.py --mended

With --mended the store is asked for a whole batch at once. Nothing here knows of Trainwarden.
"""

import sys
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler


class Store(Dataset):
    """Answers after two milliseconds, whether it is asked for one picture or for a list of them."""

    def __init__(self):
        self.pictures = torch.randn(2048, 512)
        self.labels = torch.randint(0, 10, (2048,))

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        time.sleep(0.002)
        return self.pictures[index], self.labels[index]


def loader_of(store, mended):
    if mended:
        batches = BatchSampler(RandomSampler(store), batch_size=64, drop_last=True)
        return DataLoader(store, sampler=batches, batch_size=None, num_workers=2, persistent_workers=True)
    return DataLoader(store, batch_size=64, shuffle=True, drop_last=True, num_workers=2, persistent_workers=True)


def main(mended):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = loader_of(Store(), mended)
    for epoch in range(6):
        begin = time.perf_counter()
        for pictures, labels in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(pictures), labels).backward()
            optimizer.step()
        print(f"epoch {epoch}: {2048 / (time.perf_counter() - begin):.0f} pictures a second", flush=True)


if __name__ == "__main__":
    main("--mended" in sys.argv)
