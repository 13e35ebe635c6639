"""A run with attention: queries and keys of two layers, captured weights of the first, tokens of each step and item."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import trainwarden

BATCH, HEADS, LENGTH, SIZE = 2, 3, 6, 4
LAYER = "encoder.layer.{}.attention.self"

Array = np.ndarray[Any, np.dtype[Any]]


def tokens_at(step: int) -> Array:
    return np.array([[f"s{step}.i{item}.{position}" for position in range(LENGTH)] for item in range(BATCH)])


def vectors_at(part: str, layer: int, step: int) -> Array:
    """[batch, positions, heads * size], as a linear layer gives them."""
    random = np.random.default_rng([("query", "key").index(part), layer, step])
    return random.normal(size=(BATCH, LENGTH, HEADS * SIZE)).astype(np.float32)


def by_head(vectors: Array) -> Array:
    """[batch, heads, positions, size]."""
    return vectors.reshape(BATCH, LENGTH, HEADS, SIZE).transpose(0, 2, 1, 3)


def weights_at(layer: int, step: int) -> Array:
    query, key = (by_head(vectors_at(part, layer, step)).astype(np.float64) for part in ("query", "key"))
    powers = np.exp(query @ key.transpose(0, 1, 3, 2) / np.sqrt(SIZE))
    return (powers / powers.sum(axis=-1, keepdims=True)).astype(np.float32)


class Writer:
    """Global steps are all of mode eval."""

    def __init__(self, folder: Path):
        labels = {"num_attention_heads": str(HEADS)}
        everything = trainwarden.Collection("everything", include=["."], save=1)
        self.hook = trainwarden.Hook(folder, collections=[everything], save=1, labels=labels)
        self.hook.set_mode("eval")
        self._step = 0

    def step(self) -> None:
        self.hook.save_tensor("input_tokens", tokens_at(self._step))
        for layer in range(2):
            for part in ("query", "key"):
                name = f"{LAYER.format(layer)}.{part}_output_0"
                self.hook.save_tensor(name, vectors_at(part, layer, self._step))
        self.hook.save_tensor(f"{LAYER.format(0)}_output_1", weights_at(0, self._step))
        self.hook.step()
        self.hook.flush()
        self._step += 1

    def close(self) -> None:
        self.hook.close()


def write_run(folder: Path, steps: int = 3) -> trainwarden.Trial:
    writer = Writer(folder)
    for _ in range(steps):
        writer.step()
    writer.close()
    return trainwarden.open(folder)
