"""Memory readings: what the process has of memory, over its steps. Read also in steps that are only counted, as each costs
some microseconds: a leak shows in many of them, and looks are few."""

from __future__ import annotations

import time
from typing import Callable, Optional

from ..memory_use import MemoryUse
from .numbers import Numbers

# Read not more often than so, and then at distances that grow with the training.
_MIN_SECONDS = 0.05
_GROWTH = 1 / 50
# So many wait to be written at most; then each second one is dropped.
_MAX_WAITING = 64


class MemoryReadings:
    """Of one process, until they are written. Knows nothing of where the system does not say."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._use = MemoryUse()
        self._began = self._last = clock()
        self._waiting: list[tuple[int, int]] = []  # train step, bytes

    def read(self, step: int) -> None:
        """In this train step, if it is time to."""
        now = self._clock()
        if now - self._last < max(_MIN_SECONDS, _GROWTH * (now - self._began)):
            return
        self._last = now
        resident = self._use.resident_bytes()
        if resident is not None:
            self._waiting.append((step, resident))
        if len(self._waiting) > _MAX_WAITING:
            del self._waiting[1::2]

    def add(self, numbers: Numbers) -> None:
        """Those that wait, and what it is now."""
        resident: Optional[int] = self._use.resident_bytes()
        numbers.add("memory", float(resident or 0))
        if self._waiting:
            numbers.add("memory_steps", [float(step) for step, _ in self._waiting])
            numbers.add("memories", [float(each) for _, each in self._waiting])
            self._waiting = []
