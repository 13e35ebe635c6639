"""How a trial stands."""

from __future__ import annotations

import enum


class TrialState(str, enum.Enum):
    """A text, which it is equal to: TrialState.COMPLETE == "complete"."""

    WAITING = "waiting"
    RUNNING = "running"
    COMPLETE = "complete"
    PRUNED = "pruned"
    FAIL = "failed"

    __hash__ = str.__hash__
    __str__ = str.__str__

    def __format__(self, form: str) -> str:
        return format(self.value, form)

    def is_finished(self) -> bool:
        """Whether it has ended, however."""
        return self not in (TrialState.WAITING, TrialState.RUNNING)


class StudyDirection(str, enum.Enum):
    """What is better of an objective; equal to its text, "minimize" or "maximize"."""

    MINIMIZE = "minimize"
    MAXIMIZE = "maximize"

    __hash__ = str.__hash__
    __str__ = str.__str__

    def __format__(self, form: str) -> str:
        return format(self.value, form)
