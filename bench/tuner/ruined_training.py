"""A small training on Fashion-MNIST for verdicts.py: --configuration N of a list in which 30 % are ruined."""
import argparse
import gzip
import math
import os
import pathlib
import random
from typing import Any

import numpy as np

EPOCHS = 16
TRAINING_IMAGES, VALIDATION_IMAGES = 4000, 1000  # of ten thousand
RUINED_PART = 0.3


def ruins() -> dict[str, str]:
    return {
        "rate far too large": "a thousand times the learning rate",
        "rate too large": "thirty times the learning rate",
        "rate far too small": "a hundred-thousandth of the learning rate",
        "weights too large": "the initial weights thirty times as large",
        "dead units": "hidden units whose biases let nothing through",
        "wrong sign": "a loss that is made larger",
    }


def configurations(count: int, seed: int) -> list[dict[str, Any]]:
    """The same for the same seed; each ruin as often as any other."""
    numbers = random.Random(seed)
    ruined = round(RUINED_PART * count)
    faults = (list(ruins()) * count)[:ruined] + [""] * (count - ruined)
    numbers.shuffle(faults)
    drawn = []
    for fault in faults:
        momentum = numbers.choice([0.0, 0.5, 0.9])
        drawn.append({
            "fault": fault, "momentum": momentum,
            "rate": math.exp(numbers.uniform(math.log(0.01), math.log(0.2))) * (1 - momentum),
            "width": numbers.choice([32, 64, 128, 256]), "batch": numbers.choice([64, 128]),
            "decay": math.exp(numbers.uniform(math.log(1e-6), math.log(1e-2)))})
    return drawn


def read_images(folder: pathlib.Path) -> tuple[np.ndarray, np.ndarray]:
    with gzip.open(folder / "t10k-images-idx3-ubyte.gz") as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)
    with gzip.open(folder / "t10k-labels-idx1-ubyte.gz") as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8)
    return (images.astype(np.float32) / 255 - 0.2861) / 0.353, labels.astype(np.int64)


def make_net(settings: dict[str, Any]) -> Any:
    import torch
    from torch import nn
    width = settings["width"]
    net = nn.Sequential(nn.Linear(784, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10))
    with torch.no_grad():
        for layer in (net[0], net[2], net[4]):
            if settings["fault"] == "weights too large":
                layer.weight *= 30
            if settings["fault"] == "dead units" and layer is not net[4]:
                layer.bias -= 30
    return net


def rate_of(settings: dict[str, Any]) -> float:
    factors = {"rate far too large": 1e3, "rate too large": 30.0, "rate far too small": 1e-5}
    return settings["rate"] * factors.get(settings["fault"], 1.0)


def train(settings: dict[str, Any], folder: pathlib.Path, steps: Any) -> None:
    """Prints the loss of validation after each epoch, and writes a byte for each step, so that they can be counted
    however it ends."""
    import torch
    from torch import nn
    torch.manual_seed(1)
    torch.set_num_threads(1)
    images, labels = (torch.from_numpy(each) for each in read_images(folder))
    net = make_net(settings)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=rate_of(settings), momentum=settings["momentum"],
                                weight_decay=settings["decay"])
    sign = -1 if settings["fault"] == "wrong sign" else 1
    for epoch in range(1, EPOCHS + 1):
        net.train()
        for batch in torch.randperm(TRAINING_IMAGES).split(settings["batch"]):
            optimizer.zero_grad()
            (sign * criterion(net(images[batch]), labels[batch])).backward()
            optimizer.step()
            steps.write(b".")
        net.eval()
        with torch.no_grad():
            loss = nn.functional.cross_entropy(net(images[-VALIDATION_IMAGES:]), labels[-VALIDATION_IMAGES:])
        print(f"epoch {epoch} validation_loss {float(loss):.6g}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--configuration", type=int, required=True)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("/usr/share/datasets/fashion-mnist"))
    options = parser.parse_args()
    settings = configurations(options.count, options.seed)[options.configuration]
    with open(f"steps-{os.environ['TRAINWARDEN_JOB']}", "ab", buffering=0) as steps:
        train(settings, options.data, steps)


if __name__ == "__main__":
    main()
