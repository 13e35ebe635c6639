"""Logged: the numbers that a program logs itself, saved as scalars under its own names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

import numpy as np

from .contents import is_plain_tensor

TRAINER_STEP = "trainwarden/trainer_step"
# A program that makes a new name for each step is not followed for ever.
_MAX_NAMES = 1000


class Logged:
    """Of one hook. Belongs to the thread that trains.

    Trainers log what belongs to a step when that has ended, and perhaps evaluate before the next one: numbers wait for
    the end of the next step of the same mode, so that there is no step more for them.
    """

    def __init__(self, hook: Any) -> None:
        self._hook = hook
        self._names: set[str] = set()
        self._held: dict[str, dict[str, float]] = {}  # by the mode in which they were logged; of a name the last one

    def hold(self, values: Mapping[str, Any], step: Optional[int], mode: str) -> None:
        """`step` is the one that the program counts."""
        held = self._held.setdefault(mode, {})
        for name, value in values.items():
            number = number_of(value)
            if number is not None and isinstance(name, str) and self._is_followed(name):
                held[name] = number
        if step is not None:
            held[TRAINER_STEP] = float(step)

    def is_holding(self, mode: str) -> bool:
        return mode in self._held

    def save(self, mode: str) -> None:
        """A step of this mode ends."""
        for name, number in self._held.pop(mode, {}).items():
            self._hook.save_scalar(name, number)

    def close(self) -> None:
        """What was logged after the last step of its mode belongs to the run as a whole."""
        if self._held:
            self._hook.set_mode("global")
            for mode in list(self._held):
                self.save(mode)

    def _is_followed(self, name: str) -> bool:
        if name not in self._names and len(self._names) < _MAX_NAMES:
            self._names.add(name)
            self._hook.declare(name, ["scalars", "logged"])
        return name in self._names


def number_of(value: Any) -> Optional[float]:
    """Of a number of Python or NumPy, or a tensor or an array with one element."""
    if type(value) in (int, float, bool):
        return float(value)
    if not (is_plain_tensor(value) or isinstance(value, (np.generic, np.ndarray, int, float))):
        return None
    item = value.item() if hasattr(value, "item") and np.prod(value.shape) == 1 else value
    return float(item) if isinstance(item, (int, float)) else None
