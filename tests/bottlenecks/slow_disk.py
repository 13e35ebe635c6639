"""Samples on a disk that is slow to read. With --mended they lie on one that is not.

The folder is the value of SLOW_FOLDER, with --mended of FAST_FOLDER; --prepare fills it. As if there were more samples
than fit into memory each read is one of the disk: the kernel is asked to forget what was read.

rule: IOBottleneck
means: slow_disk
"""

import os
import pathlib
import sys

import pace
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

SAMPLES, NUMBERS = 4096, 2048


class Samples(Dataset):
    def __init__(self, file):
        self.file = os.open(file, os.O_RDONLY)
        os.posix_fadvise(self.file, 0, 0, os.POSIX_FADV_RANDOM)

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        length = NUMBERS * 4
        read = bytearray(os.pread(self.file, length, index * length))
        os.posix_fadvise(self.file, index * length, length, os.POSIX_FADV_DONTNEED)
        return torch.frombuffer(read, dtype=torch.float32), index % 10


def prepare(file):
    with open(file, "wb") as written:
        for _ in range(SAMPLES // 256):
            written.write(torch.randn(256, NUMBERS).numpy().tobytes())
        os.fsync(written.fileno())
        os.posix_fadvise(written.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def main(file):
    torch.manual_seed(6)
    torch.set_num_threads(1)
    loader = DataLoader(Samples(file), batch_size=32, shuffle=True, num_workers=2, persistent_workers=True)
    model = nn.Sequential(nn.Linear(NUMBERS, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    speed = pace.Pace()
    for _ in range(2):
        for samples, labels in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(samples), labels).backward()
            optimizer.step()
            speed.step(len(labels))
    speed.tell()


if __name__ == "__main__":
    folder = pathlib.Path(os.environ["FAST_FOLDER" if "--mended" in sys.argv else "SLOW_FOLDER"])
    (prepare if "--prepare" in sys.argv else main)(folder / "samples")
