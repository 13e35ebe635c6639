"""Rhythm: after which train steps evaluations come. The steps around the next one are worth a look: what a program does to its
weights between two steps it mostly does there. Knows nothing of torch."""

from __future__ import annotations

# So many evaluations are waited for, which bounds what their looks cost.
_MAX_WAITED = 16


class Rhythm:
    """Of one training. Steps are counted from 0."""

    def __init__(self, first_step: int = 0) -> None:
        self.last = first_step - 1  # after which an evaluation has come
        self.is_waiting = False  # is a next one expected?
        self._next = -2  # after which one is expected
        self._waited = 0

    def evaluation_follows(self, step: int) -> None:
        """An evaluation comes after this step. The next one is expected at the same distance."""
        distance = step - self.last
        if distance <= 0:
            return
        self.last = step
        self._waited += 1
        self.is_waiting = distance > 1 and self._waited <= _MAX_WAITED
        self._next = step + distance if self.is_waiting else -2

    def is_around(self, step: int) -> bool:
        """Is it the step before the next evaluation, or the one after it?"""
        return step == self._next or step == self._next + 1
