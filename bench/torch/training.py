"""A training that knows nothing of Trainwarden, run a block of steps at a time as its parent asks for.

    training.py cnn          reads a number of steps from each line of standard input, trains for so many, and prints
                             the nanoseconds that they took
    training.py cnn switched the same for lines of "watched" or "alone" and a number; alone is with torch's own functions
                             in the place of ours. Prints nanoseconds: they took, of CPU time of this thread, of this
                             process, and inside the hook. With "compiled" torch.compile
                             compiles the model

Its parent, torch_bench.py, starts one such process for each way of watching and lets them take turns.
"""

from __future__ import annotations

import sys
import time
from typing import Callable

import torch
from torch import nn


def cnn() -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    """Four convolutions and a linear layer, 96 thousand parameters, on a batch of 64 pictures of 28 by 28."""
    model = nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(),
        nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(),
        nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * 7 * 7, 10),
    )  # fmt: skip
    return model, torch.rand(64, 1, 28, 28), torch.randint(0, 10, (64,))


class TinyTransformer(nn.Module):
    """A causal language model of two layers and about 430 thousand parameters."""

    def __init__(self, words: int = 96, width: int = 128, context: int = 64) -> None:
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Parameter(torch.zeros(context, width))
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, words)
        self.register_buffer("mask", torch.full((context, context), float("-inf")).triu(1))

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        hidden = self.layers(self.words(text) + self.places, mask=self.mask)
        return self.head(hidden).transpose(1, 2)


def transformer() -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    text = torch.randint(0, 96, (16, 64))
    return TinyTransformer(), text, text.roll(-1, 1)


def small_steps() -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    """As many layers as the CNN and next to no work, so that microseconds a step can be seen."""
    model = nn.Sequential(*[layer for _ in range(5) for layer in (nn.Linear(4, 4), nn.ReLU())])
    return model, torch.rand(1, 4), torch.zeros(1, dtype=torch.long)


def mlp(width: int, batch: int) -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    model = nn.Sequential(
        nn.Linear(64, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10)
    )  # fmt: skip
    return model, torch.rand(batch, 64), torch.randint(0, 10, (batch,))


PROGRAMS: dict[str, Callable[[], tuple[nn.Module, torch.Tensor, torch.Tensor]]] = {
    "cnn": cnn,
    "transformer": transformer,
    "small_steps": small_steps,
    "mlp_tiny": lambda: mlp(64, 16),
    "mlp_small": lambda: mlp(256, 96),
    "mlp_large": lambda: mlp(512, 320),
    "mlp_3ms": lambda: mlp(256, 272),
    "mlp_25ms": lambda: mlp(512, 900),
}


def main() -> None:
    torch.manual_seed(1)
    model, data, target = PROGRAMS[sys.argv[1]]()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    if "compiled" in sys.argv[2:]:
        model.compile()
    watch_with_smdebug(model, criterion)

    def train(steps: int) -> None:
        for _ in range(steps):
            optimizer.zero_grad()
            criterion(model(data), target).backward()
            optimizer.step()

    if "switched" in sys.argv[2:]:
        train_switched(train, type(optimizer))
        return
    for line in sys.stdin:
        begin = time.perf_counter_ns()
        train(int(line))
        print(time.perf_counter_ns() - begin, flush=True)


def train_switched(train: Callable[[int], None], optimizer_class: type) -> None:
    from switching import CLOCKS, Switch

    switch = Switch(optimizer_class)
    for line in sys.stdin:
        word, steps = line.split()
        switch.turn(on=word == "watched")
        train(1)  # Python looks the functions up anew
        begins = [clock() for clock in CLOCKS]
        train(int(steps))
        print(*(clock() - begin for clock, begin in zip(CLOCKS, begins)), flush=True)


def watch_with_smdebug(model: nn.Module, criterion: nn.Module) -> None:
    """The rival needs two lines in the program; ours does not. Arguments: training.py PROGRAM smdebug FOLDER FORM.

    FORM: "statistics" or "parts" of weights, biases, gradients and losses, "all" tensors, or "nothing".
    """
    if len(sys.argv) < 5 or sys.argv[2] != "smdebug":
        return
    import smdebug.pytorch as smd

    reductions = smd.ReductionConfig(reductions=["min", "max", "mean", "std"], norms=["l1", "l2"])
    parts = ["weights", "biases", "gradients", "losses"]
    hook = smd.Hook(
        out_dir=sys.argv[3],
        save_config=smd.SaveConfig(save_interval=1, end_step=0 if sys.argv[4] == "nothing" else None),
        reduction_config=reductions if sys.argv[4] == "statistics" else None,
        include_collections=parts,
        save_all=sys.argv[4] == "all",
    )
    hook.register_module(model)
    hook.register_loss(criterion)


if __name__ == "__main__":
    main()
