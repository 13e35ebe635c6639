"""Gates: functions of ours in torch that are passed by, at the cost of a comparison in C, while nobody wants to look.

torch.compile, which torch has since 2.0, looks at functions of Python only: there our functions stand in torch without
a gate, and ask at each call.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, Callable, Optional

import torch

from .._core import Gate

_HAS_GATES = not hasattr(torch, "compile")


class Gates:
    """Those that are open and shut together. Without gates nothing of this has an effect."""

    def __init__(self) -> None:
        self._gates: list[Gate] = []

    def put(self, torch_function: Callable[..., Any], ours: Callable[..., Any]) -> Any:
        """What is to stand in the place of torch's function: `ours`, which calls it, or a gate around it, open."""
        if not _HAS_GATES:
            return ours
        gate = Gate(torch_function, ours)
        functools.update_wrapper(gate, torch_function)
        self._gates.append(gate)
        return gate

    def look_at(self, ids: Optional[Iterable[int]]) -> None:
        """Calls are ours whose first argument, the `self` of a method, has one of these ids; None: all are."""
        for gate in self._gates:
            gate.look_at(ids)

    def note_in_training(self, ids: Iterable[int]) -> None:
        """Calls of these modules in training mode are not ours; that there was one is noted."""
        for gate in self._gates:
            gate.note_in_training(ids)

    def take_noted(self) -> bool:
        """Was there one since this was asked, or a step was counted?"""
        noted = [gate.take_noted() for gate in self._gates]
        return any(noted)

    def count(self, key: int, thread: int, end: Optional[Callable[[], bool]], late: Callable[[Any], None]) -> None:
        """In this thread a call with the object of this id alone is not ours. When it has returned end() is called;
        what the gates of `calls` have noted is forgotten then, or late(object) is called when that gave False."""
        for gate in self._gates:
            gate.count(key, thread, end, late, calls._gates[0])


calls = Gates()  # of modules
losses = Gates()  # loss modules and backward()
signals = Gates()
steps = Gates()  # of optimizers
