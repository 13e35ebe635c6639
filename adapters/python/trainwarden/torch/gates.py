"""Gates: functions of ours in torch that are passed by, at the cost of a comparison in C, while nobody wants to look.

torch.compile looks at functions of Python only. When it begins, in a process that has need of it, the gates are removed:
from then on our functions stand in torch by themselves, and ask at each call.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, Callable, NamedTuple, Optional

import torch

from .._core import Gate


class _Place(NamedTuple):
    """Where a gate stands: an attribute of a class or a module, or an item of a dict."""

    owner: Any
    name: Any

    def put(self, value: Any) -> None:
        if isinstance(self.owner, dict):
            self.owner[self.name] = value
        else:
            setattr(self.owner, self.name, value)

    def has(self, value: Any) -> bool:
        """Nobody else has put something around it since."""
        items = self.owner if isinstance(self.owner, dict) else vars(self.owner)
        return items.get(self.name) is value


class Gates:
    """Those that are open and shut together. Once they are removed nothing of this has an effect."""

    def __init__(self) -> None:
        self._gates: list[Gate] = []
        self._places: list[tuple[_Place, Gate, Callable[..., Any]]] = []

    def put(
        self,
        owner: Any,
        name: Any,
        torch_function: Optional[Callable[..., Any]],
        ours: Callable[..., Any],
        behind: Optional[Gate] = None,
    ) -> Gate:
        """Puts a gate around `ours`, open, in the place of torch's function, which `ours` calls; of a hook None."""
        gate = Gate(torch_function, ours, behind)
        functools.update_wrapper(gate, torch_function or ours)
        place = _Place(owner, name)
        place.put(gate)
        self._gates.append(gate)
        self._places.append((place, gate, ours))
        if are_removed():
            self.remove()
        return gate

    def remove(self) -> None:
        """Ours stand where gates stood. Who has kept a gate gets to ours through it."""
        for place, gate, ours in self._places:
            gate.look_at(None)
            if place.has(gate):
                place.put(ours)
        self._gates.clear()
        self._places.clear()

    def look_at(self, ids: Optional[Iterable[int]]) -> None:
        """Calls are ours whose first argument, the `self` of a method, has one of these ids; None: all are."""
        for gate in self._gates:
            gate.look_at(ids)

    def note_in_training(self, ids: Iterable[int]) -> None:
        """Calls of these modules in training mode, with gradients, are not ours; that there was one is noted."""
        for gate in self._gates:
            gate.note_in_training(ids, torch.is_grad_enabled)

    def take_noted(self) -> bool:
        """Was there one since this was asked, or a step was counted?"""
        noted = [gate.take_noted() for gate in self._gates]
        return any(noted)

    def count(
        self, key: int, thread: int, end: Optional[Callable[[], bool]], late: Optional[Callable[[Any], None]]
    ) -> None:
        """In this thread a call with the object of this id alone is not ours. When it has returned end() is called;
        what the gates of `calls` have noted is forgotten then, or late(object) is called when that gave False."""
        for gate in self._gates:
            gate.count(key, thread, end, late, calls._gates[0])


calls = Gates()  # of modules
losses = Gates()  # loss modules and backward()
signals = Gates()
begins = Gates()  # of steps of optimizers, where torch has hooks for them
steps = Gates()  # of optimizers, or their ends
_are_removed = False


def are_removed() -> bool:
    return _are_removed


def remove() -> None:
    global _are_removed
    _are_removed = True
    for gates in (calls, losses, signals, begins, steps):
        gates.remove()
