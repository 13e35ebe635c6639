"""StepRange: the part of a run that a trial is restricted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Union

from ..exceptions import SMDebugValueError

Bounds = Union[None, "tuple[Optional[int], Optional[int]]", "list[Optional[int]]"]


@dataclass(frozen=True)
class StepRange:
    """Global steps from `begin` up to `end`, which is not in it; None leaves a side open."""

    begin: int | None = None
    end: int | None = None

    @classmethod
    def of(cls, bounds: Bounds) -> StepRange:
        """Of range_steps; None is everything.

        Raises:
            SMDebugValueError: it is no pair of steps, or the first is not before the last.
        """
        if bounds is None:
            return cls()
        begin, end = bounds if len(bounds) == 2 else (-1, -1)
        if any(bound is not None and bound < 0 for bound in (begin, end)):
            raise SMDebugValueError(f"expected range_steps=(begin, end) with steps from 0 on, found {bounds}")
        if begin is not None and end is not None and begin >= end:
            raise SMDebugValueError(f"expected range_steps=(begin, end) with begin before end, found {bounds}")
        return cls(begin, end)

    @property
    def is_all(self) -> bool:
        return self.begin is None and self.end is None

    def __contains__(self, global_step: int) -> bool:
        after_begin = self.begin is None or global_step >= self.begin
        return after_begin and (self.end is None or global_step < self.end)
