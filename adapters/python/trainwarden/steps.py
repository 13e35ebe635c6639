"""Steps: when a training step ends, if one optimizer or several of them step. Knows no framework."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, Optional, TypeVar

# An optimizer that has not stepped for so many steps more than usual is no longer waited for.
_PATIENCE = 3
# The same for one that has not stepped yet, where waiting for it does no harm: steps end when a batch is drawn.
_LONG_PATIENCE = 16

_Optimizer = TypeVar("_Optimizer", bound=Hashable)


class _Rhythm:
    """How often one optimizer steps."""

    def __init__(self) -> None:
        self.missed = 0  # steps in a row that ended without it
        self.every: Optional[int] = None  # it stepped in the last of so many steps; None: not yet

    def is_in_use(self, are_batches_seen: bool) -> bool:
        if self.every is None:
            return self.missed < (_LONG_PATIENCE if are_batches_seen else _PATIENCE)
        return self.missed < _PATIENCE + self.every - 1

    def is_due(self, are_batches_seen: bool) -> bool:
        """Will it probably step before the open step ends?"""
        return self.is_in_use(are_batches_seen) and (self.every is None or self.missed + 1 >= self.every)


class Cycle(Generic[_Optimizer]):
    """A step ends when every optimizer that is due has stepped, or before one of them steps a second time, or before a
    new batch is drawn.

    An optimizer that steps in every fifth step, as the generator of some GANs, is due in every fifth.
    """

    def __init__(self) -> None:
        self._rhythms: dict[_Optimizer, _Rhythm] = {}
        self._stepped: dict[_Optimizer, None] = {}  # in the step that is open, in their order
        self._order: tuple[_Optimizer, ...] = ()  # those that stepped in the last one
        self._leader: Optional[_Optimizer] = None  # the one that steps begin with
        self._are_batches_seen = False

    def expect(self, optimizer: _Optimizer) -> None:
        """The optimizer exists, and will probably step."""
        self._rhythms.setdefault(optimizer, _Rhythm())

    def forget(self, optimizer: _Optimizer) -> None:
        self._rhythms.pop(optimizer, None)
        self._stepped.pop(optimizer, None)
        self._leader = None if self._leader == optimizer else self._leader

    def is_in_use(self, optimizer: _Optimizer) -> bool:
        return optimizer in self._rhythms and self._rhythms[optimizer].is_in_use(self._are_batches_seen)

    def in_use(self) -> list[_Optimizer]:
        return [optimizer for optimizer in self._rhythms if self.is_in_use(optimizer)]

    def order(self) -> tuple[_Optimizer, ...]:
        """The optimizers in use in the order in which they step, where each does so in every step; else none."""
        in_use = self.in_use()
        if len(in_use) == 1:
            return tuple(in_use)
        is_steady = set(in_use) == set(self._order) and all(self._rhythms[each].every == 1 for each in in_use)
        return self._order if is_steady else ()

    def has_begun(self) -> bool:
        """Has any optimizer stepped?"""
        return any(rhythm.every is not None for rhythm in self._rhythms.values())

    def has_several(self) -> bool:
        return len(self._rhythms) > 1

    def ends_before(self, optimizer: _Optimizer) -> bool:
        """The optimizer is about to step: must the step end first?"""
        return optimizer in self._stepped

    def ends_before_batch(self) -> bool:
        """A batch to train on is about to be drawn: must the step end first?"""
        self._are_batches_seen = True
        return bool(self._stepped)

    def ends_after(self, optimizer: _Optimizer) -> bool:
        """The optimizer has stepped: does the step end with that?"""
        self.expect(optimizer)
        rhythm = self._rhythms[optimizer]
        is_late = not self._stepped and self._leader != optimizer and self._is_led()
        if not self._stepped and not is_late:
            self._leader = optimizer
        # One that is late belongs to the step that has just ended.
        rhythm.every = max(1, rhythm.missed if is_late else rhythm.missed + 1)
        rhythm.missed = 0
        self._stepped[optimizer] = None
        others = (rhythm for other, rhythm in self._rhythms.items() if other not in self._stepped)
        return is_late or not any(other.is_due(self._are_batches_seen) for other in others)

    def _is_led(self) -> bool:
        return self._leader is not None and self.is_in_use(self._leader)

    def end(self) -> None:
        """The step has ended."""
        is_led = self._leader is None or self._leader in self._stepped
        for optimizer, rhythm in self._rhythms.items():
            if optimizer not in self._stepped and (is_led or optimizer == self._leader):
                rhythm.missed += 1
        self._order = tuple(self._stepped)
        self._stepped.clear()

    def abandon(self) -> None:
        """The step has ended for another reason than the optimizers: nobody was late."""
        self._stepped.clear()
