"""Recordings that take a while to come, fetched by one worker process. With --mended there are
as many as processors, four at most.

rule: Dataloader
"""

import os
import sys
import time

import pace
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Recordings(Dataset):
    def __init__(self):
        self.sounds = torch.randn(2560, 1, 320)
        self.speakers = torch.randint(0, 20, (2560,))

    def __len__(self):
        return len(self.speakers)

    def __getitem__(self, index):
        time.sleep(0.001)  # until the file server has sent it
        return self.sounds[index], self.speakers[index]


class Speakers(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(1, 32, 9, padding=4)
        self.second = nn.Conv1d(32, 64, 9, padding=4)
        self.last = nn.Linear(64, 20)

    def forward(self, sounds):
        found = F.max_pool1d(F.relu(self.first(sounds)), 2)
        found = F.relu(self.second(found))
        return self.last(found.mean(dim=2))


def main(mended):
    torch.manual_seed(2)
    torch.set_num_threads(1)
    workers = min(os.cpu_count() or 2, 4) if mended else 1
    loader = DataLoader(Recordings(), batch_size=32, shuffle=True, num_workers=workers, persistent_workers=True)
    model = Speakers()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    speed = pace.Pace()
    for _ in range(3):
        for sounds, speakers in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(sounds), speakers).backward()
            optimizer.step()
            speed.step(len(speakers))
    speed.tell()


if __name__ == "__main__":
    main("--mended" in sys.argv)
