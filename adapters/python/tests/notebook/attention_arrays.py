"""Arrays of attention as notebooks collect them: tensors by name and step."""

from __future__ import annotations

from typing import Any

import numpy as np

BATCH, HEADS, LENGTH, SIZE = 2, 3, 6, 4
SCORES = [f"bertencoder0_transformer{layer}_multiheadattentioncell0_output_1" for layer in range(2)]
KEYS, QUERIES = (
    [f"bertencoder0_transformer{layer}_multiheadattentioncell0_{part}_output_0" for layer in range(2)]
    for part in ("key", "query")
)
STEPS = [0, 1, 5]
TOKENS = np.array([[f"t{item}.{position}" for position in range(LENGTH)] for item in range(BATCH)])

Array = np.ndarray[Any, np.dtype[Any]]
ByName = dict[str, dict[int, Array]]


def vectors(names: list[str], *, heads: int = HEADS, seed: int = 0) -> ByName:
    random = np.random.default_rng(seed)
    shape = (BATCH, heads, LENGTH, SIZE)
    return {name: {step: random.normal(size=shape).astype(np.float32) for step in STEPS} for name in names}


def scores() -> ByName:
    random = np.random.default_rng(7)
    made: ByName = {}
    for name in SCORES:
        made[name] = {}
        for step in STEPS:
            powers = np.exp(random.normal(size=(BATCH, HEADS, LENGTH, LENGTH)))
            made[name][step] = (powers / powers.sum(axis=-1, keepdims=True)).astype(np.float32)
    return made
