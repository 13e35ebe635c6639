"""Ten shapes of training programs, of which watching may cost one more than another. None knows of Trainwarden.

    shapes.py NAME STEPS   trains for so many steps after the start and prints JSON: CPU seconds of the process until the
                           start is over, of a step after it (of all threads), and the peak of its memory in MiB
"""

from __future__ import annotations

import json
import resource
import sys
import time
from typing import Callable

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

Step = Callable[[], None]


def _step(model: nn.Module, batch: Callable[[], tuple[torch.Tensor, torch.Tensor]], loss: Callable[..., torch.Tensor],
          parts: int = 1) -> Step:  # fmt: skip
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)

    def step() -> None:
        optimizer.zero_grad()
        for _ in range(parts):
            inputs, targets = batch()
            (loss(model(inputs), targets) / parts).backward()
        optimizer.step()

    return step


class Follower(nn.Module):
    """Cells that are called for each place of a series."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second, self.read = nn.LSTMCell(1, width), nn.LSTMCell(width, width), nn.Linear(width, 1)

    def forward(self, series: torch.Tensor) -> torch.Tensor:
        width = self.first.hidden_size
        a = b = (torch.zeros(len(series), width),) * 2
        answers = []
        for value in series.split(1, dim=1):
            a = self.first(value, a)
            b = self.second(a[0], b)
            answers.append(self.read(b[0]))
        return torch.cat(answers, 1)


def cells() -> Step:
    return _step(Follower(32), lambda: (torch.randn(16, 100), torch.randn(16, 100)), nn.MSELoss())


def lbfgs() -> Step:
    model, series = Follower(24), torch.sin(torch.arange(120.0) / 9 + torch.rand(16, 1))
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=5)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(series[:, :-1]), series[:, 1:])
        loss.backward()
        return loss

    return lambda: optimizer.step(closure) and None


class Gpt(nn.Module):
    def __init__(self, width: int = 128, places: int = 64) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(96, width), nn.Parameter(torch.zeros(places, width))
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, batch_first=True)
        self.layers, self.head = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False), nn.Linear(width, 96)
        self.register_buffer("mask", torch.full((places, places), float("-inf")).triu(1))

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        return self.head(self.layers(self.words(text) + self.places, mask=self.mask)).transpose(1, 2)


def _text() -> tuple[torch.Tensor, torch.Tensor]:
    text = torch.randint(0, 96, (8, 65))
    return text[:, :-1], text[:, 1:]


def gpt() -> Step:
    return _step(Gpt(), _text, nn.functional.cross_entropy)


def _pictures(count: int = 32) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.rand(count, 1, 28, 28), torch.randint(0, 10, (count,))


def _convolutions() -> nn.Module:
    return nn.Sequential(nn.Conv2d(1, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3), nn.ReLU(),
                         nn.MaxPool2d(2), nn.Dropout(0.2), nn.Flatten(), nn.Linear(32 * 144, 10))  # fmt: skip


def cnn() -> Step:
    return _step(_convolutions(), _pictures, nn.CrossEntropyLoss())


def gan() -> Step:
    maker = nn.Sequential(nn.Linear(16, 128), nn.ReLU(), nn.Linear(128, 256), nn.Tanh())
    judge = nn.Sequential(nn.Linear(256, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1))
    optimizers = [torch.optim.Adam(each.parameters(), 2e-4) for each in (maker, judge)]
    loss, yes, no = nn.BCEWithLogitsLoss(), torch.ones(64, 1), torch.zeros(64, 1)

    def step() -> None:
        made = maker(torch.randn(64, 16))
        optimizers[1].zero_grad()
        (loss(judge(torch.randn(64, 256)), yes) + loss(judge(made.detach()), no)).backward()
        optimizers[1].step()
        optimizers[0].zero_grad()
        loss(judge(made), yes).backward()
        optimizers[0].step()

    return step


def loader() -> Step:
    """As trainers of libraries go: a data loader, a schedule, clipping."""
    model, data = _convolutions(), torch.utils.data.TensorDataset(*_pictures(512))
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 100))
    batches = iter(())

    def step() -> None:
        nonlocal batches
        batch = next(batches, None)
        if batch is None:
            batches = iter(torch.utils.data.DataLoader(data, batch_size=32, shuffle=True))
            batch = next(batches)
        loss = nn.functional.cross_entropy(model(batch[0]), batch[1])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()

    return step


def accumulation() -> Step:
    return _step(_convolutions(), lambda: _pictures(8), nn.CrossEntropyLoss(), parts=8)


class Checkpointed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(256, 256), nn.GELU()) for _ in range(8))
        self.head = nn.Linear(256, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return self.head(x)


def checkpointing() -> Step:
    batch = torch.randn(128, 256, requires_grad=True), torch.randint(0, 10, (128,))
    return _step(Checkpointed(), lambda: batch, nn.CrossEntropyLoss())


def embeddings() -> Step:
    model = nn.Sequential(nn.EmbeddingBag(200_000, 64), nn.Linear(64, 2))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    def step() -> None:
        optimizer.zero_grad()
        words, labels = torch.randint(0, 200_000, (64, 40)), torch.randint(0, 2, (64,))
        nn.functional.cross_entropy(model(words), labels).backward()
        optimizer.step()

    return step


def many_modules() -> Step:
    layers = [layer for _ in range(400) for layer in (nn.Linear(8, 8), nn.Tanh())]
    return _step(nn.Sequential(*layers), lambda: (torch.randn(4, 8), torch.randn(4, 8)), nn.MSELoss())


SHAPES: dict[str, Callable[[], Step]] = {
    "cells": cells, "lbfgs": lbfgs, "gpt": gpt, "cnn": cnn, "gan": gan, "loader": loader, "accumulation": accumulation,
    "checkpointing": checkpointing, "embeddings": embeddings, "many_modules": many_modules,
}  # fmt: skip


def main() -> None:
    start_steps, steps = int(sys.argv[2]), int(sys.argv[3])
    torch.manual_seed(0)
    torch.set_num_threads(1)
    step = SHAPES[sys.argv[1]]()
    for _ in range(start_steps):
        step()
    started = time.process_time()
    for _ in range(steps):
        step()
    each = (time.process_time() - started) / steps
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"start_seconds": started, "step_seconds": each, "peak_mib": peak}))


if __name__ == "__main__":
    main()
