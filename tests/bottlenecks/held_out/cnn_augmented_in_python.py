"""A CNN whose pictures are changed at random one by one, in Python. With --mended a whole batch is, at once.

rule: InputBound or Dataloader
"""

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pace
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIZE = 24


class Pictures(Dataset):
    def __init__(self, changed):
        self.pixels = torch.rand(2048, SIZE, SIZE)
        self.labels = torch.randint(0, 8, (2048,))
        self.changed = changed

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        picture = self.pixels[index]
        return (augmented(picture) if self.changed else picture).unsqueeze(0), self.labels[index]


def augmented(picture):
    right, down, light = random.randrange(-2, 3), random.randrange(-2, 3), random.uniform(0.8, 1.2)
    rows = picture.tolist()
    moved = [
        [min(1.0, light * rows[(row + down) % SIZE][(column + right) % SIZE]) for column in range(SIZE)]
        for row in range(SIZE)
    ]
    return torch.tensor(moved)


def augmented_together(pictures):
    moved = torch.roll(pictures, (random.randrange(-2, 3), random.randrange(-2, 3)), dims=(2, 3))
    return (moved * (0.8 + 0.4 * torch.rand(len(pictures), 1, 1, 1))).clamp(max=1.0)


def main(mended):
    random.seed(22)
    torch.manual_seed(22)
    torch.set_num_threads(1)
    loader = DataLoader(Pictures(changed=not mended), batch_size=64, shuffle=True)
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(),
        nn.AdaptiveAvgPool2d(3), nn.Flatten(), nn.Linear(144, 8),
    )  # fmt: skip
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    speed = pace.Pace()
    for _ in range(8):
        for pictures, labels in loader:
            if mended:
                pictures = augmented_together(pictures)
            optimizer.zero_grad()
            F.cross_entropy(model(pictures), labels).backward()
            optimizer.step()
            speed.step(len(labels))
    speed.tell()


if __name__ == "__main__":
    main("--mended" in sys.argv)
