"""Trains one of some small models with batches of a size: train_small_model.py MODEL BATCH SECONDS.

Not a bottleneck with a twin: scripts/batch_gains.py runs it with a small batch and with one 16 times as large.
"""

import pathlib
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import pace  # noqa: E402

ROWS, CLASSES = 4096, 5


def numbers():
    return torch.randn(ROWS, 32)


def tokens():
    return torch.randint(0, 200, (ROWS, 12))


def images():
    return torch.randn(ROWS, 1, 16, 16)


def series():
    return torch.randn(ROWS, 10, 16)


class Recurrent(nn.Module):
    def __init__(self, embedding, cells, hidden):
        super().__init__()
        self.embedding, self.cells, self.answer = embedding, cells, nn.Linear(hidden, CLASSES)

    def forward(self, inputs):
        return self.answer(self.cells(self.embedding(inputs))[0][:, -1])


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
        self.embedding, self.layers = nn.Embedding(200, 64), nn.TransformerEncoder(layer, 2)
        self.answer = nn.Linear(64, CLASSES)

    def forward(self, inputs):
        return self.answer(self.layers(self.embedding(inputs)).mean(dim=1))


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.answer = nn.Linear(32, 64), nn.Linear(64, CLASSES)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(64), nn.Linear(64, 96), nn.GELU(), nn.Linear(96, 64)) for _ in range(5)
        )

    def forward(self, inputs):
        hidden = self.first(inputs)
        for block in self.blocks:
            hidden = hidden + block(hidden)
        return self.answer(hidden)


def perceptron():
    layers = [nn.Linear(32, 128), nn.ReLU()]
    for _ in range(2):
        layers += [nn.Linear(128, 128), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(128, CLASSES))


def deep():
    layers = [nn.Linear(32, 48)]
    for _ in range(16):
        layers += [nn.Tanh(), nn.Linear(48, 48)]
    return nn.Sequential(*layers, nn.Linear(48, CLASSES))


def wide():
    return nn.Sequential(
        nn.Linear(32, 512), nn.GELU(), nn.LayerNorm(512), nn.Linear(512, 512), nn.GELU(), nn.Linear(512, CLASSES)
    )


def convolutional():
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, CLASSES),
    )  # fmt: skip


def bag():
    return nn.Sequential(nn.EmbeddingBag(500, 32), nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, CLASSES))


def bottle():
    return nn.Sequential(
        nn.Linear(32, 100), nn.ELU(), nn.BatchNorm1d(100), nn.Dropout(0.1),
        nn.Linear(100, 20), nn.ELU(), nn.Linear(20, CLASSES),
    )  # fmt: skip


MODELS = {
    "bag": (bag, tokens, torch.optim.SGD),
    "bottle": (bottle, numbers, torch.optim.Adam),
    "convolutional": (convolutional, images, torch.optim.SGD),
    "deep": (deep, numbers, torch.optim.SGD),
    "gru": (lambda: Recurrent(nn.Embedding(200, 48), nn.GRU(48, 64, batch_first=True), 64), tokens, torch.optim.Adam),
    "lstm": (lambda: Recurrent(nn.Identity(), nn.LSTM(16, 32, 2, batch_first=True), 32), series, torch.optim.SGD),
    "perceptron": (perceptron, numbers, torch.optim.Adam),
    "residual": (Residual, numbers, torch.optim.Adam),
    "transformer": (Transformer, tokens, torch.optim.Adam),
    "wide": (wide, numbers, torch.optim.SGD),
}


def main(model, batch, seconds):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    make, inputs_of, optimizer_of = MODELS[model]
    net, inputs, labels = make(), inputs_of(), torch.randint(0, CLASSES, (ROWS,))
    optimizer = optimizer_of(net.parameters(), lr=1e-3)
    speed = pace.Pace()
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        chosen = torch.randint(0, ROWS, (batch,))
        optimizer.zero_grad()
        F.cross_entropy(net(inputs[chosen]), labels[chosen]).backward()
        optimizer.step()
        speed.step(batch)
    speed.tell()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
