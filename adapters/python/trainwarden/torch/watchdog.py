"""Watchdog: when what is done for the run takes more of a live training than it may, it is given up, part by part.

The budget and the allowance of the examination plan what is looked at; this is for a program of a shape that nobody has
planned for. Knows nothing of torch.
"""

from __future__ import annotations

import time
from enum import Enum
from typing import Callable, Optional

# A window of the training's time is judged when it is so long; what the first one may take besides is for the start.
_WINDOW_SECONDS = 20.0
_START_SECONDS = 1.0
# The share of a window that our work may take, or so many times the budget that the user has asked for.
_MAX_SHARE, _TIMES_BUDGET = 0.05, 3.0
# One examined step may leave this much behind in the memory of the process.
_MAX_GROWN_BYTES = 256 << 20


class Part(Enum):
    """In the order in which they are given up."""

    EXAMINATION = "the training is examined no more"
    SIGNALS = "signals are captured no more"
    CAPTURE = "nothing more is captured of this process"


class Watchdog:
    """Of one training. `spent_ns` gives what our work has taken of the training thread until now, in nanoseconds."""

    def __init__(
        self, spent_ns: Callable[[], int], budget: float, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        """`budget`: the share that the user grants; 0: capture has no limit, and only the examination is given up."""
        self._spent_ns, self._clock = spent_ns, clock
        self._parts = list(Part) if budget > 0.0 else [Part.EXAMINATION]
        self._limit = max(_MAX_SHARE, _TIMES_BUDGET * budget)
        self._allowed = _START_SECONDS
        self._began, self._spent = clock(), spent_ns()

    def step_ended(self) -> Optional[tuple[Part, str]]:
        """What is to be given up now, and why; nothing as a rule. Costs a reading of the clock."""
        passed = self._clock() - self._began
        if passed < _WINDOW_SECONDS:
            return None
        spent = (self._spent_ns() - self._spent) * 1e-9 - self._allowed
        self._began, self._spent, self._allowed = self._clock(), self._spent_ns(), 0.0
        if spent <= self._limit * passed or not self._parts:
            return None
        share = f"{100 * spent / passed:.1f} % of the last {passed:.0f} s of training, more than {100 * self._limit:.0f} %"
        return self._parts.pop(0), f"watching took {share}"

    def looked(self, grown_bytes: int) -> Optional[tuple[Part, str]]:
        """A step was examined, which has left so much in the memory of the process. The same."""
        if grown_bytes <= _MAX_GROWN_BYTES or Part.EXAMINATION not in self._parts:
            return None
        self._parts.remove(Part.EXAMINATION)
        return Part.EXAMINATION, f"an examined step left {grown_bytes >> 20} MiB behind, more than {_MAX_GROWN_BYTES >> 20}"
