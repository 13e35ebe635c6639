"""A small network learns to tell clothes apart (Fashion-MNIST). This program knows nothing of Trainwarden.

A learning rate of 10 ruins it within a few steps: the hidden units die, and nothing flows back through them.
"""

import argparse
import gzip
import os

import numpy
import torch
from torch import nn

FASHION_MNIST = "/usr/share/datasets/fashion-mnist"  # where Debian's dataset-fashion-mnist puts it
MAGIC_AND_SIZES = {"images": 16, "labels": 8}  # bytes before the data


def read_idx(folder, kind):
    path = os.path.join(folder, f"train-{kind}-idx{3 if kind == 'images' else 1}-ubyte.gz")
    with gzip.open(path) as file:
        return numpy.frombuffer(file.read(), numpy.uint8, offset=MAGIC_AND_SIZES[kind])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--data", default=FASHION_MNIST)
    options = parser.parse_args()

    torch.manual_seed(1)
    images = torch.from_numpy(read_idx(options.data, "images").reshape(-1, 1, 28, 28) / numpy.float32(255))
    labels = torch.from_numpy(read_idx(options.data, "labels").astype(numpy.int64))
    net = nn.Sequential(
        nn.Conv2d(1, 8, kernel_size=5, stride=2),
        nn.ReLU(),
        nn.Conv2d(8, 16, kernel_size=5, stride=2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(16 * 4 * 4, 10),
    )
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=options.lr)

    for epoch in range(options.epochs):
        for batch in torch.randperm(len(labels)).split(128):
            optimizer.zero_grad()
            loss = criterion(net(images[batch]), labels[batch])
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch + 1}  loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
