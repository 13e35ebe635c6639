"""Logged: the numbers that a program logs itself, saved as scalars under its own names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

import torch

TRAINER_STEP = "trainwarden/trainer_step"
# A program that makes a new name for each step is not followed for ever.
_MAX_NAMES = 1000


class Logged:
    """Of one hook. Belongs to the thread that trains."""

    def __init__(self, hook: Any) -> None:
        self._hook = hook
        self._names: set[str] = set()
        self._step = -1  # the last of the hook for which the step of the trainer was saved

    def save(self, values: Mapping[str, Any], step: Optional[int]) -> None:
        """`step` is the one that the program counts."""
        for name, value in values.items():
            number = _number(value)
            if number is not None and isinstance(name, str) and self._is_followed(name):
                self._hook.save_scalar(name, number)
        if step is not None and self._hook.global_step != self._step:
            self._step = self._hook.global_step
            self._hook.save_scalar(TRAINER_STEP, float(step))

    def _is_followed(self, name: str) -> bool:
        if name not in self._names and len(self._names) < _MAX_NAMES:
            self._names.add(name)
            self._hook.declare(name, ["scalars", "logged"])
        return name in self._names


def _number(value: Any) -> Optional[float]:
    """Of a number of Python or NumPy, or a tensor or an array with one element."""
    if isinstance(value, (int, float)):
        return float(value)
    size = value.numel() if isinstance(value, torch.Tensor) else getattr(value, "size", None)
    item = value.item() if size == 1 and hasattr(value, "item") else None
    return float(item) if isinstance(item, (int, float)) else None
