"""Collecting: what a step computes inside, picked up while the step is traced and handed out of it.

A Collector belongs to one trace. What is computed inside another one, the body of a loop or the branch of a condition,
cannot leave that, and is left out.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Optional

from .names import ModelNames

# Parts of what can be collected besides losses, which cost nothing.
GRADIENTS = "gradients"
ACTIVATIONS = "activations"
EVERYTHING = frozenset({GRADIENTS, ACTIVATIONS})

_inside = threading.local()
_loops: Any = None  # Loops, where the backend has them


@dataclass
class Collector:
    """What is picked up of one call of a step."""

    model: Any
    names: ModelNames
    parts: frozenset[str]
    backend: Any
    replicas: int = 1
    found: dict[str, Any] = field(default_factory=dict)
    collections: dict[str, tuple[str, ...]] = field(default_factory=dict)
    left_out: int = 0
    updated: list[tuple[Any, list[Any]]] = field(default_factory=list)  # optimizers, and what each has updated
    updated_inside: list[tuple[Any, list[Any]]] = field(default_factory=list)  # in traces within this one
    rings: Any = None  # keep what is found there; None: nothing is
    draws: bool = False  # random numbers of a stream that the compiled function keeps
    computes_loss: bool = False  # by a method of its own, which says what the loss is
    depth_of_updates: int = 0  # calls of optimizers within each other
    depth_of_losses: int = 0
    losses: int = 0
    spare_loss: Any = None  # is the loss where nothing else says what it is
    calls: dict[int, int] = field(default_factory=dict)  # of each layer, in this step

    def __post_init__(self) -> None:
        self._trace = self.backend.trace()

    def start_anew(self) -> None:
        """In another trace: what was found in an earlier one cannot leave this one."""
        self._trace = self.backend.trace()
        self.found.clear()
        self.losses = 0

    def is_here(self) -> bool:
        """Does the code that runs now belong to the trace of this collector?"""
        return bool(self.backend.is_in(self._trace))

    def takes_losses(self) -> bool:
        return self.rings is not None or self.is_here()

    def add(self, name: str, value: Any, *collections: str) -> None:
        """The first value of a name is kept."""
        value = self.backend.as_tensor(value)
        if value is None or name in self.found:
            return
        if not self.backend.can_leave(value, self._trace):
            self.left_out += 1
            return
        self.found[name] = value
        self.collections[name] = collections

    def add_loss(self, value: Any) -> None:
        """The loss of the batch; a step that has several numbers the further ones."""
        if self.rings is not None and not self.is_here():
            self.rings.add_loss(value)
            return
        name = "loss" if self.losses == 0 else f"loss#{self.losses}"
        before = len(self.found)
        self.add(self.names.of_loss(name), value, "losses")
        self.losses += len(self.found) - before

    def settle_loss(self) -> None:
        if self.losses == 0 and self.spare_loss is not None:
            self.add_loss(self.spare_loss)

    def inner(self) -> Collector:
        """For a trace inside this one, from which `merge` gets what was found there."""
        return Collector(self.model, self.names, self.parts, self.backend, self.replicas, calls=self.calls)

    def merge(self, inner: Collector, found: Mapping[str, Any]) -> None:
        for name, value in found.items():
            self.add(name, value, *inner.collections[name])
        self.losses += inner.losses
        self.computes_loss = self.computes_loss or inner.computes_loss
        self.left_out += inner.left_out


def current() -> Optional[Collector]:
    """The collector of the step that is traced now in this thread."""
    return getattr(_inside, "collector", None)


@contextmanager
def collecting(collector: Collector) -> Iterator[Collector]:
    before = current()
    _inside.collector = collector
    try:
        yield collector
    finally:
        _inside.collector = before


def follow_loops(loops: Any) -> None:
    """Loops of one's own are told to this one from now on; None: to nobody."""
    global _loops
    _loops = loops


def loops_here() -> Any:
    """Who is to be told of what runs now; None: it is no loop of one's own, or nobody."""
    return _loops if _loops is not None and _loops.follows() else None


def expect_updates(optimizer: Any) -> None:
    """It was made."""
    if _loops is not None:
        _loops.expect(optimizer)
