"""Steps: when a training step ends, if one optimizer or several of them step. Knows nothing of torch."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

# An optimizer that has not stepped for so many steps is no longer waited for.
_PATIENCE = 3

_Optimizer = TypeVar("_Optimizer", bound=Hashable)


class Cycle(Generic[_Optimizer]):
    """A step ends when every optimizer in use has stepped, or before one of them steps a second time."""

    def __init__(self) -> None:
        self._missed: dict[_Optimizer, int] = {}  # for how many steps in a row, by optimizer
        self._stepped: set[_Optimizer] = set()

    def expect(self, optimizer: _Optimizer) -> None:
        """The optimizer exists, and will probably step."""
        self._missed.setdefault(optimizer, 0)

    def forget(self, optimizer: _Optimizer) -> None:
        self._missed.pop(optimizer, None)
        self._stepped.discard(optimizer)

    def is_in_use(self, optimizer: _Optimizer) -> bool:
        return self._missed.get(optimizer, _PATIENCE) < _PATIENCE

    def in_use(self) -> list[_Optimizer]:
        return [optimizer for optimizer in self._missed if self.is_in_use(optimizer)]

    def ends_before(self, optimizer: _Optimizer) -> bool:
        """The optimizer is about to step: must the step end first?"""
        return optimizer in self._stepped

    def ends_after(self, optimizer: _Optimizer) -> bool:
        """The optimizer has stepped: does the step end with that?"""
        self._missed[optimizer] = 0
        self._stepped.add(optimizer)
        return all(other in self._stepped for other in self._missed if self.is_in_use(other))

    def end(self) -> None:
        """The step has ended."""
        for optimizer in self._missed:
            self._missed[optimizer] = 0 if optimizer in self._stepped else self._missed[optimizer] + 1
        self._stepped.clear()

    def abandon(self) -> None:
        """The step has ended for another reason than the optimizers: nobody was late."""
        self._stepped.clear()
